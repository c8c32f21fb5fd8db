import { ShownOutput, type Shown } from "../../workspace/output/shown-output.ts";
import { Segments } from "../../workspace/output/segments.ts";
import { OUTPUT } from "../../tools/limits.ts";

/** The room that an answer has for words of the tool's own beside the output of its program, in bytes and in lines. */
const BESIDE = { bytes: 1_024, lines: 8 } as const;

/** The bytes that are held in memory before the output goes to the disk: most outputs never do. */
const MEMORY_BYTES = OUTPUT.bytes;

/** The output of one call's programs: in memory what the model reads of each, and the whole on the disk if that is more. */
export class CallOutput {
  readonly #segments: Segments;
  /** The chunks that have not been written yet; null if all goes to the disk. */
  #waiting: Buffer[] | null = [];
  #waitingBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #problem: unknown = null;
  /** The programs that have not ended. */
  readonly #open = new Set<ShownOutput>();
  #isPartial = false;
  #isClosed = false;

  /** `folder` is that of the segments, which is made if it is needed. */
  constructor(folder: string) {
    this.#segments = new Segments(folder);
  }

  /** The output of one more program. */
  begin(): ShownOutput {
    const output = new ShownOutput({ bytes: OUTPUT.bytes - BESIDE.bytes, lines: OUTPUT.lines - BESIDE.lines });
    this.#open.add(output);
    return output;
  }

  /** Takes what a program says. Resolves when there is room for more. What a program says after the close is dropped. */
  take(output: ShownOutput, chunk: Buffer): Promise<void> {
    if (this.#isClosed) return this.#writing;
    output.take(chunk);
    this.#writing = this.#writing.then(() => this.#keep(chunk));
    return this.#writing;
  }

  /** A program has ended: its output as the model reads it. */
  end(output: ShownOutput): Shown {
    const { shown } = output;
    this.#open.delete(output);
    this.#isPartial ||= !shown.isWhole;
    return shown;
  }

  /** True if something of it was written. */
  get isOnDisk(): boolean {
    return this.#segments.bytes > 0;
  }

  /** The output until now of the programs that have not ended; null for nothing. */
  get soFar(): string | null {
    const said = [...this.#open].map(({ shown }) => shown.text).filter((text) => text !== "");
    return said.length === 0 ? null : said.join("\n");
  }

  /**
   * Nothing more is taken. True if the segments have more than the model reads; false if it reads all. Throws if they could
   * not be written.
   */
  async close(): Promise<boolean> {
    this.#isClosed = true;
    for (const output of this.#open) this.end(output);
    await this.#writing;
    if (this.#isPartial && this.#problem === null) await this.#spill().catch((error: unknown) => (this.#problem = error));
    this.#waiting = null;
    await this.#segments.close();
    if (this.#isPartial && this.#problem !== null) throw this.#problem;
    return this.#isPartial;
  }

  /** A disk that is full must not end the program: what could not be kept is said at the end. */
  async #keep(chunk: Buffer): Promise<void> {
    if (this.#problem !== null) return;
    try {
      if (this.#waiting === null) return await this.#segments.write(chunk);
      this.#waiting.push(chunk);
      this.#waitingBytes += chunk.length;
      if (this.#waitingBytes > MEMORY_BYTES) await this.#spill();
    } catch (error) {
      this.#problem = error;
      this.#waiting = null;
    }
  }

  async #spill(): Promise<void> {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const chunk of waiting) await this.#segments.write(chunk);
  }
}
