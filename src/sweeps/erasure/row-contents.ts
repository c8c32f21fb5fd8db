import type { Statement } from "../../db/sql.ts";
import type { ErasedContent } from "./erased-payload.ts";
import { LOCKED_IDLE } from "../../agent/waits/idle.ts";

/** The rows of one statement. */
export const ROWS = 500;

/** `isIdle`: the agent was idle, so that rows were erased if there were any. */
export type Erased = { readonly isIdle: boolean; readonly rows: number };

/** The values of a statement. It erases contents older than `before`, of messages before the ordinal `bound` and turns before `turn`. */
export type EraseValues = [agentId: string, before: Date, bound: number, turn: number];
type Erase = Statement<Erased, EraseValues>;

/**
 * The first message and the first turn that stay: those of the first turn with a message that is not old. Whole turns
 * go, so that no call loses its result alone. Without a young message both are beyond all.
 */
export const READ_BOUND: Statement<{ bound: number; turn: number }, [agentId: string, before: Date]> = {
  name: "erasure_bound",
  text: `WITH young AS (SELECT min(m.turn) AS turn FROM message m WHERE m.agent_id = $1 AND m.ordinal IS NOT NULL AND m.created_at >= $2)
    SELECT coalesce(y.turn, 2147483647) AS turn,
      coalesce((SELECT min(m.ordinal) FROM message m WHERE m.agent_id = $1 AND m.turn >= y.turn), 2147483647) AS bound FROM young y`,
};

const counted = `SELECT EXISTS (SELECT FROM idle) AS "isIdle", (SELECT count(*)::int FROM gone) AS rows`;

const MESSAGES: Erase = {
  name: "erase_messages",
  text: `WITH ${LOCKED_IDLE},
      old AS (SELECT m.id FROM idle, message m WHERE m.agent_id = $1 AND m.content IS NOT NULL AND m.created_at < $2 AND $4::int IS NOT NULL
        AND (m.ordinal < $3 OR m.withdrawn_at IS NOT NULL) ORDER BY m.ordinal LIMIT ${ROWS}),
      gone AS (UPDATE message m SET content = NULL, shape = NULL, erased_at = policy_time() FROM old WHERE m.id = old.id RETURNING 1)
    ${counted}`,
};
/** The copies of messages in summaries and requests. */
const COMPACTIONS: Erase = {
  name: "erase_compactions",
  text: `WITH ${LOCKED_IDLE},
      old AS (SELECT c.id FROM idle, compaction c WHERE c.agent_id = $1 AND c.erased_at IS NULL AND c.ended_at < $2 AND $4::int IS NOT NULL
        AND coalesce(c.to_ordinal, 0) < $3 LIMIT ${ROWS}),
      gone AS (UPDATE compaction c SET summary = NULL, restated = NULL, instruction = NULL, failure = CASE WHEN c.failure IS NOT NULL THEN '(erased)' END,
        erased_at = policy_time() FROM old WHERE c.id = old.id RETURNING 1)
    ${counted}`,
};
const REQUESTS: Erase = {
  name: "erase_requests",
  text: `WITH ${LOCKED_IDLE},
      old AS (SELECT s.agent_id, s.step FROM idle, step s WHERE s.agent_id = $1 AND s.turn < $4 AND s.started_at < $2 AND $3::int IS NOT NULL
        AND s.request -> 'changed' IS NOT NULL LIMIT ${ROWS}),
      gone AS (UPDATE step s SET request = (s.request::jsonb - 'changed')::json FROM old WHERE s.agent_id = old.agent_id AND s.step = old.step RETURNING 1)
    ${counted}`,
};
const NOTICES: Erase = {
  name: "erase_notices",
  text: `WITH ${LOCKED_IDLE},
      old AS (SELECT n.id FROM idle, notice n WHERE n.agent_id = $1 AND n.told_at_step IS NOT NULL AND n.at < $2 AND n.text <> '(erased)'
        AND EXISTS (SELECT FROM step s WHERE s.agent_id = $1 AND s.step = n.told_at_step AND s.turn < $4) AND $3::int IS NOT NULL LIMIT ${ROWS}),
      gone AS (UPDATE notice n SET text = '(erased)' FROM old WHERE n.id = old.id RETURNING 1)
    ${counted}`,
};
/** The trail of a call `t` with this in place of each entry `x.entry`. */
const trailOf = (entry: string): string =>
  `(SELECT coalesce(jsonb_agg(${entry} ORDER BY x.place), '[]') FROM jsonb_array_elements(t.audit_trail) WITH ORDINALITY AS x(entry, place))`;

