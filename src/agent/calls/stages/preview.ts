import { aborted } from "../../../lib/aborted.ts";
import { isJsonObject } from "../../../lib/json.ts";
import { byteLength, headBytes, storable } from "../../../lib/text.ts";
import { namesOf, type RuleValues } from "../../policy/rule-values.ts";
import type { PreviewContext, ToolPreview } from "../../tools/tool-preview.ts";
import { isSecretPath } from "../../workspace/secret-files.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { failureOf } from "../failure.ts";
import type { Validated } from "./validation.ts";

/** The changes that a call would make as things stood when it was asked for, or why they are not known. */
export type CallPreview = ToolPreview & { readonly problem: string | null };

/** The most of a preview: its files, the bytes of its diffs, those of its problem, and its time in ms. */
const MOST = { files: 100, diffBytes: 128 * 1024, problemBytes: 2_000, ms: 2_000 };

/**
 * Asks a tool what a call would change; null if the tool cannot say that. Files that mostly hold secrets are not shown: nobody has
 * allowed that yet. Never rejects.
 */
export async function previewCall(
  { bound }: Validated,
  values: RuleValues | null,
  workspace: Workspace,
  stop: AbortSignal,
): Promise<CallPreview | null> {
  const { preview } = bound;
  if (preview === null) return null;
  if (values === null || namesSecret(values)) return without("a file that mostly holds secrets is not shown");
  try {
    return bounded(await inTime((signal) => preview({ workspace, signal }), stop));
  } catch (error) {
    return without(failureOf(error, workspace.root).message);
  }
}

function namesSecret(values: RuleValues): boolean {
  const files = Object.values(values)
    .flat()
    .filter(({ kind }) => kind !== "text");
  return files.some((value) => namesOf(value).some(isSecretPath));
}

async function inTime(ask: (signal: PreviewContext["signal"]) => Promise<ToolPreview>, stop: AbortSignal): Promise<ToolPreview> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(MOST.ms)]);
  using stopped = aborted(signal);
  return await Promise.race([ask(signal), stopped.promise]);
}

/** A preview as it is kept. Tools are other people's code: what they answer may have any form. */
function bounded(given: unknown): CallPreview {
  const files = isJsonObject(given) && Array.isArray(given["files"]) ? given["files"] : null;
  if (files === null) return without("the tool's preview names no files");
  let room = MOST.diffBytes;
  const shown = files.slice(0, MOST.files).map((file) => {
    const { path, diff } = isJsonObject(file) ? file : {};
    const text = typeof diff === "string" ? storable(diff) : null;
    const fits = text !== null && byteLength(text) <= room;
    if (fits) room -= byteLength(text);
    return { path: storable(typeof path === "string" ? path : ""), diff: fits ? text : null };
  });
  return { files: shown, problem: files.length > MOST.files ? `only the first ${MOST.files} files are shown` : null };
}

function without(problem: string): CallPreview {
  return { files: [], problem: headBytes(storable(problem), MOST.problemBytes) };
}
