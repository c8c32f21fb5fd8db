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

/** How long one hook may take, in ms. */
const HOOK_MS = 10_000;

/** The answer of a hook. Rejects where the hook throws, takes too long, or `signal` aborts. */
export async function hookAnswer<Answer>(hook: () => Answer | Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(HOOK_MS)]);
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error(signal.aborted ? "it was stopped" : `it did not answer within ${HOOK_MS} ms`));
    if (limit.aborted) stop();
    else limit.addEventListener("abort", stop, { once: true });
  });
  stopped.catch(() => {});
  return Promise.race([stopped, (async () => hook())()]);
}

/** The operator's own code around tool calls, in the order in which it runs. */
export type Hooks = { readonly preToolUse: readonly PreToolUse[]; readonly postToolUse: readonly PostToolUse[] };
