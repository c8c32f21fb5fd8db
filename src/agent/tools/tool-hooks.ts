import type { Json, JsonObject } from "../../lib/json.ts";
import type { ToolCallErrorType } from "../../events/snapshots.ts";
import type { ToolResult } from "./tool-result.ts";

/** A call as hooks see it: with a copy of the input that would run, or ran, and whose call it is. */
export type HookCall = {
  readonly tenant: string;
  readonly agentId: string;
  /** The actor who made the agent, by their own id. */
  readonly createdBy: string;
  readonly templateId: string;
  readonly callId: string;
  readonly name: string;
  readonly input: Json;
};

/**
 * The answer of a hook on a call before it runs: it may ask, deny, answer in the tool's place, or give another input, which
 * is validated and judged anew. Undefined says nothing. `meta` is for the people who decide: its `risk` (LOW, MEDIUM or HIGH)
 * is the approval's, if it is higher than the tool's. `toolResult` is what the model reads in the place of the usual text.
 */
export type PreToolUseAnswer =
  | { readonly decision: "ask"; readonly reason?: string; readonly meta?: JsonObject }
  | { readonly decision: "deny"; readonly reason?: string; readonly toolResult?: ToolResult }
  | { readonly result: ToolResult }
  | { readonly input: JsonObject }
  | undefined;

/** Looks at a call after the permission lists. It may only tighten; a hook that throws denies the call. */
export type PreToolUse = (call: HookCall) => PreToolUseAnswer | Promise<PreToolUseAnswer>;

/** The end of a call that ran, as the model will read it. */
export type ToolOutcome = ToolResult & {
  /** False if it failed, or did not end in time: `error` says why, and `output` is what the model reads of it. */
  readonly ok: boolean;
  readonly durationMs: number;
  readonly error: { readonly type: ToolCallErrorType; readonly message: string } | null;
};

/** The answer of a hook on an outcome: other parts of what the model and programs read, all of it, or nothing. Whether the call failed stays as it is. */
export type PostToolUseAnswer = { readonly update: Partial<ToolResult> } | { readonly replace: ToolResult } | undefined;

/** Looks at an outcome before it is recorded. Each hook sees what the one before it made of it. */
export type PostToolUse = (call: HookCall, outcome: ToolOutcome) => PostToolUseAnswer | Promise<PostToolUseAnswer>;

/**
 * A postToolUse hook as it is written. A hook that throws is reported, and the next one sees the outcome as it stands. `withhold` keeps
 * the outcome from the model then: the call has failed, and its output is kept for people. `keep` if omitted.
 */
export type PostToolUseEntry = PostToolUse | { readonly run: PostToolUse; readonly ifItFails?: "keep" | "withhold" };

/** The hooks that a tool brings along. They run before all others. */
export type ToolHooks = { readonly preToolUse: readonly PreToolUse[]; readonly postToolUse: readonly PostToolUseEntry[] };
