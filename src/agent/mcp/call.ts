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

/** Calls a tool of a server; `told` is called with its progress. The answer is its result, or a question to a person. */
export type CallTool = (
  tool: ListedTool,
  args: JsonObject,
  by: CalledBy,
  told: (progress: CallProgress) => void,
) => Promise<JsonObject | NeedsInput>;
