import type { Sql, Statement } from "../../db/sql.ts";
import { totalTokens, type TokenUsage } from "../models/model.ts";

export type AgentUsage = TokenUsage & {
  readonly totalTokens: number;
  /** Null if a call's model had no price. */
  readonly costUsd: number | null;
  /** True if the output of a call was estimated, since its provider did not report it. */
  readonly isEstimated: boolean;
};

const SUMS = `coalesce(sum(s.input_tokens), 0)::float8 AS "inputTokens", coalesce(sum(s.output_tokens), 0)::float8 AS "outputTokens",
        coalesce(sum(s.cache_read_tokens), 0)::float8 AS "cacheReadTokens", coalesce(sum(s.cache_write_tokens), 0)::float8 AS "cacheWriteTokens",
        CASE WHEN count(*) FILTER (WHERE s.input_tokens IS NOT NULL AND s.cost_usd IS NULL) = 0 THEN coalesce(sum(s.cost_usd), 0) END AS "costUsd",
        coalesce(bool_or(s.output_is_estimated), false) AS "isEstimated"`;

/** The columns that steps and compactions share. */
const COUNTS = "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, output_is_estimated";

type Sums = TokenUsage & { costUsd: number | null; isEstimated: boolean };

/** Each step counts once: steps copied by a fork belong to the other agent. */
const READ: Statement<Sums, [agentIds: readonly string[]]> = {
  name: "read_usage",
  text: `SELECT u.* FROM unnest($1::text[]) WITH ORDINALITY AS a(id, place) CROSS JOIN LATERAL (
      SELECT ${SUMS} FROM (SELECT ${COUNTS} FROM step s WHERE s.agent_id = a.id AND s.copied_from IS NULL
        UNION ALL SELECT ${COUNTS} FROM compaction c WHERE c.agent_id = a.id AND c.copied_from IS NULL) s
    ) u ORDER BY a.place`,
};

/** The usage of agents, in the order of `agentIds`. */
export async function readUsage(sql: Sql, agentIds: readonly string[]): Promise<readonly AgentUsage[]> {
  const rows = await sql.query(READ, [agentIds]);
  return rows.map((row) => Object.assign(row, { totalTokens: totalTokens(row) }));
}

/** The fences (OFFSET 0) keep a planner without statistics from reading all agents and steps. */
const READ_TREE: Statement<Sums, [agentIds: readonly string[]]> = {
  name: "read_tree_usage",
  text: `SELECT u.* FROM unnest($1::text[]) WITH ORDINALITY AS a(id, place) CROSS JOIN LATERAL (
      WITH RECURSIVE tree (id) AS (SELECT a.id UNION ALL SELECT c.id FROM tree CROSS JOIN LATERAL (SELECT b.id FROM agent b WHERE b.parent_id = tree.id OFFSET 0) c)
      SELECT ${SUMS}
      FROM tree CROSS JOIN LATERAL (SELECT ${COUNTS} FROM step own WHERE own.agent_id = tree.id AND own.copied_from IS NULL
        UNION ALL SELECT ${COUNTS} FROM compaction own WHERE own.agent_id = tree.id AND own.copied_from IS NULL OFFSET 0) s
    ) u ORDER BY a.place`,
};

/** The usage of agents with all below them, in the order of `agentIds`. */
export async function readTreeUsage(sql: Sql, agentIds: readonly string[]): Promise<readonly AgentUsage[]> {
  const rows = await sql.query(READ_TREE, [agentIds]);
  return rows.map((row) => Object.assign(row, { totalTokens: totalTokens(row) }));
}
