import { randomUUID } from "node:crypto";
import { agentRow } from "../../src/agent/calls/agent-row.ts";
import type { Scope } from "../../src/events/cursor.ts";
import { CHANNELS, type BodyOf, type EventDraft, type EventKind, type TimelineEvent } from "../../src/events/event.ts";
import type { EventLog } from "../../src/events/log.ts";

/** An agent that exists as a row only. */
export type RowAgent = { readonly agentId: string; readonly createdBy: string };

/** The whole log of a tenant. */
export function everything(tenant: string): Scope {
  return { tenant, agentIds: null, withDescendants: false, createdBy: null, channels: CHANNELS, kinds: null };
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
    { agentId, createdBy, events: [] },
    {
      createAgent: agentRow({
        id: agentId,
        actor: { id: createdBy, kind: "USER", tenant },
        templateId: "assistant",
        model: "test",
        workspace: "/tmp",
        toolTimeoutMs: null,
        permission: null,
        title: null,
        spawned: null,
        hooks: [],
        at: new Date(),
      }),
    },
  );
  return { agentId, createdBy };
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

/** The bodies of the events of one kind, in order. */
export function bodies<Kind extends EventKind>(events: readonly TimelineEvent[], kind: Kind): BodyOf<Kind>[] {
  return events.flatMap(({ body }) => (body.kind === kind ? [body as BodyOf<Kind>] : []));
}
