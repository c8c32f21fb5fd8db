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
    const reduced = shown(rest);
    const isOver = reduced.length > HELD_BYTES / 2;
    this.#held = isOver ? Buffer.alloc(0) : Buffer.concat([reduced, Buffer.from("\r")]);
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
  for (const [part, parameters, final] of line.matchAll(PARTS)) {
    if (part === "\r") at = 0;
    else if (part === "\b") at = Math.max(0, at - 1);
    else if (!part.startsWith(ESCAPE)) {
      while (cells.length < at) cells.push(" ");
      cells[at] = part;
      at += 1;
    } else if (final === "K") erase(cells, at, parameters === "" ? "0" : (parameters ?? "0"));
    else if (final === "G") at = columnOf(parameters);
    else if (final === "D") at = Math.max(0, at - Math.max(1, columnOf(parameters) + 1));
  }
  return cells.join("");
}

/** The longest line that a program can make by going to a column. */
const COLUMNS = 1_000;

function columnOf(parameters: string | undefined): number {
  return Math.min(COLUMNS, Math.max(1, Number.parseInt(parameters || "1", 10) || 1)) - 1;
}

function erase(cells: string[], at: number, mode: string): void {
  if (mode === "0") cells.length = Math.min(cells.length, at);
  else if (mode === "1") cells.fill(" ", 0, Math.min(cells.length, at + 1));
  else if (mode === "2") cells.length = 0;
}
