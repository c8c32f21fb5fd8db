import type { Channel } from "./channel.ts";
import type { EventKind, TimelineEvent } from "./event.ts";

/** What a reader wants of a tenant's log, and what they may see of it. */
export type Scope = {
  readonly tenant: string;
  /** One agent, or null for all. */
  readonly agentId: string | null;
  /** Only agents of this creator, or null for all. */
  readonly createdBy: string | null;
  readonly channels: readonly Channel[];
  /** Only these kinds, or null for all. */
  readonly kinds: readonly EventKind[] | null;
};

/** Whether the event belongs to the scope. */
export function inScope(scope: Scope, event: TimelineEvent): boolean {
  return (
    event.tenant === scope.tenant &&
    (scope.agentId === null || scope.agentId === event.agentId) &&
    (scope.createdBy === null || scope.createdBy === event.createdBy) &&
    scope.channels.includes(event.channel) &&
    (scope.kinds === null || scope.kinds.includes(event.body.kind))
  );
}

const keys = new WeakMap<Scope, string>();

/** The same text for scopes that want the same. */
export function scopeKey(scope: Scope): string {
  const known = keys.get(scope);
  if (known !== undefined) return known;
  const { tenant, agentId, createdBy, channels, kinds } = scope;
  const key = JSON.stringify([
    tenant,
    agentId,
    createdBy,
    [...channels].toSorted(),
    kinds === null ? null : [...kinds].toSorted(),
  ]);
  keys.set(scope, key);
  return key;
}
