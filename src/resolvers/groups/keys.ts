import { ActorKind } from "../../db/generated/enums.ts";
import type { Agent, Prisma } from "../../db/generated/client.ts";
import type { GroupValue } from "../../db/groups/grouped-rows.ts";
import type { ActorRef } from "../../events/snapshots.ts";
import { type Context, visibleAgents } from "../context.ts";

/** A group with some of these dimensions. */
export type Keyed<Dimension extends string> = { readonly key: ReadonlyMap<Dimension, GroupValue> };

export function keyText<Dimension extends string>({ key }: Keyed<Dimension>, dimension: Dimension): string | null {
  return key.get(dimension)?.value ?? null;
}

export function keyNumber<Dimension extends string>(group: Keyed<Dimension>, dimension: Dimension): number | null {
  const value = keyText(group, dimension);
  return value === null ? null : Number(value);
}

/** The value of a dimension, if this version knows it. */
export function keyAmong<Dimension extends string, Value extends string>(
  { key }: Keyed<Dimension>,
  dimension: Dimension,
  values: readonly Value[],
): Value | null {
  const value = key.get(dimension)?.value;
  return values.find((candidate) => candidate === value) ?? null;
}

export function keyActor<Dimension extends string>({ key }: Keyed<Dimension>, dimension: Dimension): ActorRef | null {
  const { value = null, actorKind = null } = key.get(dimension) ?? {};
  const kind = Object.values(ActorKind).find((candidate) => candidate === actorKind) ?? "USER";
  return value === null ? null : { id: value, kind };
}

type AgentSelection = Pick<Prisma.AgentFindUniqueArgs, "include" | "select">;

/** The agent that a group has in common; null if the actor may not see it. */
export async function keyAgent<Dimension extends string>(
  { prisma, actor }: Context,
  group: Keyed<Dimension>,
  dimension: Dimension,
  selection: AgentSelection,
): Promise<Agent | null> {
  const id = keyText(group, dimension);
  return id === null ? null : prisma.agent.findUnique({ ...selection, where: { id, AND: visibleAgents(actor) } });
}
