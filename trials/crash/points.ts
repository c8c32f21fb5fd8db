import type { Sql } from "../../src/db/sql.ts";
import type { SeenChange } from "../../tests/support/seen-write.ts";
import { aroundWrites, goesTo } from "../../tests/support/writes.ts";

/** The points of a turn at which a server is killed. */
export const POINTS = [
  "reply received",
  "tool_use stored",
  "permission judged",
  "approval inserted",
  "waiting",
  "decided",
  "executing committed",
  "child running",
  "child ended",
  "result stored",
  "called before its commit",
  "committed, not announced",
  "in mid-stream",
] as const;
export type Point = (typeof POINTS)[number];

/** The points of agents, by the ids of their rows, that this process holds. */
const points = new Map<string, Point>();
const reached = new Set<string>();
const hasResult = new Set<string>();

/** Holds the agent when it comes to the point. */
export function holdAt(agentId: string, point: Point): void {
  points.set(agentId, point);
}

/** True if the agent is to be held at the point. */
export function isHeldAt(agentId: string, point: Point): boolean {
  return points.get(agentId) === point;
}

/** Says that the agent has come to its point. */
export function say(agentId: string): void {
  if (!reached.has(agentId)) console.log(`held ${agentId}`);
  reached.add(agentId);
}

/** True if a commit is the one before which, or after which, an agent is held. */
const BEFORE: Partial<Record<Point, (change: SeenChange, agentId: string) => boolean>> = {
  "reply received": ({ stepEnd }) => stepEnd?.state === "COMPLETED",
  "permission judged": ({ approvals = [] }) => approvals.length > 0,
  decided: (change) => goesTo("EXECUTING", change),
  "result stored": (_change, agentId) => hasResult.has(agentId),
  // The model call of the next step has begun by then. A loop that was not waiting when the tool ended commits the result alone, before.
  "called before its commit": (change, agentId) =>
    change.stepStart !== undefined && (goesTo("COMPLETED", change) || hasResult.has(agentId)),
};
const AFTER: Partial<Record<Point, (change: SeenChange) => boolean>> = {
  "tool_use stored": ({ toolCalls = [] }) => toolCalls.length > 0,
  "approval inserted": ({ approvals = [] }) => approvals.length > 0,
  "executing committed": (change) => goesTo("EXECUTING", change),
  "committed, not announced": (change) => goesTo("COMPLETED", change),
};

/** The database, with holders of agents that never come past their points. */
export function holding(sql: Sql): Sql {
  return aroundWrites(sql, async ({ agentIds, isFenced, change }, write) => {
    if (change === null) {
      const rows = await write();
      for (const agentId of agentIds) if (isHeldAt(agentId, "in mid-stream")) say(agentId);
      return rows;
    }
    const [agentId] = agentIds;
    if (!isFenced || agentId === undefined) return write();
    const point = points.get(agentId);
    if (point !== undefined && BEFORE[point]?.(change, agentId) === true) return hold(agentId);
    const rows = await write();
    if (goesTo("COMPLETED", change)) hasResult.add(agentId);
    if (point === "waiting" && change.agent?.state === "PAUSED" && change.agent.lease_owner === null) say(agentId);
    return point !== undefined && AFTER[point]?.(change) === true ? hold(agentId) : rows;
  });
}

async function hold(agentId: string): Promise<never> {
  say(agentId);
  return new Promise<never>(() => {});
}
