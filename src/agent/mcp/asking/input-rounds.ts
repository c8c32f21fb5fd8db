import { pathToFileURL } from "node:url";
import type { ToolQuestion } from "../../../events/tool-question.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../lib/json.ts";
import { byteLength, storable } from "../../../lib/text.ts";
import type { InputAnswer } from "../../tools/question.ts";
import { readQuestion } from "./elicitation.ts";

/**
 * A call of the newer generation between its rounds: the server keeps no state, so any server of Triplane continues it.
 * `questions` are open, `answers` are those that the next round takes along.
 */
export type Rounds = {
  readonly sent: number;
  readonly questions: readonly { readonly key: string; readonly question: ToolQuestion }[];
  readonly answers: JsonObject;
  /** The state that the server gives to keep, as JSON text, so that a row keeps each character. */
  readonly requestState: string | null;
};

export const NO_ROUNDS: Rounds = { sent: 0, questions: [], answers: {}, requestState: null };

const MOST_ROUNDS = 8;

/** The most questions of one round. */
const MOST_QUESTIONS = 8;

/** The largest state that a server gives the client to keep, in bytes. */
const STATE_BYTES = 64 * 1024;

/** The next round after an answer `input_required`. The folder of the agent is an immediate answer; people answer the questions. */
export function furtherInput(
  { sent }: Rounds,
  inputRequests: Json,
  requestState: Json | undefined,
  { server, root }: { readonly server: string; readonly root: string },
): Rounds {
  if (sent + 1 >= MOST_ROUNDS) throw new Error(`it asked for more input ${MOST_ROUNDS} times`);
  const asked = Object.entries(isJsonObject(inputRequests) ? inputRequests : {});
  if (asked.length > MOST_QUESTIONS) throw new Error(`it asks for more than ${MOST_QUESTIONS} inputs in one round`);
  const questions: { key: string; question: ToolQuestion }[] = [];
  const answers: [string, Json][] = [];
  for (const [key, request] of asked) {
    if (storable(key) !== key) throw new Error("the key of an input has characters that cannot be kept");
    const { method, params } = isJsonObject(request) ? request : {};
    if (method === "roots/list") answers.push([key, { roots: [{ uri: pathToFileURL(root).href }] }]);
    else if (method === "elicitation/create") questions.push({ key, question: readQuestion(server, params) });
    else
      throw new Error(
        `it asks for input (${typeof method === "string" ? method : "unknown"}), which people and models cannot give it here`,
      );
  }
  return { sent: sent + 1, questions, answers: Object.fromEntries(answers), requestState: stateOf(requestState) };
}

function stateOf(state: Json | undefined): string | null {
  if (state === undefined) return null;
  if (typeof state !== "string") throw new Error("the state that it gives to keep is no text");
  if (byteLength(state) > STATE_BYTES) throw new Error(`the state that it gives to keep is larger than ${STATE_BYTES} bytes`);
  return JSON.stringify(state);
}

export function withAnswer(rounds: Rounds, answer: InputAnswer): Rounds {
  const [answered, ...questions] = rounds.questions;
  if (answered === undefined) throw new Error("no question was asked");
  return { ...rounds, questions, answers: { ...rounds.answers, [answered.key]: elicited(answer) } };
}

/** The parameters of the next round. */
export function answersOf({ answers, requestState }: Rounds): object {
  return {
    ...(Object.keys(answers).length > 0 && { inputResponses: answers }),
    ...(requestState !== null && { requestState: JSON.parse(requestState) as unknown }),
  };
}

/** The answer in the form of the protocol. */
export function elicited(answer: InputAnswer): {
  readonly action: InputAnswer["action"];
  readonly content?: Record<string, string | number | boolean | string[]>;
} {
  if (answer.action !== "accept") return { action: answer.action };
  return { action: "accept", content: answer.values as Record<string, string | number | boolean | string[]> };
}

/** The rounds as they were kept. The questions were read before. */
export function continued(kept: Json): Rounds {
  const { sent, questions, answers, requestState } = isJsonObject(kept) ? kept : {};
  if (typeof sent !== "number" || !Array.isArray(questions) || !isJsonObject(answers))
    throw new Error("the call cannot be continued: another version of Triplane kept it");
  return {
    sent,
    questions: questions as Rounds["questions"],
    answers,
    requestState: typeof requestState === "string" ? requestState : null,
  };
}
