/** A line of a unified diff, with its numbers in the old and the new file. */
export type DiffLine = {
  readonly kind: "context" | "added" | "removed" | "place" | "note";
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
};

/** A unified diff in lines. Its two head lines are left out: they name the file, which stands above. */
export function diffLines(diff: string): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let isInHunk = false;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const place = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (place !== null) {
      [before, after] = [Number(place[1]), Number(place[2])];
      isInHunk = true;
      lines.push({ kind: "place", text: line, before: null, after: null });
    } else if (!isInHunk) {
      continue;
    } else if (line.startsWith("+")) {
      lines.push({ kind: "added", text: line.slice(1), before: null, after });
      after += 1;
    } else if (line.startsWith("-")) {
      lines.push({ kind: "removed", text: line.slice(1), before, after: null });
      before += 1;
    } else if (line.startsWith("\\")) {
      lines.push({ kind: "note", text: line.slice(2), before: null, after: null });
    } else {
      lines.push({ kind: "context", text: line.slice(1), before, after });
      before += 1;
      after += 1;
    }
  }
  return lines;
}

/** The numbers of added and removed lines. */
export function diffSize(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  return {
    added: lines.filter(({ kind }) => kind === "added").length,
    removed: lines.filter(({ kind }) => kind === "removed").length,
  };
}
