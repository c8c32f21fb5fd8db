import { isJsonObject, toJson, type Json } from "../../lib/json.ts";
import type { ChildStarted } from "./child.ts";
import { readImages, type GivenImage } from "./images.ts";
import type { Later } from "./later.ts";
import type { KnownFiles } from "../workspace/known-files.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** `output` is the text for the model, `details` the JSON for programs, `images` go to the model with the text: none if omitted. */
export type ToolResult = { readonly output: string; readonly details: Json; readonly images?: readonly GivenImage[] };

/** JSON as code writes it: undefined fields are omitted. */
export type Details = string | number | boolean | null | undefined | readonly Details[] | { readonly [field: string]: Details };

/** The answer of a tool's code: a text for the model, a text with JSON (null details if omitted) and images, or `later()`. */
export type ToolAnswer =
  | Later
  | ChildStarted
  | string
  | { readonly output: string; readonly details?: Details; readonly images?: readonly GivenImage[] };

export const RESULT_FORM = "its result is not { output: string, details: JSON, images?: [{ mediaType, data }] }";

const FIELDS: ReadonlySet<string> = new Set(["output", "details", "images"]);

/** Null for answers of another form. */
export function readToolResult(value: unknown): ToolResult | null {
  if (!isJsonObject(value) || typeof value["output"] !== "string") return null;
  if (Object.keys(value).some((field) => !FIELDS.has(field))) return null;
  const details = toJson(value["details"] ?? null);
  const { images, leftOut } = readImages(value["images"]);
  if (details === undefined || leftOut.length > 0) return null;
  return { output: value["output"], details, ...(images.length > 0 && { images }) };
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
