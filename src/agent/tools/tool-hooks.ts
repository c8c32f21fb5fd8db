import { Type } from "typebox";
import type { ToolCallErrorType } from "../../events/snapshots.ts";
import { aborted } from "../../lib/aborted.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { currentOwnCode } from "./own-code.ts";
import type { ToolResult } from "./tool-result.ts";

/** `place` in the configuration: `templates.assistant.hooks.preToolUse.0`. */
export type Placed<Hook> = { readonly place: string; readonly run: Hook };

const HOOK_MS = 10_000;

/** The answer of a hook. `place` names it if there are several. Rejects if it throws, takes too long, or `signal` aborts. */
export async function hookAnswer<Answer>(
  hook: () => Answer | Promise<Answer>,
  signal: AbortSignal,
  place?: string,
): Promise<Answer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(HOOK_MS)]);
  using stopped = aborted(limit, () => new Error(signal.aborted ? "it was stopped" : `it did not answer within ${HOOK_MS} ms`));
  const running = (async () => {
    try {
      return await hook();
    } catch (error) {
      currentOwnCode()?.threw(error, place);
      throw error;
    }
  })();
  return await Promise.race([stopped.promise, running]);
}

/** A call as hooks see it, with its agent and a copy of its input. */
export type HookCall = {
  readonly tenant: string;
  readonly agentId: string;
  /** The actor who created the agent, by their own id. */
  readonly createdBy: string;
  readonly templateId: string;
  readonly callId: string;
  readonly name: string;
  readonly input: Json;
};

/**
 * The answer of a hook before a call runs: ask, deny, answer in the tool's place, or give another input. Another input
 * is validated and judged again. Undefined leaves the call unchanged. `meta` is for people who decide: a `risk` (LOW,
 * MEDIUM or HIGH) above the tool's becomes the approval's. `toolResult` replaces the usual text for the model.
 */
export type PreToolUseAnswer =
  | { readonly decision: "ask"; readonly reason?: string; readonly meta?: JsonObject }
  | { readonly decision: "deny"; readonly reason?: string; readonly toolResult?: ToolResult }
  | { readonly result: ToolResult }
  | { readonly input: JsonObject }
  | undefined;

/** Receives a call after the permission lists. It may only tighten; a hook that throws denies the call. */
export type PreToolUse = (call: HookCall) => PreToolUseAnswer | Promise<PreToolUseAnswer>;

export type ToolOutcome = Required<ToolResult> & {
  /** False if it failed or timed out: `error` is the reason, and `output` is the model's text. */
  readonly ok: boolean;
  readonly durationMs: number;
  readonly error: { readonly type: ToolCallErrorType; readonly message: string } | null;
};

/** The answer of a hook on an outcome: some parts of the result, all of it, or no change. A failed call stays failed. */
export type PostToolUseAnswer = { readonly update: Partial<ToolResult> } | { readonly replace: ToolResult } | undefined;

/** Receives an outcome before it is recorded. Each hook sees the result of the one before it. */
export type PostToolUse = (call: HookCall, outcome: ToolOutcome) => PostToolUseAnswer | Promise<PostToolUseAnswer>;

/**
 * A postToolUse hook as configured. If it throws, that is reported, and the next hook sees the outcome unchanged. With
 * `withhold` the model does not see the outcome then: the call has failed, and its output is kept for people. `keep` if
 * omitted.
 */
export type PostToolUseEntry = PostToolUse | { readonly run: PostToolUse; readonly ifItFails?: "keep" | "withhold" };

export type ToolHooks = { readonly preToolUse: readonly PreToolUse[]; readonly postToolUse: readonly PostToolUseEntry[] };

export type HookList<Hook> = Hook | readonly Hook[];

export function hookList<Hook>() {
  return Type.Unsafe<HookList<Hook>>(oneOrMore({ isFunction: true }, "must be a function, or a list of functions"));
}

export function postHooks() {
  const withRun = {
    type: "object",
    additionalProperties: false,
    required: ["run"],
    properties: { run: { isFunction: true }, ifItFails: { enum: ["keep", "withhold"] } },
  };
  const problem = 'must be a function, or { run, ifItFails: "keep" or "withhold" }';
  return Type.Unsafe<HookList<PostToolUseEntry>>(
    oneOrMore({ anyOf: [{ isFunction: true }, withRun], problem }, `${problem}, or a list of them`),
  );
}

export function listOf<Hook>(written: HookList<Hook> | undefined): readonly Hook[] {
  if (written === undefined) return [];
  return isList(written) ? written : [written];
}

function isList<Hook>(written: HookList<Hook>): written is readonly Hook[] {
  return Array.isArray(written);
}

/** Lists are checked item by item, so that a problem names its place. */
function oneOrMore(item: object, problem: string): object {
  const isList = { type: "array" };
  return {
    allOf: [
      { if: isList, else: { ...item, problem } },
      { if: { not: isList }, else: { items: item } },
    ],
  };
}
