import { MOST_ROWS, subjectOfAgents } from "./agent-subject.ts";
import { all, among, viewOf, within, withNumbers, type Chosen, type Subject } from "./subject.ts";

const DECISION_KEY = "(extract(epoch FROM d.decided_at) * 1000)::bigint AS number, d.approval_id || '/' || d.actor_id AS id";
const OF_DECISION = `SELECT ${DECISION_KEY}, d.approval_id || '/' || d.actor_id AS unit, 0 AS size
  FROM approval p JOIN decision d ON d.approval_id = p.id LEFT JOIN LATERAL (SELECT c.name FROM tool_call c WHERE c.id = p.tool_call_id OFFSET 0) t ON true`;

function ofDecisions(chosen: Chosen): string {
  const { filter, parameters } = chosen;
  return all([
    ...within("d.decided_at", chosen),
    ...among("t.name", filter.tools, parameters),
    ...among("d.actor_id", filter.decidedBy, parameters),
  ]);
}

/** A decision is final when it is made, also if further people must decide. */
export const DECISIONS: Subject = subjectOfAgents({
  view: viewOf("bi", "decision"),
  texts: viewOf("bi_content", "decision"),
  matches: "d.approval_id = split_part(k.id, '/', 1) AND d.actor_id = substr(k.id, strpos(k.id, '/') + 1)",
  kinds: ["PERMISSION_DECIDED"],
  unitOfEvent: "(e.payload ->> 'approvalId') || '/' || (e.payload -> 'decidedBy' ->> 'id')",
  rowsOf: (chosen, after) =>
    `${OF_DECISION} WHERE p.agent_id = a.id AND ${ofDecisions(chosen)} AND (extract(epoch FROM d.decided_at) * 1000)::bigint >= ${after}`,
  rowsSeen: (chosen) =>
    `${OF_DECISION} WHERE p.id = split_part(s.unit, '/', 1) AND d.actor_id = substr(s.unit, strpos(s.unit, '/') + 1) AND ${ofDecisions(chosen)}`,
});

/** The rows of a turn are final when it ends, and its DONE makes them final together. */
const TURN_ENDS = {
  kinds: ["DONE"],
  unitOfEvent: "e.agent_id || '/' || (e.payload ->> 'turn')",
  factsOfEvent: ", (e.payload ->> 'turn')::int AS turn, (e.payload ->> 'step')::int AS step",
} as const;

/** The condition that the turn of a row of an agent `a` has ended. */
const ended = (turn: string): string => `(${turn} < a.turn OR a.state = 'READY')`;

/** The own steps of the turn that the event `s` ends. Turns rise with steps. */
const STEPS_OF_TURN = `SELECT o.* FROM step o WHERE o.agent_id = s.agent_id AND o.step <= s.step AND o.turn = s.turn AND o.copied_from IS NULL
    AND o.step > coalesce((SELECT b.step FROM step b WHERE b.agent_id = s.agent_id AND b.step <= s.step AND b.turn < s.turn ORDER BY b.step DESC LIMIT 1), 0)`;

const STEP_KEY = "o.step::bigint AS number, '' AS id, a.id || '/' || o.turn AS unit, 0 AS size";

export const STEPS: Subject = subjectOfAgents({
  ...TURN_ENDS,
  view: viewOf("bi", "step"),
  texts: null,
  matches: "s.agent_id = k.agent_id AND s.step = k.number",
  rowsOf: (chosen, after) =>
    `(SELECT ${STEP_KEY} FROM step o WHERE o.agent_id = a.id AND o.step > ${after} AND o.copied_from IS NULL AND ${ended("o.turn")} AND ${ofSteps(chosen)})`,
  rowsSeen: (chosen) => `SELECT ${STEP_KEY} FROM (${STEPS_OF_TURN} OFFSET 0) o WHERE ${ofSteps(chosen)}`,
});

function ofSteps(chosen: Chosen): string {
  return all([...within("o.started_at", chosen), ...among("o.model", chosen.filter.models, chosen.parameters)]);
}

/** A turn is known by its last step, and `id` has its first one. */
const TURN_KEY = "max(o.step)::bigint AS number, min(o.step)::text AS id, a.id || '/' || o.turn AS unit, 0 AS size";