/** Facts for groups, lists and views stay: type and stage of an error, the rule that decided and its place, times and states. */
const TOOL_CALLS: Erase = {
  name: "erase_tool_calls",
  text: `WITH ${LOCKED_IDLE},
      old AS (SELECT t.id FROM idle, tool_call t WHERE t.agent_id = $1 AND t.erased_at IS NULL AND t.completed_at < $2 AND t.turn < $4 AND $3::int IS NOT NULL
        ORDER BY t.step, t.ordinal LIMIT ${ROWS}),
      gone AS (UPDATE tool_call t SET requested_input = NULL, effective_input = NULL, rule_values = NULL, output = NULL, details = NULL, images = NULL,
          kept_output_bytes = NULL, todos = NULL, erased_at = policy_time(),
          cancel_requested = CASE WHEN t.cancel_requested IS NOT NULL THEN (t.cancel_requested::jsonb || '{"note": null}')::json END,
          error = CASE WHEN json_typeof(t.error) = 'object' THEN json_build_object('type', t.error -> 'type', 'stage', t.error -> 'stage', 'message', NULL) END,
          explanation = CASE WHEN json_typeof(t.explanation) = 'object' THEN ((t.explanation::jsonb - 'parts') || '{"reason": "(erased)"}')::json END,
          audit_trail = ${trailOf("x.entry - 'note'")}
        FROM old WHERE t.id = old.id RETURNING 1)
    ${counted}`,
};
/** The command lines of shells, and the blocks of messages that repeat calls: their pairs stay, as models need them. */
const SHELLS: Erase = {
  name: "erase_shells",
  text: `WITH ${LOCKED_IDLE},
      old AS (SELECT s.id FROM idle, shell s WHERE s.agent_id = $1 AND s.ended_at < $2 AND s.command <> '' AND $3::int IS NOT NULL AND $4::int IS NOT NULL LIMIT ${ROWS}),
      gone AS (UPDATE shell s SET command = '' FROM old WHERE s.id = old.id RETURNING 1)
    ${counted}`,
};
const BLOCKS: Erase = {
  name: "erase_blocks_of_calls",
  text: `WITH ${LOCKED_IDLE},
      old AS (SELECT m.id, (SELECT json_agg(b.erased ORDER BY b.place) FROM (SELECT x.place, CASE
            WHEN x.block ->> 'type' = 'tool_use' THEN (x.block::jsonb || '{"input": {}}')::json
            WHEN x.block ->> 'type' = 'tool_result' THEN (x.block::jsonb || '{"content": "(erased)"}')::json
            WHEN x.block ->> 'type' = 'image' AND m.kind = 'TOOL_RESULTS' THEN '{"type": "text", "text": "(an image that was erased)"}'::json
            ELSE x.block END AS erased
          FROM json_array_elements(m.content) WITH ORDINALITY AS x(block, place)) b) AS content
        FROM idle, message m WHERE m.agent_id = $1 AND m.ordinal < $3 AND m.created_at < $2 AND $4::int IS NOT NULL AND m.erased_at IS NULL AND m.content IS NOT NULL AND m.kind IN ('ASSISTANT', 'TOOL_RESULTS')
          AND EXISTS (SELECT FROM json_array_elements(m.content) b WHERE b ->> 'type' IN ('tool_use', 'tool_result')) LIMIT ${ROWS}),
      gone AS (UPDATE message m SET content = old.content, erased_at = policy_time() FROM old WHERE m.id = old.id RETURNING 1)
    ${counted}`,
};
/**
 * The notes of decisions are also in the trails of their calls, and in the rules of the agent alone that they stored. A
 * rule of a template has a note of its own, which stays with it.
 */
