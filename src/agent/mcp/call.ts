import type { ToolQuestion } from "../../events/tool-question.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Answered, InputAnswer, NeedsInput } from "../tools/question.ts";
import type { ListedTool } from "./listed-tool.ts";

/**
 * The agent of a call, its folder, and the signal that ends the call. `answered` is the answer with which it continues,
 * `askPerson` asks while it runs.
 */
export type CalledBy = {
  readonly agentId: string;
  readonly root: string;
  readonly signal: AbortSignal;
  readonly answered: Answered | null;
  readonly askPerson: (question: ToolQuestion, withdrawn: AbortSignal) => Promise<InputAnswer>;
};

export type CallProgress = {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
};

/** The answer to a call: its result, or a question to a person. `process` is that which gave it; null for an address. */
export type CallAnswer = { readonly answer: JsonObject | NeedsInput; readonly process: string | null };

/** Calls a tool of a server; `told` is called with its progress. */
export type CallTool = (
  tool: ListedTool,
  args: JsonObject,
  by: CalledBy,
  told: (progress: CallProgress) => void,
) => Promise<CallAnswer>;
