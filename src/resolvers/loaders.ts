import DataLoader from "dataloader";
import { readApprovals, type FoundApproval } from "../agent/approvals/approval.ts";
import type { AgentUsage } from "../agent/loop/usage.ts";
import { readUsage } from "../agent/loop/usage.ts";
import { readStandstills, waitingFor } from "../agent/loop/waiting-for.ts";
import { readActorNames } from "../agent/actors/actor-names.ts";
import type { Sql } from "../db/sql.ts";
import type { ActorRef } from "../events/actor-ref.ts";

/** What is read once for all rows of an answer, however many of them are asked for it. */
export type Loaders = {
  readonly actorNames: DataLoader<ActorRef, string | null, string>;
  /** By the row's id; null if there is none. */
  readonly approvals: DataLoader<string, FoundApproval | null>;
  /** By the row's id. */
  readonly usage: DataLoader<string, AgentUsage>;
  /** By the row's id. */
  readonly waitingFor: DataLoader<string, string | null>;
};

/** The loaders of one answer for readers of a tenant. */
export function makeLoaders(reads: Sql, tenant: string): Loaders {
  return {
    actorNames: new DataLoader(async (actors) => readActorNames(reads, tenant, actors), {
      cacheKeyFn: ({ kind, id }) => `${kind}:${id}`,
    }),
    approvals: new DataLoader(async (ids) => {
      const found = new Map((await readApprovals(reads, ids)).map((approval) => [approval.id, approval]));
      return ids.map((id) => found.get(id) ?? null);
    }),
    usage: new DataLoader((agentIds) => readUsage(reads, agentIds)),
    waitingFor: new DataLoader(async (agentIds) =>
      (await readStandstills(reads, agentIds)).map((standstill) => (standstill === null ? null : waitingFor(standstill))),
    ),
  };
}
