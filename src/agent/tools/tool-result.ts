import { isJsonObject, toJson, type Json } from "../../lib/json.ts";
import type { ChildStarted } from "./child.ts";
import type { Later } from "./later.ts";
import type { KnownFiles } from "../workspace/known-files.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** `output` is the text for the model, `details` the JSON for programs. */
export type ToolResult = { readonly output: string; readonly details: Json };

/** JSON as code writes it: undefined fields are omitted. */
export type Details = string | number | boolean | null | undefined | readonly Details[] | { readonly [field: string]: Details };

/** The answer of a tool's code: a text for the model, a text with JSON (null details if omitted), or `later()`. */
export type ToolAnswer = Later | ChildStarted | string | { readonly output: string; readonly details?: Details };

export const RESULT_FORM = "its result is not { output: string, details: JSON }";

/** Null for answers of another form. */
export function readToolResult(value: unknown): ToolResult | null {
  if (!isJsonObject(value) || typeof value["output"] !== "string") return null;
  if (Object.keys(value).some((field) => field !== "output" && field !== "details")) return null;
  const details = toJson(value["details"] ?? null);
  return details === undefined ? null : { output: value["output"], details };
}

export type ToolPreview = {
  /** Paths in the workspace, with unified diffs; null for one that cannot be shown. */
  readonly files: readonly { readonly path: string; readonly diff: string | null }[];
};

export type PreviewContext = {
  readonly workspace: Workspace;
  readonly files: KnownFiles;
  readonly signal: AbortSignal;
  /** The text of an entry of the agent's memory; null if there is none. */
  readonly readMemory: (path: string) => Promise<string | null>;
};

/**
 * Computes the changes of a call without making them; null if they are unknown. Throws CallWouldFail if the call would
 * certainly fail.
 */
export type BoundPreview = (context: PreviewContext) => Promise<ToolPreview | null>;

export class CallWouldFail extends Error {
  override readonly name = "CallWouldFail";
  readonly failure: unknown;
  /** The parameter with the only paths that the failure reveals; null for all files of the call. */
  readonly tellsOf: string | null;

  constructor(failure: unknown, tellsOf: string | null) {
    super("as things stand, the call would fail", { cause: failure });
    this.failure = failure;
    this.tellsOf = tellsOf;
  }
}
