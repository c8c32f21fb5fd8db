import { createHash } from "node:crypto";
import { accepted, refused, type Result } from "../lib/result.ts";
import type { Channel, EventKind, TimelineEvent } from "./event.ts";

export type LogIdentity = { readonly logId: string; readonly epoch: string };

/**
 * A tenant's log: its identity, last position, and floor. Copies of events up to `erased` may
 * have erased contents.
 */
export type LogHead = LogIdentity & {
  readonly tenant: string;
  readonly position: number;
  readonly floor: number;
  readonly erased: number;
};

export type CursorRefusal = {
  readonly code: "CURSOR_MALFORMED" | "CURSOR_FOREIGN" | "CURSOR_RESTORED" | "CURSOR_FUTURE" | "CURSOR_EXPIRED";
  readonly message: string;
};

const EARLIEST = "0";

export type ParsedCursor =
  | { readonly kind: "earliest" }
  | { readonly kind: "position"; readonly logDigest: string; readonly epoch: string; readonly position: number };

const FORM = /^1\.([0-9a-f]{8})\.([0-9a-f]{8})\.([0-9a-f]{14})$/;

/**
 * The opaque form of a position: version, digest of the log's id, log epoch and position. Cursors of one log sort by
 * position.
 */
export function formatCursor(head: LogIdentity, position: number): string {
  return `1.${digestOf(head.logId)}.${head.epoch}.${position.toString(16).padStart(14, "0")}`;
}

export function parseCursor(text: string): Result<ParsedCursor, CursorRefusal> {
  if (text === EARLIEST) return accepted({ kind: "earliest" });
  const [, logDigest, epoch, position] = FORM.exec(text) ?? [];
  if (logDigest === undefined || epoch === undefined || position === undefined || !Number.isSafeInteger(parseInt(position, 16))) {
    return refused({
      code: "CURSOR_MALFORMED",
      message: 'this is not a cursor: pass a cursor that the server gave, or "0" for the earliest event kept',
    });
  }
  return accepted({ kind: "position", logDigest, epoch, position: parseInt(position, 16) });
}

export class CursorExpired extends Error {
  override readonly name = "CursorExpired";
}

/** An agent of the scope was deleted: its stream ends. */
export class AgentDeleted extends Error {
  override readonly name = "AgentDeleted";
}

export const EXPIRED: CursorRefusal = {
  code: "CURSOR_EXPIRED",
  message:
    'events after this cursor were removed by the retention policy: query the present state, or pass "0" for the earliest event kept',
};

/** The position after which to read. Cursors of other logs are rejected. */
export function resolveCursor(cursor: ParsedCursor, head: LogHead): Result<number, CursorRefusal> {
  if (cursor.kind === "earliest") return accepted(head.floor);
  if (cursor.logDigest !== digestOf(head.logId))
    return refused({
      code: "CURSOR_FOREIGN",
      message: "this cursor belongs to another tenant's log: query again and continue from the cursor you get",
    });
  if (cursor.epoch !== head.epoch)
    return refused({
      code: "CURSOR_RESTORED",
      message: "the log was restored from a backup after this cursor was given: query again and continue from the cursor you get",
    });
  if (cursor.position > head.position)
    return refused({
      code: "CURSOR_FUTURE",
      message: "this cursor lies after the end of the log: query again and continue from the cursor you get",
    });
  if (cursor.position < head.floor) return refused(EXPIRED);
  return accepted(cursor.position);
}

const digests = new Map<string, string>();

function digestOf(logId: string): string {
  let digest = digests.get(logId);
  if (digest === undefined) {
    digest = createHash("sha256").update(logId).digest("hex").slice(0, 8);
    digests.set(logId, digest);
  }
  return digest;
}

export type Scope = {
  readonly tenant: string;
  /** Null for all agents, and for events of the tenant itself. */
  readonly agentIds: readonly string[] | null;
  /** True if events of all agents below those count, too. */
  readonly withDescendants: boolean;
  readonly createdBy: string | null;
  readonly channels: readonly Channel[];
  readonly kinds: readonly EventKind[] | null;
  /** Whose private events count (PRIVATE_KINDS): those of one actor, or all for a tail that readers are served from. Absent for none. */
  readonly privateEventsOf?: { readonly actorId: string } | "EVERYBODY";
};

export function inScope(scope: Scope, event: TimelineEvent): boolean {
  return (
    event.tenant === scope.tenant &&
    isOfAgents(scope, event) &&
    (scope.createdBy === null || scope.createdBy === event.createdBy) &&
    scope.channels.includes(event.channel) &&
    (scope.kinds === null || scope.kinds.includes(event.body.kind)) &&
    isFor(scope, event)
  );
}

function isFor({ privateEventsOf: whose }: Scope, { body }: TimelineEvent): boolean {
  if (body.kind !== "SNOOZE_CHANGED" || whose === "EVERYBODY") return true;
  return whose?.actorId === body.changedBy.id;
}

function isOfAgents({ agentIds, withDescendants }: Scope, { agentId, ancestors }: TimelineEvent): boolean {
  if (agentIds === null) return true;
  if (agentId === null) return false;
  return agentIds.includes(agentId) || (withDescendants && ancestors.some((id) => agentIds.includes(id)));
}

const keys = new WeakMap<Scope, string>();

export function scopeKey(scope: Scope): string {
  const known = keys.get(scope);
  if (known !== undefined) return known;
  const { tenant, agentIds, withDescendants, createdBy, channels, kinds, privateEventsOf = null } = scope;
  const key = JSON.stringify([
    tenant,
    agentIds === null ? null : [...agentIds].toSorted(),
    withDescendants,
    createdBy,
    [...channels].toSorted(),
    kinds === null ? null : [...kinds].toSorted(),
    privateEventsOf,
  ]);
  keys.set(scope, key);
  return key;
}

/** True if a consumer gets the tenant's events; one without a tenant gets those of all. */
export function concerns(consumer: { readonly tenant: string | null }, tenant: string): boolean {
  return consumer.tenant === null || consumer.tenant === tenant;
}
