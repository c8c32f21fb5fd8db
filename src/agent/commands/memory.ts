import { randomUUIDv7 } from "node:crypto";
import type { MemoryChange, MemoryLineage, MemoryOp, MemoryOwner } from "../../db/commit/memory-change.ts";
import { MEMORY } from "../../db/commit/memory-change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { MemoryAction, MemoryEvent } from "../../events/memory-event.ts";
import { newWrite } from "../../events/write.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { actorRef, readsTenant, type Actor, type CommandRefusal, type Outcome } from "../actors/actor.ts";
import { answerOf, claimKey, keyedWrite, onceByKey, type KeyedRequest } from "../actors/idempotency.ts";
import { deletedEntry, listMemory, memoryOwner } from "../calls/memory/memory-rows.ts";
import type { AgentServices } from "../loop/scope.ts";
import { pathProblem, sizeOf } from "../tools/memory/memory-limits.ts";
import { readMemoryPath, ROOT } from "../tools/memory/memory-path.ts";
import { memoryText } from "../tools/memory/memory-text.ts";

export type WriteMemory = {
  readonly templateId: string;
  /** The actor whose memory it is; null for the writer's own. */
  readonly requesterId: string | null;
  readonly path: string;
  readonly text: string;
  /** The version that the writer has seen; 0 for a new entry. */
  readonly expectedVersion: number;
  readonly idempotencyKey: string | null;
};

type Services = Pick<AgentServices, "sql" | "log" | "clock" | "templates">;

/** True if the actor may read the memory of a requester; "" for that of all agents of a template. */
export function mayReadMemory(actor: Actor, requester: string): boolean {
  return readsTenant(actor) || isOwn(actor, requester);
}

function mayEditMemory(actor: Actor, requester: string): boolean {
  return actor.roles.includes("admin") || isOwn(actor, requester);
}

function isOwn({ id, roles }: Actor, requester: string): boolean {
  return requester !== "" && requester === id && roles.includes("user");
}

const NOT_YOURS = "changing the memory of others, or that of all agents of a template, needs the role admin";

/** The tries of a change that others were faster than. */
const TRIES = 10;

/** Writes an entry in a person's name: a new one, or the whole text of one that has the expected version. */
export async function writeMemory(
  services: Services,
  actor: Actor,
  { idempotencyKey: key, ...request }: WriteMemory,
): Promise<Result<Outcome, CommandRefusal>> {
  const template = services.templates.get(request.templateId);
  if (template === undefined)
    return refused({ code: "NOT_FOUND", field: ["templateId"], message: "there is no such template: `templates` lists them" });
  const owner = memoryOwner(template, { createdBy: request.requesterId ?? actor.id });
  if (owner === null)
    return refused({ code: "INVALID", field: ["templateId"], message: "the agents of the template have no memory" });
  if (!mayEditMemory(actor, owner.requester)) return refused({ code: "FORBIDDEN", field: ["requesterId"], message: NOT_YOURS });
  const path = readMemoryPath(request.path);
  if (!path.ok || path.value === ROOT)
    return refused({ code: "INVALID", field: ["path"], message: path.ok ? `${ROOT} is a folder` : path.refusal });
  const keyed = { actor, operation: "writeMemory", key, body: request };
  return onceByKey(services.sql, keyed, () => tryToWrite(services, owner, { ...request, path: path.value }, keyed));
}

async function tryToWrite(
  services: Services,
  owner: MemoryOwner,
  { path, text: given, expectedVersion: expected }: Omit<WriteMemory, "idempotencyKey">,
  keyed: KeyedRequest,
): Promise<Result<Outcome, CommandRefusal> | "KEY_USED"> {
  const { actor } = keyed;
  const text = memoryText(given);
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const entries = await listMemory(services.sql, actor.tenant, owner);
    const before = entries.find((entry) => entry.path === path);
    if ((before?.version ?? 0) !== expected) return refused(changedSince(before?.version ?? 0));
    const taken = before === undefined ? pathProblem(entries, path) : null;
    if (taken !== null) return refused({ code: "INVALID", field: ["path"], message: taken });
    const size = sizeOf(entries, path, text);
    if (!size.ok) return refused({ code: "TOO_LARGE", field: ["text"], message: size.refusal });
    const deleted = before === undefined ? await deletedEntry(services.sql, actor.tenant, owner, path) : null;
    const id = before?.id ?? deleted?.id ?? randomUUIDv7();
    const version = 1 + (before?.version ?? deleted?.version ?? 0);
    const at = services.clock.now();
    const entry = { id, bytes: size.value, lineage: "PERSON" } as const;
    const change = changeOf(
      owner,
      actor,
      at,
      [{ kind: "PUT", path, expected, text, ...entry }],
      before === undefined ? [path] : [],
    );
    const action = before === undefined ? "CREATED" : "CHANGED";
    const event = eventOf(owner, actor, action, { ...entry, path, version });
    const outcome = await services.log.commitTenant(
      actor.tenant,
      [{ at, body: event }],
      { ...claimKey(keyed, id, at), memory: change },
      before === undefined && deleted === null ? newWrite(id) : keyedWrite(keyed, at),
    );
    const answer = answerOf(id, outcome, () => null);
    if (answer !== null) return answer;
  }
  return refused({ code: "CONFLICT", field: null, message: "others change this memory at the same time: try again" });
}

