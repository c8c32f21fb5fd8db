/** The files that something else than an agent's file tools has changed, as FILE_CHANGED tells of them. */
export type ChangedFiles = {
  readonly fileCount: number;
  readonly files: readonly { readonly path: string | null; readonly change: string }[];
};

/** The end of a background shell, as SHELL_ENDED tells of it. */
export type EndedShell = { readonly endReason: string; readonly exitCode: number | null; readonly signal: string | null };

/** The most files that are named. */
const NAMED = 5;

/** The changes of files in words, in one line. */
export function changedFilesText({ files, fileCount }: ChangedFiles): string {
  const named = files.slice(0, NAMED).map(({ path, change }) => `${path ?? "(erased)"}${CHANGES[change] ?? ""}`);
  const more = fileCount - named.length;
  const names = [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  return `${names} ${fileCount === 1 ? "was" : "were"} changed by something else`;
}

const CHANGES: Readonly<Record<string, string>> = { REMOVED: " (removed)", MADE_AGAIN: " (removed, and made again)" };

/** The end of a shell in words. */
export function endedShellText({ endReason, exitCode, signal }: EndedShell): string {
  if (endReason !== "EXITED") return `ended: ${endReason.toLowerCase().replaceAll("_", " ")}`;
  if (exitCode !== null) return `ended with exit code ${exitCode}`;
  return signal === null ? "ended" : `ended by ${signal}`;
}
