import type { OutsideChange } from "../../db/commit/change.ts";
import type { EventDraft } from "../../events/event.ts";
import type { Json } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { byteLength, storable } from "../../lib/text.ts";
import { actorRef, type Actor, type CommandRefusal } from "../actors/actor.ts";
import type { OwnPermission } from "../policy/own-permission.ts";

export type NewAgent = {
  readonly id: string;
  readonly actor: Pick<Actor, "id" | "kind" | "tenant">;
  readonly templateId: string;
  readonly model: string;
  readonly workspace: string;
  readonly toolTimeoutMs: number | null;
  readonly permission: OwnPermission | null;
  readonly hooks: readonly string[];
  readonly title: string | null;
  /** Its place in a tree; null for the first of one. */
  readonly spawned: Spawned | null;
  readonly at: Date;
};

/** The parent that starts an agent, and the call by which it does. `depth` is the agent's own. */
export type Spawned = {
  readonly parentId: string;
  readonly callId: string;
  readonly rootId: string;
  readonly depth: number;
  /** All agents above, the first of the tree first. */
  readonly ancestors: readonly string[];
};

/** A permission of more bytes is not in the event: the agent has it. */
const EVENT_PERMISSION_BYTES = 16_384;

/** The event of a new agent, with the facts that decide its rights. */
export function createdEvent(agent: NewAgent, forkedFrom: string | null): EventDraft {
  const { templateId, model, workspace, hooks, actor, at } = agent;
  const permission = byteLength(JSON.stringify(agent.permission)) > EVENT_PERMISSION_BYTES ? null : (agent.permission as Json);
  const createdBy = actorRef(actor);
  return { at, body: { kind: "AGENT_CREATED", templateId, model, createdBy, forkedFrom, workspace, hooks, permission } };
}

export function agentRow({
  id,
  actor,
  templateId,
  model,
  workspace,
  toolTimeoutMs,
  permission,
  hooks,
  title,
  spawned,
  at,
}: NewAgent): NonNullable<OutsideChange["createAgent"]> {
  return {
    id,
    tenant: actor.tenant,
    title,
    templateId,
    templateVersion: null,
    model,
    workspace,
    toolTimeoutMs,
    permission: permission === null ? null : storedPermission(permission),
    hooks: hooks.length === 0 ? null : [...hooks],
    state: "READY",
    breakpoint: "READY",
    turn: 0,
    stepCount: 0,
    arrivals: 0,
    transcriptLength: 0,
    lastSfpIndex: -1,
    seq: 0,
    needs: 0,
    signal: 0,
    interruptAt: null,
    interruptNote: null,
    createdBy: actor.id,
    createdByKind: actor.kind,
    parentId: spawned?.parentId ?? null,
    parentCallId: spawned?.callId ?? null,
    depth: spawned?.depth ?? 0,
    rootId: spawned?.rootId ?? null,
    ancestors: [...(spawned?.ancestors ?? [])],
    lineage: null,
    forkedAt: null,
    leaseOwner: null,
    leaseEpoch: 0,
    leaseUntil: null,
    runnableAt: null,
    createdAt: at,
    lastActivityAt: at,
    archivedAt: null,
    retryTurn: null,
    doneReason: null,
  };
}

function storedPermission(permission: OwnPermission): Json {
  return JSON.parse(JSON.stringify(permission)) as Json;
}

/** The longest title of an agent, in characters. */
const TITLE_CHARACTERS = 200;

/** The title as it is stored: one trimmed line; null for none. */
export function readTitle(given: string | null): Result<string | null, CommandRefusal> {
  const title = given === null ? "" : storable(given).trim();
  if (title === "") return accepted(null);
  if (title.length <= TITLE_CHARACTERS && !/[\n\r]/.test(title)) return accepted(title);
  return refused({ code: "INVALID", field: ["title"], message: `a title is one line of at most ${TITLE_CHARACTERS} characters` });
}
