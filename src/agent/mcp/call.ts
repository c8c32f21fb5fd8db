import type { JsonObject } from "../../lib/json.ts";
import type { ListedTool } from "./listed-tool.ts";

/** The agent of a call, its folder, and the signal that ends the call. */
export type CalledBy = { readonly agentId: string; readonly root: string; readonly signal: AbortSignal };

export type CallProgress = {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
};

/** Calls a tool of a server; `told` is called with its progress. */
export type CallTool = (
  tool: ListedTool,
  args: JsonObject,
  by: CalledBy,
  told: (progress: CallProgress) => void,
) => Promise<JsonObject>;
