const NEWLINE = 0x0a;
const CHANGING = [0x0d, 0x08, 0x1b] as const;
/** The most of an unfinished line that is held back, in bytes: overwritten text is mostly shorter. */
const HELD_BYTES = 16 * 1024;

/** Text as a terminal shows it, without colours: of an overwritten line only the final text. */
export function terminalText(text: string): string {
  return text.split("\n").map(terminalLine).join("\n");
}

/** A program's output as a terminal shows it. An unfinished line is held back, since it may be overwritten. */
export class TerminalOutput {
  #held: Buffer = Buffer.alloc(0);

  take(chunk: Buffer): Buffer {
    const all = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const end = all.lastIndexOf(NEWLINE) + 1;
    const whole = shown(all.subarray(0, end));
    const rest = all.subarray(end);
    if (rest.length <= HELD_BYTES) {
      this.#held = Buffer.from(rest);
      return whole;
    }
    // An overwritten line grows without end: a long one counts as finished.
    const cut = lastCut(rest);
    const reduced = shown(rest.subarray(0, cut));
    const isOver = reduced.length > HELD_BYTES / 2;
    this.#held = Buffer.concat([isOver ? Buffer.alloc(0) : Buffer.concat([reduced, Buffer.from("\r")]), rest.subarray(cut)]);
    return isOver ? Buffer.concat([whole, reduced]) : whole;
  }

  get rest(): Buffer {
    return shown(this.#held);
  }
}

function shown(bytes: Buffer): Buffer {
  return CHANGING.some((byte) => bytes.includes(byte)) ? Buffer.from(terminalText(bytes.toString("utf8"))) : bytes;
}

const ESCAPE = "\u001B";
const BELL = "\u0007";
const SEQUENCE_BYTES = 256;
const WHOLE_SEQUENCE = new RegExp(`^${ESCAPE}(?:\\[[0-9;:?<=>]*[ -/]*[@-~]|[\\]PX^_][^${BELL}${ESCAPE}]*${BELL}|[^[\\]PX^_])`);

function lastCut(bytes: Buffer): number {
  let end = bytes.length;
  const first = [1, 2, 3].find((back) => (bytes.at(-back) ?? 0) >> 6 !== 0b10) ?? 0;
  const lead = bytes.at(-first) ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (length > first) end -= first;
  const escape = bytes.subarray(0, end).lastIndexOf(0x1b);
  const isOpen = escape !== -1 && end - escape < SEQUENCE_BYTES && !WHOLE_SEQUENCE.test(bytes.toString("latin1", escape, end));
  return isOpen && escape > 0 ? escape : end;
}

/** Control sequences (ECMA-48) and terminal commands, carriage returns and backspaces, and other characters. */
const PARTS = new RegExp(
  [
    `${ESCAPE}\\[([0-9;:?<=>]*)[ -/]*([@-~])`,
    `${ESCAPE}\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)?`,
    `${ESCAPE}[PX^_][^${ESCAPE}]*(?:${ESCAPE}\\\\)?`,
    `${ESCAPE}[ -/]*[0-~]?`,
    "[^]",
  ].join("|"),
  "gu",
);

function terminalLine(line: string): string {
  if (!["\r", "\b", ESCAPE].some((character) => line.includes(character))) return line;
  const cells: string[] = [];
  let at = 0;
  // The cells before it are blank.
  let blank = 0;
  for (const [part, parameters, final] of line.matchAll(PARTS)) {
    if (part === "\r") at = 0;
    else if (part === "\b") at = Math.max(0, at - 1);
    else if (!part.startsWith(ESCAPE)) {
      while (cells.length < at) cells.push(" ");
      cells[at] = part;
      blank = Math.min(blank, at);
      at += 1;
    } else if (final === "K") blank = erase(cells, { at, blank, mode: parameters || "0" });
    else if (final === "G") at = columnOf(parameters);
    else if (final === "C") at = Math.max(at, Math.min(COLUMNS, at + Math.max(1, columnOf(parameters) + 1)));
    else if (final === "D") at = Math.max(0, at - Math.max(1, columnOf(parameters) + 1));
  }
  return cells.join("");
}

const COLUMNS = 1_000;

function columnOf(parameters: string | undefined): number {
  return Math.min(COLUMNS, Math.max(1, Number.parseInt(parameters || "1", 10) || 1)) - 1;
}

/** Erases to the end of the line, from its beginning, or all of it, and returns the number of blank cells at its beginning. */
function erase(
  cells: string[],
  { at, blank, mode }: { readonly at: number; readonly blank: number; readonly mode: string },
): number {
  if (mode === "2") cells.length = 0;
  if (mode === "0") cells.length = Math.min(cells.length, at);
  const end = mode === "1" ? Math.min(cells.length, at + 1) : 0;
  cells.fill(" ", blank, Math.max(blank, end));
  return Math.min(cells.length, Math.max(blank, end));
}
