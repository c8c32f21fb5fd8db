import type { Channel } from "./channel.ts";
import type { EventKind, TimelineEvent } from "./event.ts";

export type Scope = {
  readonly tenant: string;
  /** Null for all agents, and for events of the tenant itself. */
  readonly agentIds: readonly string[] | null;
  readonly createdBy: string | null;
  readonly channels: readonly Channel[];
  readonly kinds: readonly EventKind[] | null;
};

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

/** True if a consumer gets the tenant's events; one without a tenant gets those of all. */
export function concerns(consumer: { readonly tenant: string | null }, tenant: string): boolean {
  return consumer.tenant === null || consumer.tenant === tenant;
}
