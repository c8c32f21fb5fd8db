import type { Workspace } from "../workspace/workspace.ts";

/** The changes that a call would make, for the people who decide on it. */
export type ToolPreview = {
  /** The files, by their paths in the workspace, with unified diffs; null for one that cannot be shown. */
  readonly files: readonly { readonly path: string; readonly diff: string | null }[];
};

/** The things that a preview may look at, and until when. */
export type PreviewContext = { readonly workspace: Workspace; readonly signal: AbortSignal };

/** Says what a call would change, and changes nothing. */
export type BoundPreview = (context: PreviewContext) => Promise<ToolPreview>;
