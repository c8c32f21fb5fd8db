import type { Json, JsonObject } from "../../lib/json.ts";
import type { ToolResult } from "./tool-result.ts";

/** A call as hooks see it: with a copy of the input that would run, or ran. */
export type HookCall = { readonly agentId: string; readonly callId: string; readonly name: string; readonly input: Json };

/**
 * The answer of a hook on a call before it runs: it may ask, deny, answer in the tool's place, or give another input, which
 * is validated and judged anew. Undefined says nothing.
 */
export type PreToolUseAnswer =
  | { readonly decision: "ask"; readonly reason?: string }
  | { readonly decision: "deny"; readonly reason?: string }
  | { readonly result: ToolResult }
  | { readonly input: JsonObject }
  | undefined;

/** Looks at a call after the permission lists. It may only tighten; a hook that throws denies the call. */
export type PreToolUse = (call: HookCall) => PreToolUseAnswer | Promise<PreToolUseAnswer>;

/** Looks at a result before it is recorded, and may replace it. A hook that throws is reported, and the result stays. */
export type PostToolUse = (call: HookCall, result: ToolResult) => ToolResult | undefined | Promise<ToolResult | undefined>;

/** The hooks that a tool brings along. They run before all others. */
export type ToolHooks = { readonly preToolUse: readonly PreToolUse[]; readonly postToolUse: readonly PostToolUse[] };
