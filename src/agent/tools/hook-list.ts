import { Type } from "typebox";
import type { PostToolUseEntry } from "./tool-hooks.ts";

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
