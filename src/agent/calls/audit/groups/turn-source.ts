import type { GroupedSource } from "../../../../db/groups/grouped-rows.ts";
import type { Parameters } from "../rows.ts";
import { agentsOf, conditions, type Asked } from "../turn-page.ts";
import { FRESH_ROWS, SEEN, SEEN_OF, SETTLED, TURN_FOLD } from "../turn-rows.ts";

type Rows = Pick<GroupedSource<string, string>, "open" | "isKnown" | "found">;

/**
 * The rows of a filter, each once, with these columns. The first source has the stored rows and the log behind them, the
 * second, for an incomplete audit, all agents in question.
 */
export const TURN_SOURCES: readonly ((asked: Asked, columns: readonly string[], parameters: Parameters) => Rows)[] = [
  (asked, columns, parameters) => ({
    open: [`fold AS MATERIALIZED (${TURN_FOLD})`, `seen AS MATERIALIZED (${SEEN("")})`, FRESH_ROWS()],
    isKnown: "fold",
    found: [foundOf(asked, columns, parameters)],
  }),
  (asked, columns, parameters) => ({
    open: [
      `next AS MATERIALIZED (SELECT a.id AS agent_id FROM agent a WHERE ${agentsOf(asked.filter, parameters)})`,
      `seen AS MATERIALIZED (${SEEN_OF("next")})`,
      FRESH_ROWS(true),
    ],
    isKnown: "(SELECT) one",
    found: [foundOf(asked, columns, parameters)],
  }),
];

function foundOf(asked: Asked, columns: readonly string[], parameters: Parameters): string {
  const where = conditions(asked, parameters);
  const names = columns.map((name) => `r.${name}`).join(", ");
  return `SELECT ${names} FROM fresh_${asked.what} r WHERE ${where} UNION ALL SELECT ${names} FROM audit_${asked.what} r WHERE ${where} AND ${SETTLED}`;
}
