import { isUtf8 } from "node:buffer";
import { byteLength, storable } from "../../../lib/text.ts";
import { TerminalOutput } from "./terminal-text.ts";

export type ShownLimits = { readonly bytes: number; readonly lines: number };

export type Shown = {
  readonly text: string;
  readonly isWhole: boolean;
  /** False if invalid bytes are shown as U+FFFD. */
  readonly isText: boolean;
};

/** The share of the head in the shown output: programs report the important facts last. */
const HEAD_SHARE = 0.2;

const MARK: ShownLimits = { bytes: 128, lines: 3 };

export class ShownOutput {
  readonly #limits: ShownLimits;
  readonly #terminal = new TerminalOutput();
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  readonly #tail: Buffer[] = [];
  #tailBytes = 0;
  #bytes = 0;
  #shownBytes = 0;

  constructor(limits: ShownLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#takeShown(this.#terminal.take(chunk));
  }

  #takeShown(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const most = this.#limits.bytes;
    this.#shownBytes += chunk.length;
    if (this.#headBytes <= most) {
      const kept = Buffer.from(chunk.subarray(0, most + 1 - this.#headBytes));
      this.#head.push(kept);
      this.#headBytes += kept.length;
    }
    // Copied: a slice would retain the memory of the whole chunk.
    const last = Buffer.from(chunk.subarray(Math.max(0, chunk.length - most)));
    this.#tail.push(last);
    this.#tailBytes += last.length;
    for (let first = this.#tail[0]; first !== undefined && this.#tailBytes - first.length >= most; first = this.#tail[0]) {
      this.#tail.shift();
      this.#tailBytes -= first.length;
    }
  }

  get shown(): Shown {
    const shown = this.#within(this.#limits);
    const { bytes, lines } = this.#limits;
    // An invalid byte becomes a character of three bytes.
    return byteLength(storable(shown.text)) <= bytes ? shown : this.#within({ bytes: Math.floor(bytes / 3), lines });
  }

  #within({ bytes, lines }: ShownLimits): Shown {
    const { rest } = this.#terminal;
    const total = this.#shownBytes + rest.length;
    const head = Buffer.concat(this.#headBytes <= bytes ? [...this.#head, rest] : this.#head);
    if (total <= bytes && linesIn(head) <= lines) return { text: head.toString("utf8"), isWhole: true, isText: isUtf8(head) };
    const ofHead = { bytes: Math.floor(bytes * HEAD_SHARE), lines: Math.floor(lines * HEAD_SHARE) };
    const start = headOf(head, ofHead);
    const end = tailOf(Buffer.concat([...this.#tail, rest]), {
      bytes: bytes - ofHead.bytes - MARK.bytes,
      lines: lines - ofHead.lines - MARK.lines,
    });
    const leftOut = total - start.length - end.length;
    const mark = `\n[… ${leftOut} of ${total} bytes are left out here …]\n`;
    const isText = isUtf8(start) && isUtf8(end);
    return { text: `${start.toString("utf8")}${mark}${end.toString("utf8")}`, isWhole: false, isText };
  }
}

const NEWLINE = 0x0a;

function linesIn(buffer: Buffer): number {
  let lines = buffer.length > 0 && buffer.at(-1) !== NEWLINE ? 1 : 0;
  for (let at = buffer.indexOf(NEWLINE); at >= 0; at = buffer.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

function headOf(buffer: Buffer, { bytes, lines }: ShownLimits): Buffer {
  let end = 0;
  for (let line = 0; line < lines; line += 1) {
    const newline = buffer.indexOf(NEWLINE, end);
    if (newline < 0 || newline >= bytes) return buffer.subarray(0, end > bytes / 2 ? end : characterBefore(buffer, bytes));
    end = newline + 1;
  }
  return buffer.subarray(0, end);
}

function tailOf(buffer: Buffer, { bytes, lines }: ShownLimits): Buffer {
  const first = Math.max(0, buffer.length - bytes);
  let start = buffer.length;
  // A final line feed ends the last line, and begins none.
  for (let line = 0; line < lines && start > first; line += 1) {
    const newline = start < 2 ? -1 : buffer.lastIndexOf(NEWLINE, start - 2);
    if (newline + 1 < first) return buffer.subarray(buffer.length - start > bytes / 2 ? start : characterAfter(buffer, first));
    start = newline + 1;
  }
  return buffer.subarray(start);
}

function isInside(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80;
}

function characterBefore(buffer: Buffer, end: number): number {
  let at = Math.min(end, buffer.length);
  while (at > 0 && isInside(buffer[at])) at -= 1;
  return at;
}

function characterAfter(buffer: Buffer, start: number): number {
  let at = start;
  while (at < buffer.length && isInside(buffer[at])) at += 1;
  return at;
}
