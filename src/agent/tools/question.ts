import type { ToolQuestion } from "../../events/tool-question.ts";
import type { Json, JsonObject } from "../../lib/json.ts";

/** The answer to a question: values that fit its form, a refusal by a person, or neither. */
export type InputAnswer =
  | { readonly action: "accept"; readonly values: JsonObject }
  /** `note` is for the model. The server that asked is not told. */
  | { readonly action: "decline"; readonly note: string | null }
  /** No answer came in time, or the question was closed. */
  | { readonly action: "cancel" };

/** The answer with which a call continues, and the tool's own notes from before the question. */
export type Answered = { readonly answer: InputAnswer; readonly continuation: Json };

/**
 * The answer of a tool that needs input of a person: the run ends, and the call waits as rows. After the answer the tool
 * runs again, with the answer and `continuation`.
 */
export class NeedsInput {
  readonly question: ToolQuestion;
  readonly continuation: Json;

  constructor(question: ToolQuestion, continuation: Json) {
    this.question = question;
    this.continuation = continuation;
  }
}

/** The answer of a tool whose server is away, or did not take the answer of a person: the call waits, and sends it again. */
export class AnswerKept {
  /** The server, and the reason why it was not reached. */
  readonly server: string;
  readonly reason: string;
  /** The time after which the server takes it, in ms; null if it names none. */
  readonly afterMs: number | null;

  constructor(server: string, reason: string, afterMs: number | null) {
    this.server = server;
    this.reason = reason;
    this.afterMs = afterMs;
  }
}
