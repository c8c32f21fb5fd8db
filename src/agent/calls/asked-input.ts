import type { ApprovalDecision } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { ToolQuestion } from "../../events/tool-question.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { Answered, InputAnswer } from "../tools/question.ts";
import type { CallView } from "./call.ts";

/** Asks people for a tool that runs. A call has one open question at most. */
export type CallQuestions = {
  /** Resolves with the answer. The question is closed when `withdrawn` aborts. Rejects if another one of the call is open. */
  ask(callId: string, question: ToolQuestion, withdrawn: AbortSignal): Promise<InputAnswer>;
  /** Resolves when no question of the call is open. Never rejects. */
  settled(callId: string): Promise<void>;
};

type Row = {
  readonly decision: ApprovalDecision | null;
  readonly values: Json;
  readonly note: string | null;
  readonly continuation: Json;
};

const READ: Statement<Row, [approvalId: string]> = {
  name: "read_input_answer",
  text: "SELECT d.decision, d.input AS values, d.note, p.continuation FROM approval p LEFT JOIN decision d ON d.approval_id = p.id WHERE p.id = $1 ORDER BY d.decided_at DESC LIMIT 1",
};

/** The answer to a closed question, and the notes that its tool kept. */
export async function readAnswer(sql: Sql, approvalId: string): Promise<Answered> {
  const [row] = await sql.query(READ, [approvalId]);
  if (row === undefined) throw new Error(`the question ${approvalId} does not exist`);
  return { answer: answerOf(row), continuation: row.continuation };
}

/** The answer of a closed question by its decision. Values are stored as objects that fit their form. */
export function answerOf({ decision, values, note }: Pick<Row, "decision" | "values" | "note">): InputAnswer {
  if (decision === "ALLOW") return { action: "accept", values: values as JsonObject };
  return decision === "DENY" ? { action: "decline", note } : { action: "cancel" };
}

/** The answer with which a call continues that waited for it. */
export async function answeredInput(sql: Sql, { approval }: CallView): Promise<Answered | null> {
  return approval === null ? null : readAnswer(sql, approval.id);
}

const ALLOWED: Statement<{ isAllowed: boolean }, [callId: string, inputHash: string]> = {
  name: "is_call_allowed_by_person",
  text: `SELECT EXISTS (SELECT 1 FROM approval p LEFT JOIN decision d ON d.approval_id = p.id WHERE p.tool_call_id = $1 AND coalesce(d.input_hash, p.input_hash) = $2
    AND (p.kind = 'TOOL_CALL' AND p.state = 'ALLOWED' OR p.kind = 'OUTCOME_UNKNOWN' AND p.state = 'RESOLVED' AND d.decision = 'RETRY')) AS "isAllowed"`,
};

/** True if a person has allowed the call with this input. An answer to a question of its tool allows nothing. */
export async function isAllowedByPerson(sql: Sql, { id, inputHash }: CallView): Promise<boolean> {
  if (inputHash === null) return false;
  const [row] = await sql.query(ALLOWED, [id, inputHash]);
  return row?.isAllowed === true;
}
