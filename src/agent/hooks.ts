import type { Json } from "../lib/json.ts";
import type { ToolResult } from "./tools/tool.ts";

/** A call as hooks see it: with the input that would run. */
export type HookCall = { readonly agentId: string; readonly callId: string; readonly name: string; readonly input: Json };

/** What a hook says of a call before it runs: it may ask, deny, or answer in the tool's place. Undefined says nothing. */
export type PreToolUseAnswer =
  | { readonly decision: "ask"; readonly reason?: string }
  | { readonly decision: "deny"; readonly reason?: string }
  | { readonly result: ToolResult }
  | undefined;

/** Looks at a call after the permission lists. It may only tighten; a hook that throws denies the call. */
export type PreToolUse = (call: HookCall) => PreToolUseAnswer | Promise<PreToolUseAnswer>;

/** Looks at a result before it is recorded, and may replace it. A hook that throws is reported, and the result stays. */
export type PostToolUse = (call: HookCall, result: ToolResult) => ToolResult | undefined | Promise<ToolResult | undefined>;

/** The operator's own code around tool calls, in the order in which it runs. */
export type Hooks = { readonly preToolUse: readonly PreToolUse[]; readonly postToolUse: readonly PostToolUse[] };
