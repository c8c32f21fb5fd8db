import DataLoader from "dataloader";
import { readCallsOfSteps, type StepOfAgent } from "../agent/calls/call.ts";
import { readApprovals, type FoundApproval } from "../agent/approvals/approval.ts";
import type { AgentUsage } from "../agent/loop/usage.ts";
import { readUsage } from "../agent/loop/usage.ts";
import { readStandstills, waitingFor } from "../agent/loop/waiting-for.ts";
import { readActorNames } from "../agent/actors/actor-names.ts";
import type { Sql } from "../db/sql.ts";
import type { ActorRef } from "../events/actor-ref.ts";
import { openBlocksAt, type OpenBlock } from "../events/blocks.ts";
import type { LogHead } from "../events/cursor.ts";

/** The reads that are done once for all rows of an answer, however many of them need one. */
export type Loaders = {
  readonly actorNames: DataLoader<ActorRef, string | null, string>;
  /** By the row's id; null if there is none. */
  readonly approvals: DataLoader<string, FoundApproval | null>;
  /** By the agent's row id and the step: the rows' ids of its calls, by the ids that the provider gave them. */
  readonly callsOfSteps: DataLoader<StepOfAgent, ReadonlyMap<string, string>, string>;
  /** By the agent's row id: the blocks that its model is saying at the snapshot's place. */
  readonly openBlocks: DataLoader<string, readonly OpenBlock[]>;
  /** By the row's id. */
  readonly usage: DataLoader<string, AgentUsage>;
  /** By the row's id. */
  readonly waitingFor: DataLoader<string, string | null>;
};

/** The loaders of one answer for readers of a tenant, as of its snapshot. */
export function makeLoaders(reads: Sql, tenant: string, snapshot: () => Promise<LogHead>): Loaders {
  return {
    actorNames: new DataLoader(async (actors) => readActorNames(reads, tenant, actors), {
      cacheKeyFn: ({ kind, id }) => `${kind}:${id}`,
    }),
    approvals: new DataLoader(async (ids) => {
      const found = new Map((await readApprovals(reads, ids)).map((approval) => [approval.id, approval]));
      return ids.map((id) => found.get(id) ?? null);
    }),
    callsOfSteps: new DataLoader(async (steps) => readCallsOfSteps(reads, steps), {
      cacheKeyFn: ({ agentId, step }) => `${agentId}:${step}`,
    }),
    openBlocks: new DataLoader(async (agentIds) => openBlocksAt(reads, agentIds, (await snapshot()).position)),
    usage: new DataLoader((agentIds) => readUsage(reads, agentIds)),
    waitingFor: new DataLoader(async (agentIds) =>
      (await readStandstills(reads, agentIds)).map((standstill) => (standstill === null ? null : waitingFor(standstill))),
    ),
  };
}
