import type { Sql, Statement } from "../../src/db/sql.ts";

/** The twelve points of a turn at which a server is killed. */
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

/** Whether the agent is to be held at the point. */
export function isHeldAt(agentId: string, point: Point): boolean {
  return points.get(agentId) === point;
}

/** Says that the agent has come to its point. */
export function say(agentId: string): void {
  if (!reached.has(agentId)) console.log(`held ${agentId}`);
  reached.add(agentId);
}

type Seen = {
  readonly stepEnd?: { readonly state: string };
  readonly toolCalls?: readonly object[];
  readonly approvals?: readonly object[];
  readonly agent?: { readonly state?: string; readonly lease_owner?: string | null };
  readonly transitions?: readonly { readonly set: { readonly state: string } }[];
};

/** Whether a commit is the one before which, or after which, an agent is held. */
const BEFORE: Partial<Record<Point, (change: Seen, agentId: string) => boolean>> = {
  "reply received": ({ stepEnd }) => stepEnd?.state === "COMPLETED",
  "permission judged": ({ approvals = [] }) => approvals.length > 0,
  decided: ({ transitions = [] }) => goesTo("EXECUTING", transitions),
  "result stored": (_change, agentId) => hasResult.has(agentId),
};
const AFTER: Partial<Record<Point, (change: Seen) => boolean>> = {
  "tool_use stored": ({ toolCalls = [] }) => toolCalls.length > 0,
  "approval inserted": ({ approvals = [] }) => approvals.length > 0,
  "executing committed": ({ transitions = [] }) => goesTo("EXECUTING", transitions),
  "committed, not announced": ({ transitions = [] }) => goesTo("COMPLETED", transitions),
};

/** The database, with holders of agents that never come past their points. */
export function holding(sql: Sql): Sql {
  return {
    ...sql,
    query: async <Row>(statement: Statement, values: readonly unknown[]) => {
      if (statement.name === "append_events") {
        const rows = await sql.query<Row>(statement, values);
        for (const agentId of values[3] as readonly string[]) if (isHeldAt(agentId, "in mid-stream")) say(agentId);
        return rows;
      }
      if (statement.name !== "commit_change" || values[4] === null) return sql.query<Row>(statement, values);
      const agentId = String(values[3]);
      const change = JSON.parse(String(values[5])) as Seen;
      const point = points.get(agentId);
      if (point !== undefined && BEFORE[point]?.(change, agentId) === true) return hold(agentId);
      const rows = await sql.query<Row>(statement, values);
      if (goesTo("COMPLETED", change.transitions ?? [])) hasResult.add(agentId);
      if (point === "waiting" && change.agent?.state === "PAUSED" && change.agent.lease_owner === null) say(agentId);
      return point !== undefined && AFTER[point]?.(change) === true ? hold(agentId) : rows;
    },
  };
}

function goesTo(state: string, transitions: NonNullable<Seen["transitions"]>): boolean {
  return transitions.some(({ set }) => set.state === state);
}

async function hold(agentId: string): Promise<never> {
  say(agentId);
  return new Promise<never>(() => {});
}
