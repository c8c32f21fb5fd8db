import { OUTPUT } from "./limits.ts";
import { defineTool } from "./tool.ts";

/** How much of a file's start is looked at to tell text from other content. */
const PROBE_BYTES = 8 * 1024;

/** Reads a text file, or a range of its lines. */
export const fsRead = defineTool<{ path: string; offset?: number; limit?: number }>({
  name: "fs_read",
  description: "Reads a text file of the workspace. Answers at most 2000 lines or 50 KB: read a longer file in ranges.",
  readOnly: true,
  inputSchema: {
    type: "object",
    required: ["path"],
    additionalProperties: false,
    properties: {
      path: { type: "string", minLength: 1, description: "Path relative to the workspace." },
      offset: { type: "integer", minimum: 1, nullable: true, description: "First line to read, from 1." },
      limit: { type: "integer", minimum: 1, maximum: OUTPUT.lines, nullable: true, description: "Number of lines to read." },
    },
  },
  async run({ path, offset: givenOffset, limit: givenLimit }, { workspace, signal }) {
    const offset = givenOffset ?? 1;
    const limit = givenLimit ?? OUTPUT.lines;
    const file = await workspace.openForReading(path);
    try {
      if (!(await file.stat()).isFile()) throw new Error(`${path} is not a file: list folders with fs_glob`);
      const reading = new LineRange(offset, limit);
      let isStart = true;
      for await (const chunk of file.createReadStream({ autoClose: false, signal }) as AsyncIterable<Buffer>) {
        if (isStart && chunk.subarray(0, PROBE_BYTES).includes(0)) throw new Error(`${path} is not a text file`);
        isStart = false;
        reading.take(chunk);
      }
      const { content, lines, totalLines } = reading.end();
      const truncated = offset > 1 || offset - 1 + lines < totalLines || reading.isCut;
      const note = offset - 1 + lines < totalLines || reading.isCut ? `\n[lines ${offset} to ${offset + lines - 1} of ${totalLines}; read on with offset ${offset + lines}]` : "";
      return { output: content + note, details: { path, offset, limit, truncated, totalLines, content } };
    } finally {
      await file.close();
    }
  },
});

/** Picks a range of lines out of chunks, holding no more than the range and no more than OUTPUT.bytes of it. */
class LineRange {
  readonly #decoder = new TextDecoder("utf-8");
  readonly #offset: number;
  readonly #limit: number;
  #line = 1;
  #content = "";
  #lastIsOpen = false;
  /** Whether the range was longer than OUTPUT.bytes. */
  isCut = false;

  constructor(offset: number, limit: number) {
    this.#offset = offset;
    this.#limit = limit;
  }

  take(chunk: Buffer): void {
    this.#takeText(this.#decoder.decode(chunk, { stream: true }));
  }

  end(): { content: string; lines: number; totalLines: number } {
    this.#takeText(this.#decoder.decode());
    const totalLines = this.#lastIsOpen ? this.#line : this.#line - 1;
    const lines = this.#content === "" ? 0 : this.#content.split("\n").length - (this.#content.endsWith("\n") ? 1 : 0);
    return { content: this.#content, lines, totalLines };
  }

  #takeText(text: string): void {
    for (let start = 0; start < text.length; ) {
      const newline = text.indexOf("\n", start);
      const end = newline < 0 ? text.length : newline + 1;
      if (this.#line >= this.#offset && this.#line < this.#offset + this.#limit && !this.isCut) this.#keep(text.slice(start, end));
      this.#lastIsOpen = newline < 0;
      if (newline >= 0) this.#line += 1;
      start = end;
    }
  }

  #keep(piece: string): void {
    const room = OUTPUT.bytes - this.#content.length;
    if (piece.length > room) this.isCut = true;
    this.#content += piece.slice(0, Math.max(0, room));
  }
}