const APPROVALS: Erase = {
  name: "erase_approvals",
  text: `WITH ${LOCKED_IDLE},
      old AS (SELECT p.id, p.tool_call_id FROM idle, approval p WHERE p.agent_id = $1 AND p.erased_at IS NULL AND p.state <> 'PENDING' AND p.closed_at < $2
        AND $3::int IS NOT NULL AND $4::int IS NOT NULL LIMIT ${ROWS}),
      decided AS (UPDATE decision d SET note = NULL, input = NULL FROM old WHERE d.approval_id = old.id),
      stored AS (UPDATE allow_rule r SET note = NULL FROM old WHERE r.approval_id = old.id AND r.agent_id IS NOT NULL AND r.note IS NOT NULL),
      told AS (UPDATE tool_call t SET audit_trail = ${trailOf("CASE WHEN x.entry ? 'by' THEN x.entry - 'note' ELSE x.entry END")}
        WHERE t.id IN (SELECT old.tool_call_id FROM old) AND t.audit_trail @? '$[*] ? (exists(@.by) && exists(@.note))'),
      gone AS (UPDATE approval p SET input_digest = md5(p.agent_id || p.input::text), input = NULL, reason = '', meta = NULL, preview = NULL, question = NULL, continuation = NULL, erased_at = policy_time()
        FROM old WHERE p.id = old.id RETURNING 1)
    ${counted}`,
};

/**
 * The names of images that no message and no result of the agent shows any more. The statement does not see commits
 * since its beginning. After such a commit the agent's row has another version, and a later run looks again.
 */
const IMAGES: Erase = {
  name: "erase_images",
  text: `WITH ${LOCKED_IDLE},
      same AS (SELECT a.id FROM idle, agent a WHERE a.id = idle.id AND a.xmin = idle.version),
      old AS (SELECT i.digest FROM same, agent_image i WHERE i.agent_id = $1 AND $2::timestamptz IS NOT NULL AND $3::int IS NOT NULL AND $4::int IS NOT NULL
        AND NOT i.digest = ANY ((SELECT images_of_agent($1))::text[]) LIMIT ${ROWS}),
      gone AS (DELETE FROM agent_image i USING old WHERE i.agent_id = $1 AND i.digest = old.digest RETURNING 1)
    SELECT EXISTS (SELECT FROM same) AS "isIdle", (SELECT count(*)::int FROM gone) AS rows`,
};

/** The statements that erase a content of rows, each repeated until it finds less than ROWS. */
export const ERASES: Readonly<Record<ErasedContent, readonly Erase[]>> = {
  TOOL_CALLS: [TOOL_CALLS, SHELLS, BLOCKS, IMAGES],
  MESSAGES: [MESSAGES, COMPACTIONS, REQUESTS, NOTICES, IMAGES],
  APPROVALS: [APPROVALS],
};

const COUNTS: Readonly<Record<ErasedContent, string>> = {
  MESSAGES: `SELECT count(*)::int AS rows FROM message m WHERE m.agent_id = $1 AND m.content IS NOT NULL AND m.created_at < $2 AND $4::int IS NOT NULL AND (m.ordinal < $3 OR m.withdrawn_at IS NOT NULL)`,
  TOOL_CALLS: `SELECT count(*)::int AS rows FROM tool_call t WHERE t.agent_id = $1 AND t.erased_at IS NULL AND t.completed_at < $2 AND t.turn < $4 AND $3::int IS NOT NULL`,
  APPROVALS: `SELECT count(*)::int AS rows FROM approval p WHERE p.agent_id = $1 AND p.erased_at IS NULL AND p.state <> 'PENDING' AND p.closed_at < $2 AND $3::int IS NOT NULL AND $4::int IS NOT NULL`,
};

/** The number of calls, messages or approvals of an agent that would be erased. */
export function countStatement(content: ErasedContent): Statement<{ rows: number }, EraseValues> {
  return { name: `count_erased_${content.toLowerCase()}`, text: COUNTS[content] };
}
