import { aborted } from "../../../lib/aborted.ts";
import { isJsonObject } from "../../../lib/json.ts";
import { byteLength, headBytes, storable } from "../../../lib/text.ts";
import { linesOf, namesOf, type RuleValues } from "../../policy/rule-values.ts";
import { CallWouldFail, type PreviewContext, type ToolPreview } from "../../tools/tool-result.ts";
import { KnownFiles, type KnownFile, type KnownFileRows, RecentContents } from "../../workspace/known-files.ts";
import { isSecretPath } from "../../workspace/secret-files.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { failureOf, type Failure } from "../hooks.ts";
import type { Validated } from "./validation.ts";

export type CallPreview = ToolPreview & { readonly problem: string | null };

/** The limits of a preview: files, bytes of diffs, bytes of its problem, time in ms. */
const MOST = { files: 100, diffBytes: 128 * 1024, problemBytes: 2_000, ms: 2_000 };

export type PreviewScope = {
  readonly workspace: Workspace;
  readonly known: KnownFileRows;
  readonly contents: RecentContents;
  readonly mayRead: (values: RuleValues) => boolean;
  readonly stop: AbortSignal;
  readonly readMemory: PreviewContext["readMemory"];
};

/**
 * The result of a preview. `preview`: the changes, null if the tool cannot say them. `failure`: the predicted failure,
 * null for none. A failure is told to the model only if it reveals nothing of files that the agent would have to ask
 * for.
 */
export type PreviewResult = {
  readonly preview: CallPreview | null;
  readonly failure: (Failure & { readonly mayBeTold: boolean }) | null;
};

export const NO_PREVIEW: PreviewResult = { preview: null, failure: null };

/**
 * Asks a tool for the changes of a call. Likely secret files are not read: no person has allowed that yet. Rejects if
 * the database does not answer.
 */
export async function previewCall(
  { bound }: Validated,
  values: RuleValues | null,
  { workspace, known, contents, mayRead, stop, readMemory }: PreviewScope,
): Promise<PreviewResult> {
  const { preview } = bound;
  if (preview === null) return NO_PREVIEW;
  if (values === null || namesSecret(values)) {
    const showsFiles = values === null || linesOf(values).length === 0;
    return { preview: showsFiles ? without("a file that mostly holds secrets is not shown") : null, failure: null };
  }
  const mayReadAll = mayRead(values);
  const found: (KnownFile | null)[] = [];
  const outages: unknown[] = [];
  const rows: KnownFileRows = async (name) => {
    try {
      const file = await known(name);
      found.push(file);
      return file;
    } catch (error) {
      outages.push(error);
      throw error;
    }
  };
  // Without earlier contents a failure reveals nothing that others have written since.
  const files = new KnownFiles(rows, mayReadAll ? contents : new RecentContents());
  try {
    const answer = await inTime((signal) => preview({ workspace, files, signal, readMemory }), stop);
    return { preview: answer === null ? null : bounded(answer), failure: null };
  } catch (error) {
    if (outages.length > 0) throw outages[0];
    const failure = failureOf(error instanceof CallWouldFail ? error.failure : error, workspace.root);
    if (!(error instanceof CallWouldFail)) return { preview: without(failure.message), failure: null };
    const knowsAll = found.length > 0 && found.every((file) => file?.isWhole === true);
    const { tellsOf } = error;
    const mayBeTold = tellsOf === null ? mayReadAll || knowsAll : mayRead({ [tellsOf]: values[tellsOf] ?? [] });
    return { preview: without(failure.message), failure: { ...failure, mayBeTold } };
  }
}

function namesSecret(values: RuleValues): boolean {
  const files = Object.values(values)
    .flat()
    .filter(({ kind }) => kind !== "text");
  return files.some((value) => namesOf(value).some(isSecretPath));
}

async function inTime(
  ask: (signal: PreviewContext["signal"]) => Promise<ToolPreview | null>,
  stop: AbortSignal,
): Promise<ToolPreview | null> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(MOST.ms)]);
  using stopped = aborted(signal);
  return await Promise.race([ask(signal), stopped.promise]);
}

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