function changedSince(version: number): CommandRefusal {
  const message =
    version === 0
      ? "there is no such entry any more: read the memory again, and write a new one with 0"
      : `the entry has version ${version} by now: read it again, and write with that version`;
  return { code: "CONFLICT", field: ["expectedVersion"], message };
}

type FoundEntry = MemoryOwner & {
  readonly id: string;
  readonly path: string;
  readonly version: number;
  readonly lineage: MemoryLineage;
  readonly isDeleted: boolean;
  readonly isErased: boolean;
};

const FIND: Statement<FoundEntry, [id: string, tenant: string]> = {
  name: "find_memory_entry",
  text: `SELECT id, template_id AS "templateId", requester, path, version, lineage, deleted_at IS NOT NULL AS "isDeleted", erased_at IS NOT NULL AS "isErased"
    FROM memory_entry WHERE id = $1 AND tenant = $2`,
};

/** Deletes an entry. Its former versions are kept for a time. Deleting it again changes no row. */
export async function deleteMemory(
  services: Services,
  actor: Actor,
  id: string,
  expectedVersion: number | null,
): Promise<Result<Outcome, CommandRefusal>> {
  return changeEntry(services, actor, id, (found) => {
    if (found.isDeleted) return accepted(null);
    if (expectedVersion !== null && expectedVersion !== found.version) return refused(changedSince(found.version));
    return accepted({ action: "DELETED", op: { kind: "DELETE", id, path: found.path, expected: found.version } });
  });
}

/** Takes the texts of an entry and of all its former versions away. The entry is deleted. Erasing it again changes no row. */
export async function eraseMemory(services: Services, actor: Actor, id: string): Promise<Result<Outcome, CommandRefusal>> {
  return changeEntry(services, actor, id, ({ isErased, path }) =>
    accepted(isErased ? null : { action: "ERASED", op: { kind: "ERASE", id, path } }),
  );
}

/** The change of an entry; null if it is so already. */
type Wanted = { readonly action: MemoryAction; readonly op: MemoryOp } | null;

async function changeEntry(
  services: Services,
  actor: Actor,
  id: string,
  want: (found: FoundEntry) => Result<Wanted, CommandRefusal>,
): Promise<Result<Outcome, CommandRefusal>> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const found = await findEntry(services.sql, actor, id);
    if (!found.ok) return found;
    const wanted = want(found.value);
    if (!wanted.ok) return wanted;
    if (wanted.value === null) return accepted({ id, position: null });
    const { action, op } = wanted.value;
    const at = services.clock.now();
    const event = eventOf(found.value, actor, action, { ...found.value, bytes: 0, version: found.value.version + 1 });
    const memory = changeOf(found.value, actor, at, [op], []);
    const outcome = await services.log.commitTenant(actor.tenant, [{ at, body: event }], { memory });
    if (outcome.outcome === "COMMITTED") return accepted({ id, position: outcome.position });
  }
  return refused({ code: "CONFLICT", field: null, message: "others change this memory at the same time: try again" });
}

async function findEntry(sql: Sql, actor: Actor, id: string): Promise<Result<FoundEntry, CommandRefusal>> {
  const [found] = await sql.query(FIND, [id, actor.tenant]);
  if (found === undefined || !mayReadMemory(actor, found.requester))
    return refused({ code: "NOT_FOUND", field: ["entryId"], message: "there is no such entry: list them with `memory`" });
  if (!mayEditMemory(actor, found.requester)) return refused({ code: "FORBIDDEN", field: ["entryId"], message: NOT_YOURS });
  return accepted(found);
}

function changeOf(
  { templateId, requester }: MemoryOwner,
  actor: Actor,
  at: Date,
  ops: MemoryChange["ops"],
  claims: MemoryChange["claims"],
): MemoryChange {
  const by = { writtenBy: actor.id, writtenByKind: actor.kind, callId: null, agentId: null };
  return { templateId, requester, at: at.toISOString(), ...by, ops, claims, limits: MEMORY, answer: null };
}

type ChangedEntry = Pick<FoundEntry, "id" | "path" | "lineage"> & { readonly bytes: number; readonly version: number };

function eventOf(owner: MemoryOwner, actor: Actor, action: MemoryAction, entry: ChangedEntry): MemoryEvent {
  return {
    kind: "MEMORY_CHANGED",
    templateId: owner.templateId,
    requesterId: owner.requester === "" ? null : owner.requester,
    memoryAction: action,
    path: entry.path,
    newPath: null,
    entryCount: 1,
    entryId: entry.id,
    version: entry.version,
    bytes: entry.bytes,
    lineage: entry.lineage,
    callId: null,
    changedBy: actorRef(actor),
  };
}
