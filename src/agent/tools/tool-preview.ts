import type { KnownFiles } from "../workspace/known-files.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** The changes that a call would make, for the people who decide on it. */
export type ToolPreview = {
  /** The files, by their paths in the workspace, with unified diffs; null for one that cannot be shown. */
  readonly files: readonly { readonly path: string; readonly diff: string | null }[];
};

/** The things that a preview may look at, and until when. What it notes of files is not kept. */
export type PreviewContext = { readonly workspace: Workspace; readonly files: KnownFiles; readonly signal: AbortSignal };

/**
 * Says what a call would change, and changes nothing; null if that cannot be said of this call. Throws CallWouldFail if it is sure
 * that the call would fail.
 */
export type BoundPreview = (context: PreviewContext) => Promise<ToolPreview | null>;

/** The failure of a call as a preview foresees it: as things stand, the tool would throw `failure`. */
export class CallWouldFail extends Error {
  override readonly name = "CallWouldFail";
  readonly failure: unknown;
  /** The parameter of whose paths alone the failure tells something; null for all files of the call. */
  readonly tellsOf: string | null;

  constructor(failure: unknown, tellsOf: string | null) {
    super("as things stand, the call would fail", { cause: failure });
    this.failure = failure;
    this.tellsOf = tellsOf;
  }
}
