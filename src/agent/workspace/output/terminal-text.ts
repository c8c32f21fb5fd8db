const NEWLINE = 0x0a;
/** Bytes by which a program changes what it has written: a carriage return, a backspace, the beginning of a control sequence. */
const CHANGING = [0x0d, 0x08, 0x1b] as const;
/** The most of an unfinished line that is held back, in bytes: what a program writes over later is mostly shorter. */
const HELD_BYTES = 16 * 1024;

/** Text as a terminal shows it, without colours: a line that was written over is what stands there in the end. */
export function terminalText(text: string): string {
  return text.split("\n").map(terminalLine).join("\n");
}

/** The output of a program as a terminal shows it. A line that is not over is held back, since more may be written over it. */
export class TerminalOutput {
  #held: Buffer = Buffer.alloc(0);

  /** The lines that are over with a chunk. */
  take(chunk: Buffer): Buffer {
    const all = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const end = all.lastIndexOf(NEWLINE) + 1;
    const whole = shown(all.subarray(0, end));
    const rest = all.subarray(end);
    if (rest.length <= HELD_BYTES) {
      this.#held = Buffer.from(rest);
      return whole;
    }
    // A line that is only written over grows without end; one that is long is over for what is held.
    const cut = lastCut(rest);
    const reduced = shown(rest.subarray(0, cut));
    const isOver = reduced.length > HELD_BYTES / 2;
    this.#held = Buffer.concat([isOver ? Buffer.alloc(0) : Buffer.concat([reduced, Buffer.from("\r")]), rest.subarray(cut)]);
    return isOver ? Buffer.concat([whole, reduced]) : whole;
  }

  /** What is held back, as it would be shown now. */
  get rest(): Buffer {
    return shown(this.#held);
  }
}

function shown(bytes: Buffer): Buffer {
  return CHANGING.some((byte) => bytes.includes(byte)) ? Buffer.from(terminalText(bytes.toString("utf8"))) : bytes;
}

const ESCAPE = "\u001B";
const BELL = "\u0007";
/** The longest control sequence that is waited for, in bytes. */
const SEQUENCE_BYTES = 256;
/** A control sequence, a command to the terminal or another escape, from its beginning to its end. */
const WHOLE_SEQUENCE = new RegExp(`^${ESCAPE}(?:\\[[0-9;:?<=>]*[ -/]*[@-~]|[\\]PX^_][^${BELL}${ESCAPE}]*${BELL}|[^[\\]PX^_])`);

/** The last place at which bytes can be cut: not within a character, and not within a control sequence. */
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

/** Control sequences (ECMA-48) and commands to terminals, carriage returns and backspaces, and other characters. */
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

/** The longest line that a program can make by going to a column. */
const COLUMNS = 1_000;

function columnOf(parameters: string | undefined): number {
  return Math.min(COLUMNS, Math.max(1, Number.parseInt(parameters || "1", 10) || 1)) - 1;
}

/** Erases to the end of the line, from its beginning, or all of it, and gives how many cells at its beginning are blank then. */
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
