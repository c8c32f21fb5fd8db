import type { Writable } from "node:stream";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 80;
const CLEAR_LINE = "\r\u001b[K";

/** What the chat writes: text as it comes, lines, and one line at the bottom that turns while tools run. */
export class Screen {
  readonly #output: Writable;
  readonly #isTerminal: boolean;
  readonly #running = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;
  #frame = 0;
  #isAtLineStart = true;
  #hasPrompt = false;
  #isAsked: () => boolean = () => false;

  /** Without a terminal nothing turns. */
  constructor(output: Writable, isTerminal: boolean) {
    this.#output = output;
    this.#isTerminal = isTerminal;
  }

  /** Text that goes on. Control characters of others are shown, not obeyed. */
  text(text: string): void {
    this.#write(printable(text));
  }

  /** A line of its own. */
  line(text: string): void {
    this.#write(`${this.#isAtLineStart ? "" : "\n"}${printable(text)}\n`);
  }

  /** A tool runs, until `stopped`. */
  started(id: string, label: string): void {
    this.#running.set(id, printable(label).replaceAll("\n", " "));
    if (!this.#isTerminal) return;
    this.#timer ??= setInterval(() => this.#turn(), FRAME_MS);
    this.#turn();
  }

  /** While a person is asked, the line at the bottom is theirs. */
  restsWhile(isAsked: () => boolean): void {
    this.#isAsked = isAsked;
  }

  stopped(id: string): void {
    if (!this.#running.delete(id) || !this.#isTerminal) return;
    if (!this.#isAsked()) this.#output.write(CLEAR_LINE);
    if (this.#running.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** A prompt stands on the line: what is written next takes its place. */
  prompted(): void {
    this.#hasPrompt = true;
    this.#isAtLineStart = true;
  }

  close(): void {
    for (const id of this.#running.keys()) this.stopped(id);
  }

  #turn(): void {
    if (this.#isAsked()) return;
    const frame = FRAMES[this.#frame % FRAMES.length] ?? "";
    this.#frame += 1;
    const label = [...this.#running.values()].join(", ");
    if (this.#isAtLineStart) this.#output.write(`${CLEAR_LINE}${frame} ${label.slice(0, 70)}`);
  }

  #write(text: string): void {
    if (text === "") return;
    const isCovered = this.#isTerminal && this.#isAtLineStart && (this.#timer !== null || this.#hasPrompt);
    this.#hasPrompt = false;
    this.#output.write(isCovered ? `${CLEAR_LINE}${text}` : text);
    this.#isAtLineStart = text.endsWith("\n");
  }
}

/** Control characters and those that turn the direction of text, as their codes. */
function printable(text: string): string {
  return text.replaceAll(
    /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
