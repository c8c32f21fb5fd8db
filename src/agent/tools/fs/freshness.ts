import { counted } from "../../../lib/counted.ts";
import { byteLength } from "../../../lib/text.ts";
import { modifiedAt } from "../../workspace/file-state.ts";
import { KNOWN_PATH_BYTES, type KnownFile, type SeenFile } from "../../workspace/known-files.ts";
import { FileProblem } from "./file-problem.ts";
import { decodeText } from "./text-content.ts";
import { fileDiff } from "./unified-diff.ts";

const CHANGES_BYTES = 4 * 1024;

/** The error, for the model, that the agent has neither read nor written an existing file. */
export function unread(path: string, name: string): string {
  if (byteLength(name) > KNOWN_PATH_BYTES)
    return `${path} is longer than ${KNOWN_PATH_BYTES} bytes: a file that lies so deep is not replaced`;
  return `${path} exists, and you have not read it: read it first, so that nothing in it is lost unseen`;
}

/**
 * Throws a FileProblem with the changes if a file differs from the content that the agent knows. A change that was
 * reverted does not count. `before` is the known content, if it is cached.
 */
export function requireSame(path: string, present: SeenFile, known: KnownFile, before: Buffer | null): void {
  if (known.digest === present.digest) return;
  const was = `${counted(known.bytes, "byte")}, changed at ${new Date(known.modifiedAt).toISOString()}`;
  const is = `${counted(Number(present.state.bytes), "byte")}, changed at ${modifiedAt(present.state).toISOString()}`;
  throw new FileProblem(
    [
      `${path} was changed by something else since you last ${known.access === "READ" ? "read" : "wrote"} it, and is left as it is: read it again.`,
      `It had ${was}; now it has ${is}.`,
      ...changesOf(before, present),
    ].join("\n"),
  );
}

/** The changed lines if both contents are cached, or their number if there are too many. */
function changesOf(before: Buffer | null, { name, content }: SeenFile): readonly string[] {
  if (before === null || content === null) return [];
  const [from, to] = [decodeText(before), decodeText(content)];
  if (!from.ok || !to.ok) return [];
  const { diff } = fileDiff(name, from.value.text, to.value.text);
  if (diff === null) return [];
  if (byteLength(diff) <= CHANGES_BYTES) return [diff];
  const lines = diff.split("\n").slice(2);
  const changed = (sign: string): string => counted(lines.filter((line) => line.startsWith(sign)).length, "line");
  return [`The change adds ${changed("+")} and removes ${changed("-")}.`];
}
