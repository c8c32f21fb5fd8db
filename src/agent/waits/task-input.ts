import type { ApprovalDecision, ApprovalState } from "../../db/generated/enums.ts";
import type { Statement } from "../../db/sql.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { messageOf } from "../../lib/text.ts";
import { questionHash, taskAsks } from "../approvals/input/ask-input.ts";
import { answerOf } from "../calls/asked-input.ts";
import type { LaterCall } from "../calls/later.ts";
import { templateOf } from "../conversation/agent-template.ts";
import { elicited, furtherInput, NO_ROUNDS, type Rounds } from "../mcp/asking/input-rounds.ts";
import type { SeenTask, TaskServer } from "../mcp/tasks/task.ts";
import { serverIn } from "../tools/tool.ts";
import type { ChildServices } from "./child.ts";
import { AWAY_MS } from "./due.ts";

/** A question of the task, as it was asked. */
type Asked = {
  readonly key: string;
  readonly state: ApprovalState;
  readonly inputHash: string;
  readonly decision: ApprovalDecision | null;
  readonly values: Json;
  readonly note: string | null;
};

const READ: Statement<Asked, [callId: string, taskId: string]> = {
  name: "read_task_questions",
  text: `SELECT p.continuation ->> 'key' AS key, p.state, p.input_hash AS "inputHash", d.decision, d.input AS values, d.note
    FROM approval p LEFT JOIN decision d ON d.approval_id = p.id WHERE p.tool_call_id = $1 AND p.kind = 'TOOL_INPUT' AND p.continuation ->> 'taskId' = $2`,
};

/** The most questions of a task. */
const MOST_QUESTIONS = 16;

type Input = { readonly kind: "waits"; readonly ms: number } | { readonly kind: "refused"; readonly reason: string };

type Task = { readonly tasks: TaskServer; readonly taskId: string; readonly process: string | null };

type AskingTask = Extract<SeenTask, { readonly kind: "input_required" }>;

/**
 * Gives a task the answers of people, and asks them its next question. All stands in rows: the question of a key is asked
 * once, whichever server looks. An answer is sent until the task asks for it no more; servers ignore one that they have.
 */
export async function inputForTask(
  services: ChildServices,
  { later, root }: { readonly later: LaterCall; readonly root: string },
  { tasks, taskId, process }: Task,
  { requests, reason, pollMs: ms }: AskingTask,
): Promise<Input> {
  const refused = (why: string): Input => ({ kind: "refused", reason: `${CANNOT}${why === "" ? "" : `: ${why}`}` });
  const waits: Input = { kind: "waits", ms };
  const { call, agentId: id, tenant } = later;
  const asked = new Map((await services.sql.query(READ, [call.id, taskId])).map((each) => [each.key, each]));
  if (requests === null || (Object.keys(requests).length === 0 && asked.size === 0)) return refused(reason);
  const rounds = readRounds(requests, { server: serverIn(call.name) ?? "", root });
  if (typeof rounds === "string") return refused(rounds);
  for (const { key, question } of rounds.questions) {
    const hash = asked.get(key)?.inputHash ?? null;
    if (hash !== null && hash !== questionHash({ id, tenant }, call, question))
      return refused("it changed a question that it had asked");
  }
  const responses: JsonObject = { ...rounds.answers, ...answersTo(rounds, asked) };
  if (Object.keys(responses).length > 0 && !(await tasks.answer(taskId, process, responses)))
    return { kind: "waits", ms: AWAY_MS };
  const next = rounds.questions.find(({ key }) => !asked.has(key));
  if (next === undefined || [...asked.values()].some(({ state }) => state === "PENDING")) return waits;
  if (asked.size >= MOST_QUESTIONS) return refused(`it asked ${MOST_QUESTIONS} times`);
  const template = await templateOf(services, later);
  if ("missing" in template) return waits;
  const at = services.clock.now();
  const continuation = { taskId, key: next.key };
  const { change, events } = taskAsks({ id, tenant }, call, { question: next.question, continuation }, template, at);
  const part = { agentId: id, createdBy: later.createdBy, events: events.map((body) => ({ at, body })) };
  await services.log.commit(tenant, part, change);
  return waits;
}

const CANNOT = "which people and models cannot give it here";

/** The questions with the answers that need no person, or the reason why they are not asked. */
function readRounds(requests: JsonObject, agent: { readonly server: string; readonly root: string }): Rounds | string {
  try {
    return furtherInput(NO_ROUNDS, requests, undefined, agent);
  } catch (error) {
    return messageOf(error);
  }
}

function answersTo({ questions }: Rounds, asked: ReadonlyMap<string, Asked>): JsonObject {
  return Object.fromEntries(
    questions.flatMap(({ key }) => {
      const known = asked.get(key);
      return known === undefined || known.state === "PENDING" ? [] : [[key, elicited(answerOf(known))]];
    }),
  );
}
