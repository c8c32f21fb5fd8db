import type { Channel } from "./channel.ts";
import type { EventKind, TimelineEvent } from "./event.ts";

/** The part of a tenant's log that a reader wants and may see. */
export type Scope = {
  readonly tenant: string;
  /** Only these agents, or null for all, and for what is no agent's. */
  readonly agentIds: readonly string[] | null;
  /** Only agents of this creator, or null for all. */
  readonly createdBy: string | null;
  readonly channels: readonly Channel[];
  /** Only these kinds, or null for all. */
  readonly kinds: readonly EventKind[] | null;
};

/** True if the event belongs to the scope. */
export function inScope(scope: Scope, event: TimelineEvent): boolean {
  return (
    event.tenant === scope.tenant &&
    (scope.agentIds === null || (event.agentId !== null && scope.agentIds.includes(event.agentId))) &&
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
  const { tenant, agentIds, createdBy, channels, kinds } = scope;
  const key = JSON.stringify([
    tenant,
    agentIds === null ? null : [...agentIds].toSorted(),
    createdBy,
    [...channels].toSorted(),
    kinds === null ? null : [...kinds].toSorted(),
  ]);
  keys.set(scope, key);
  return key;
}

/** True if the events of the tenant concern a consumer; one that names no tenant is concerned by all. */
export function concerns(consumer: { readonly tenant: string | null }, tenant: string): boolean {
  return consumer.tenant === null || consumer.tenant === tenant;
}
