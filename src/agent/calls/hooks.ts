import type { Placed } from "../tools/hook.ts";
import type { HookCall, PostToolUseEntry, PreToolUse, ToolHooks } from "../tools/tool-hooks.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import type { Validated } from "./stages/validation.ts";

export type HookAgent = Pick<HookCall, "createdBy" | "templateId">;

/** The call as hooks see it. Its input is a copy, so that hooks cannot change the call. */
export function hookCall({ request, tool, bound }: Validated, { createdBy, templateId }: HookAgent): HookCall {
  const { tenant, agentId, callId } = request;
  return { tenant, agentId, createdBy, templateId, callId, name: tool.name, input: structuredClone(bound.input) };
}

/**
 * Wraps an execution: `next` runs the tool, at most once. Its answer is the tool's answer; its error fails the call.
 * The call's time limit covers all of it.
 */
export type Around = (call: HookCall & { readonly signal: AbortSignal }, next: () => Promise<ToolResult>) => Promise<ToolResult>;

/** `place` is that of a hook in the configuration; null for a wrapper of the server's own. */
export type Wrapper = { readonly place: string | null; readonly run: Around };

/** A hook around an execution threw `cause` itself; an error of `next` is passed on instead. */
export class AroundFailed extends Error {
  constructor(place: string, cause: unknown) {
    super(`the hook ${place} failed`, { cause });
  }
}

/** The operator's code around tool calls, in running order. */
export type CallHooks = {
  readonly preToolUse: readonly Placed<PreToolUse>[];
  readonly postToolUse: readonly Placed<PostToolUseEntry>[];
  readonly around: readonly Placed<Around>[];
};

export function hooksFor<Kind extends keyof ToolHooks>(
  kind: Kind,
  tool: { readonly name: string; readonly hooks: ToolHooks },
  hooks: Pick<CallHooks, Kind>,
): readonly Placed<ToolHooks[Kind][number]>[] {
  const own = tool.hooks[kind].map((run, index) => ({ place: `tools.${tool.name}.hooks.${kind}.${index}`, run }));
  return [...own, ...hooks[kind]];
}
