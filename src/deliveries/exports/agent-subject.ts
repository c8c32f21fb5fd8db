import { all, ofAgents, type Chosen, type KeyPlace, type Subject } from "./subject.ts";

/** Rows of agents: they are read agent by agent, in the order of their numbers. */
export type OfAgents = Omit<Subject, "order" | "byTime" | "bySeen" | "afterAtPosition" | "mostRows" | "factsOfEvent"> & {
  readonly factsOfEvent?: string;
  /**
   * SQL of the final rows of an agent `a` after a number: `number`, `id`, `unit` and `size`. Rows are ordered by number, and
   * those with the same one by id; these may come again.
   */
  readonly rowsOf: (chosen: Chosen, after: string) => string;
  /** The same of the rows that an event `s` of `seen` makes final. */
  readonly rowsSeen: (chosen: Chosen) => string;
};

export const MOST_ROWS = 2_500;
/** The agents of one statement: each of them may have no row. */
const AGENTS = 100;
/** The number of the place after all rows of an agent. */
const END = "9007199254740991";

/** An agent is looked at if it was there, and had work, in the range of time, as the clocks of the servers may differ. */
const CLOCKS = "interval '1 day'";

export function subjectOfAgents({ rowsOf, rowsSeen, factsOfEvent = "", ...rest }: OfAgents): Subject {
  return {
    ...rest,
    factsOfEvent,
    mostRows: MOST_ROWS,
    order: "k.at, k.agent_id, k.number, k.id",
    byTime: (chosen, place) => byTime(rowsOf, chosen, place),
    bySeen: (chosen) => `SELECT s.at, s.agent_id, r.unit, r.size, r.number, r.id, r.number || '/' || r.id AS place
      FROM seen s JOIN agent a ON a.id = s.agent_id AND a.tenant = $1 CROSS JOIN LATERAL (${rowsSeen(chosen)}) r WHERE ${all(ofAgents(chosen))}`,
    afterAtPosition: (place, parameters) => {
      const [number, id] = split(place);
      return `(k.number, k.id) > (${parameters.add(number)}::bigint, ${parameters.add(id)}::text)`;
    },
  };
}

/** The place has the agent, the number and the id of a row. */
function byTime(rowsOf: OfAgents["rowsOf"], chosen: Chosen, place: KeyPlace): string {
  const { filter, parameters } = chosen;
  const [agentId, rest] = split(place.id);
  const [number, id] = split(rest);
  const agent = `${parameters.add(agentId)}::text`;
  const after = `${parameters.add(number === "" ? "-1" : number)}::bigint`;
  const agents = all([
    "a.tenant = $1",
    ...ofAgents(chosen),
    ...(filter.from === null ? [] : [`a.last_activity_at >= ${parameters.add(filter.from)}::timestamptz - ${CLOCKS}`]),
    ...(filter.to === null ? [] : [`a.created_at < ${parameters.add(filter.to)}::timestamptz + ${CLOCKS}`]),
    `(a.created_at, a.id) >= (${parameters.add(place.at)}::timestamptz, ${agent})`,
  ]);
  const rows = rowsOf(chosen, `(CASE WHEN a.id = ${agent} THEN ${after} ELSE -1 END)`);
  return `SELECT a.created_at AS at, a.id AS agent_id, r.unit, r.size, r.number, r.id, a.id || '/' || r.number || '/' || r.id AS place
    FROM (SELECT a.* FROM agent a WHERE ${agents} ORDER BY a.created_at, a.id LIMIT ${AGENTS}) a
    CROSS JOIN LATERAL (
      SELECT r.number, r.id, r.unit, r.size FROM (
        ${rows} UNION ALL SELECT ${END}, '', NULL, 0
      ) r WHERE a.id <> ${agent} OR (r.number, r.id) > (${after}, ${parameters.add(id)}::text) ORDER BY 1, 2 LIMIT ${MOST_ROWS}
    ) r ORDER BY a.created_at, a.id, r.number, r.id`;
}

function split(text: string): readonly [first: string, rest: string] {
  const at = text.indexOf("/");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