export const TURNS: Subject = subjectOfAgents({
  ...TURN_ENDS,
  view: withNumbers(viewOf("bi", "turn"), [
    "steps",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "unpriced_steps",
  ]),
  texts: null,
  matches: "s.agent_id = k.agent_id AND s.step >= nullif(k.id, '')::int AND s.step <= k.number",
  rowsOf: (chosen, after) =>
    `(SELECT ${TURN_KEY} FROM step o WHERE o.agent_id = a.id AND o.step > ${after} AND o.copied_from IS NULL AND ${ended("o.turn")} GROUP BY o.turn HAVING ${ofTurns(chosen)})`,
  rowsSeen: (chosen) => `SELECT ${TURN_KEY} FROM (${STEPS_OF_TURN} OFFSET 0) o GROUP BY o.turn HAVING ${ofTurns(chosen)}`,
});

/** The model of a turn is that of its first step, as in `turns`. */
function ofTurns(chosen: Chosen): string {
  const { filter, parameters } = chosen;
  return all([
    ...within("min(o.started_at)", chosen),
    ...among("(array_agg(o.model ORDER BY o.step))[1]", filter.models, parameters),
  ]);
}

/** Messages that were withdrawn come after those of the transcript. */
const WITHDRAWN_FROM = "2147483648";
/** The turn by whose end a message becomes final: a retry moves messages of people, and leaves this turn. */
const JOINED_TURN = "coalesce(m.joined_turn, m.turn)";
const JOINED_KEY = `m.ordinal::bigint AS number, m.id, a.id || '/' || ${JOINED_TURN} AS unit, m.bytes AS size`;
const WITHDRAWN_KEY = `${WITHDRAWN_FROM} + m.arrival AS number, m.id, m.id AS unit, m.bytes AS size`;

/** The messages that a fork copied are those of another agent. */
const OWN = "m.ordinal > coalesce(a.forked_at, -1)";

/**
 * The messages of a person on both sides of a turn bound the part of the transcript that is looked through. One that a retry
 * has moved stands before the answers of the earlier turn, so it does not end that part.
 */
const AROUND_TURN = `m.ordinal > coalesce((SELECT b.ordinal FROM message b WHERE b.agent_id = s.agent_id AND b.kind = 'USER' AND b.turn < s.turn ORDER BY b.turn DESC LIMIT 1), -1)
    AND m.ordinal < coalesce((SELECT b.ordinal FROM message b WHERE b.agent_id = s.agent_id AND b.kind = 'USER' AND b.turn > s.turn AND b.joined_turn IS NULL ORDER BY b.turn LIMIT 1), 2147483647)`;

export const MESSAGES: Subject = subjectOfAgents({
  view: viewOf("bi", "message"),
  texts: viewOf("bi_content", "message"),
  matches: "m.id = k.id",
  kinds: [...TURN_ENDS.kinds, "MESSAGE_WITHDRAWN"],
  unitOfEvent: `CASE e.kind WHEN 'DONE' THEN ${TURN_ENDS.unitOfEvent} ELSE e.payload ->> 'messageId' END`,
  factsOfEvent: TURN_ENDS.factsOfEvent,
  rowsOf: (chosen, after) => {
    const ofMessages = all(within("m.created_at", chosen));
    return `(SELECT ${JOINED_KEY} FROM message m WHERE m.agent_id = a.id AND m.ordinal > ${after} AND ${OWN} AND ${ended(JOINED_TURN)} AND ${ofMessages} ORDER BY m.ordinal LIMIT ${MOST_ROWS})
      UNION ALL (SELECT ${WITHDRAWN_KEY} FROM message m WHERE m.agent_id = a.id AND m.ordinal IS NULL AND m.withdrawn_at IS NOT NULL AND ${WITHDRAWN_FROM} + m.arrival > ${after} AND ${ofMessages})`;
  },
  rowsSeen: (chosen) => {
    const ofMessages = all(within("m.created_at", chosen));
    return `(SELECT ${JOINED_KEY} FROM message m WHERE m.agent_id = s.agent_id AND s.turn IS NOT NULL AND ${JOINED_TURN} = s.turn AND ${AROUND_TURN} AND ${OWN} AND ${ofMessages})
      UNION ALL (SELECT ${WITHDRAWN_KEY} FROM message m WHERE s.turn IS NULL AND m.id = s.unit AND m.agent_id = s.agent_id AND ${ofMessages})`;
  },
});
