import type { Workspace } from "../workspace/workspace.ts";

/** What a call would change, for the people who decide on it. */
export type ToolPreview = {
  /** The files, by their paths in the workspace, with unified diffs; null for one that cannot be shown. */
  readonly files: readonly { readonly path: string; readonly diff: string | null }[];
};

/** What a preview may look at, and how long. */
export type PreviewContext = { readonly workspace: Workspace; readonly signal: AbortSignal };

/** Says what a call would change, and changes nothing. */
export type BoundPreview = (context: PreviewContext) => Promise<ToolPreview>;
