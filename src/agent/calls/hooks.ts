import type { Placed } from "../tools/hook.ts";
import type { HookCall, PostToolUseEntry, PreToolUse, ToolHooks } from "../tools/tool-hooks.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import type { Validated } from "./stages/validation.ts";

/** The agent of a call, as hooks are told of it. */
export type HookAgent = Pick<HookCall, "createdBy" | "templateId">;

/** The call as hooks see it: with a copy of the input, so that they cannot change what runs. */
export function hookCall({ request, tool, bound }: Validated, { createdBy, templateId }: HookAgent): HookCall {
  const { tenant, agentId, callId } = request;
  return { tenant, agentId, createdBy, templateId, callId, name: tool.name, input: structuredClone(bound.input) };
}

/**
 * Goes round an execution: `next` runs the tool, at most once. What it answers is the tool's answer; what it throws
 * fails the call. The call's time limit holds for all of it.
 */
export type Around = (call: HookCall & { readonly signal: AbortSignal }, next: () => Promise<ToolResult>) => Promise<ToolResult>;

/** What goes round an execution: a hook, by its place in the configuration, or something of the server's own, which has none. */
export type Wrapper = { readonly place: string | null; readonly run: Around };

/** A hook that goes round an execution threw, and not what `next` had thrown: `cause` is what it threw. */
export class AroundFailed extends Error {
  constructor(place: string, cause: unknown) {
    super(`the hook ${place} failed`, { cause });
  }
}

/** The operator's own code around tool calls, in the order in which it runs. */
export type CallHooks = {
  readonly preToolUse: readonly Placed<PreToolUse>[];
  readonly postToolUse: readonly Placed<PostToolUseEntry>[];
  readonly around: readonly Placed<Around>[];
};

/** The hooks of one kind for calls of a tool: the tool's own come first. */
export function hooksFor<Kind extends keyof ToolHooks>(
  kind: Kind,
  tool: { readonly name: string; readonly hooks: ToolHooks },
  hooks: Pick<CallHooks, Kind>,
): readonly Placed<ToolHooks[Kind][number]>[] {
  const own = tool.hooks[kind].map((run, index) => ({ place: `tools.${tool.name}.hooks.${kind}.${index}`, run }));
  return [...own, ...hooks[kind]];
}
