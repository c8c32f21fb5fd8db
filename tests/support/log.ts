import { randomUUID } from "node:crypto";
import type { Change } from "../../src/db/change.ts";
import { CHANNELS } from "../../src/events/channel.ts";
import type { EventDraft, TimelineEvent } from "../../src/events/event.ts";
import type { EventLog } from "../../src/events/log.ts";
import type { Scope } from "../../src/events/scope.ts";

/** An agent that exists as a row only. */
export type RowAgent = { readonly agentId: string; readonly createdBy: string };

/** The whole log of a tenant. */
export function everything(tenant: string): Scope {
  return { tenant, agentId: null, createdBy: null, channels: CHANNELS, kinds: null };
}

/** A text delta that says `delta`. */
export function chunk(delta: string): EventDraft {
  return { at: new Date(), body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta } };
}

/** Creates the row of an agent, without events. */
export async function insertAgent(log: EventLog, tenant: string, createdBy = "anna"): Promise<RowAgent> {
  const agentId = randomUUID();
  await log.begin(tenant);
  await log.commit(
    tenant,
    { agentId, createdBy, epoch: null, events: [] },
    { createAgent: agentRow(agentId, tenant, createdBy) },
  );
  return { agentId, createdBy };
}

/** The row of an idle agent. */
export function agentRow(id: string, tenant: string, createdBy: string): NonNullable<Change["createAgent"]> {
  return {
    id,
    tenant,
    templateId: "assistant",
    model: "test",
    workspace: "/tmp",
    toolTimeoutMs: null,
    state: "READY",
    breakpoint: "READY",
    turn: 0,
    stepCount: 0,
    arrivals: 0,
    transcriptLength: 0,
    lastSfpIndex: -1,
    seq: 0,
    signal: 0,
    interruptAt: null,
    interruptNote: null,
    createdBy,
    createdByKind: "USER",
    leaseOwner: null,
    leaseEpoch: 0,
    leaseUntil: null,
    runnableAt: null,
    createdAt: new Date(),
  };
}

/** Every event of the log, read in pages. */
export async function readAll(log: EventLog, scope: Scope): Promise<TimelineEvent[]> {
  const events: TimelineEvent[] = [];
  for (let after = 0; ;) {
    const page = await log.read(scope, after);
    events.push(...page.events);
    if (page.covered === page.head.position) return events;
    after = page.covered;
  }
}

/** The deltas of the events, in order. */
export function deltas(events: readonly TimelineEvent[]): string[] {
  return events.flatMap(({ body }) => (body.kind === "TEXT_CHUNK" ? [body.delta] : []));
}
