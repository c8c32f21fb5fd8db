import { ShownOutput, type Shown } from "../../workspace/output/shown-output.ts";
import { Segments } from "../../workspace/output/segments.ts";
import { OUTPUT } from "../../tools/limits.ts";

/** The bytes and lines of an answer that are reserved for the tool's own words. */
const BESIDE = { bytes: 1_024, lines: 8 } as const;

const MEMORY_BYTES = OUTPUT.bytes;

/** The output of one call's programs: the part that the model reads in memory, and larger outputs completely on disk. */
export class CallOutput {
  readonly #segments: Segments;
  /** The chunks that are not written yet; null if all go to disk. */
  #waiting: Buffer[] | null = [];
  #waitingBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #problem: unknown = null;
  readonly #open = new Set<ShownOutput>();
  #isPartial = false;
  #isClosed = false;

  constructor(folder: string) {
    this.#segments = new Segments(folder);
  }

  begin(): ShownOutput {
    const output = new ShownOutput({ bytes: OUTPUT.bytes - BESIDE.bytes, lines: OUTPUT.lines - BESIDE.lines });
    this.#open.add(output);
    return output;
  }

  /** Takes a chunk of a program's output. Resolves when there is room for more. After the close, chunks are dropped. */
  take(output: ShownOutput, chunk: Buffer): Promise<void> {
    if (this.#isClosed) return this.#writing;
    output.take(chunk);
    this.#writing = this.#writing.then(() => this.#keep(chunk));
    return this.#writing;
  }

  end(output: ShownOutput): Shown {
    const { shown } = output;
    this.#open.delete(output);
    this.#isPartial ||= !shown.isWhole;
    return shown;
  }

  get isOnDisk(): boolean {
    return this.#segments.bytes > 0;
  }

  get soFar(): string | null {
    const said = [...this.#open].map(({ shown }) => shown.text).filter((text) => text !== "");
    return said.length === 0 ? null : said.join("\n");
  }

  /** Closes the output. True if the segments have more than the model reads. Throws if they could not be written. */
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

  /** A full disk must not end the program: the loss is reported at the end. */
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
