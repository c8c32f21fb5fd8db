import type { KnownFiles } from "../workspace/known-files.ts";
import type { Workspace } from "../workspace/workspace.ts";

export type ToolPreview = {
  /** Paths in the workspace, with unified diffs; null for one that cannot be shown. */
  readonly files: readonly { readonly path: string; readonly diff: string | null }[];
};

export type PreviewContext = { readonly workspace: Workspace; readonly files: KnownFiles; readonly signal: AbortSignal };

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
