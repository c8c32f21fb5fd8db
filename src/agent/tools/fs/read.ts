import { TextDecoder } from "node:util";
import { isUtf8 } from "node:buffer";
import { counted, byteLength, headBytes, wholeCharacters } from "../../../lib/text.ts";
import { OUTPUT } from "../limits.ts";
import { defineTool, optional } from "../tool.ts";
import { closed } from "../../../lib/setting.ts";
import { Type } from "typebox";
import { stateOf } from "../../workspace/known-files.ts";
import { ContentDigest } from "./known-content.ts";
import { decodeText, encodingOf, readersDecoder } from "./text-content.ts";
import { openFile } from "./file-problem.ts";

/** The bytes of the output for the content; the rest is for the notes after it. */
const CONTENT_BYTES = OUTPUT.bytes - 512;

const LINES = OUTPUT.lines - 2;

export const fsRead = defineTool({
  name: "fs_read",
  description: "Reads a text file of the workspace. Answers at most 1998 lines or 50 KB: read a longer file in ranges.",
  readOnly: true,
  idempotent: true,
  paths: { path: "read" },
  inputSchema: closed({
    path: Type.String({ minLength: 1, description: "Path relative to the workspace." }),
    offset: optional(Type.Integer({ minimum: 1, description: "First line to read, from 1." })),
    limit: optional(Type.Integer({ minimum: 1, maximum: LINES, description: "Number of lines to read." })),
  }),
  async run({ path, ...given }, { workspace, files, signal }) {
    const offset = given.offset ?? 1;
    const limit = given.limit ?? LINES;
    const name = workspace.show(workspace.resolve(path));
    const file = await openFile(workspace, path);
    try {
      const range = new LineRange(offset, limit);
      const content = new ContentDigest();
      // A file that changes during the read has another state afterwards.
      const state = await stateOf(file);
      // A stream with an aborted signal fails before a listener is added.
      signal.throwIfAborted();
      const chunks = file.createReadStream({ autoClose: false, signal }) as AsyncIterable<Buffer>;
      for await (const chunk of asUtf8(content.of(chunks), path)) range.take(chunk);
      const { content: text, lines, totalLines, isCut, broken } = range.end();
      const last = offset - 1 + lines;
      if (offset > 1 && offset > totalLines)
        throw new Error(`${path} has only ${counted(totalLines, "line")}: read from an earlier offset`);
      const truncated = isCut || offset > 1 || last < totalLines;
      const read = content.end();
      const isText = read.content !== null && decodeText(read.content).ok;
      files.read({ name, state, ...read }, !truncated && isText);
      return {
        output:
          text +
          noteOf([partShown({ offset, last, totalLines, isCut }), charactersReplaced(broken, truncated ? null : read.content)]),
        details: { path, offset, limit, truncated, totalLines, content: text },
      };
    } finally {
      await file.close();
    }
  },
});

async function* asUtf8(chunks: AsyncIterable<Buffer>, path: string): AsyncIterable<Buffer> {
  let decoder: TextDecoder | null = null;
  for await (const chunk of chunks) {
    decoder ??= readersDecoder(chunk);
    if (decoder === null) throw new Error(`${path} is not a text file`);
    yield decoder.encoding === "utf-8" ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }), "utf8");
  }
  if (decoder !== null && decoder.encoding !== "utf-8") yield Buffer.from(decoder.decode(), "utf8");
}

function noteOf(notes: readonly (string | null)[]): string {
  const said = notes.filter((note) => note !== null);
  return said.length === 0 ? "" : `\n[${said.join("; ")}]`;
}

function partShown({
  offset,
  last,
  totalLines,
  isCut,
}: {
  offset: number;
  last: number;
  totalLines: number;
  isCut: boolean;
}): string | null {
  if (isCut) return `only the start of line ${offset}, which is too long to be read; the file has ${counted(totalLines, "line")}`;
  return last < totalLines ? `lines ${offset} to ${last} of ${totalLines}; read on with offset ${last + 1}` : null;
}

/**
 * The note about replaced characters; null if there are none. `broken`: their number in UTF-8. `whole`: the content if
 * all of it is shown.
 */
function charactersReplaced(broken: number, whole: Buffer | null): string | null {
  const verb = broken === 1 ? "is" : "are";
  const isUtf16 = whole !== null && encodingOf(whole)?.encoding.startsWith("utf-16") === true;
  const isBroken = broken > 0 || (isUtf16 && !decodeText(whole).ok);
  if (!isBroken) return null;
  const those =
    broken > 0 ? `${counted(broken, "character")} ${verb} not valid UTF-8 and ${verb}` : "what is not valid UTF-16 is";
  return `${those} shown as U+FFFD: fs_edit refuses the file, and written back it would lose them`;
}

const REPLACEMENT = "\uFFFD";

const OWN_REPLACEMENT = Buffer.from(REPLACEMENT).toString("latin1");

function brokenIn(line: Buffer): number {
  if (isUtf8(line)) return 0;
  const replaced = OTHER_LINES.decode(line).split(REPLACEMENT).length;
  return replaced - line.toString("latin1").split(OWN_REPLACEMENT).length;
}

const NEWLINE = 0x0a;
const FIRST_LINE = new TextDecoder("utf-8");
const OTHER_LINES = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Selects whole lines from chunks: the range, as far as it fits into CONTENT_BYTES. Too long a first line is cut. Only
 * selected lines are decoded; the others are counted.
 */
class LineRange {
  readonly #offset: number;
  readonly #limit: number;
  readonly #kept: string[] = [];
  #bytes = 0;
  #line = 1;
  /** The start of the present line; one byte more than fits marks it as too long. */
  #open: Buffer[] = [];
  #openBytes = 0;
  #isOpen = false;
  #isFull = false;
  #isCut = false;
  #broken = 0;

  constructor(offset: number, limit: number) {
    this.#offset = offset;
    this.#limit = limit;
  }

  take(chunk: Buffer): void {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      this.#add(chunk.subarray(start, end));
      this.#isOpen = true;
      if (newline >= 0) {
        this.#keep();
        this.#isOpen = false;
        this.#line += 1;
      }
      start = end;
    }
  }

  end(): { content: string; lines: number; totalLines: number; isCut: boolean; broken: number } {
    const totalLines = this.#isOpen ? this.#line : this.#line - 1;
    if (this.#isOpen) this.#keep();
    return { content: this.#kept.join(""), lines: this.#kept.length, totalLines, isCut: this.#isCut, broken: this.#broken };
  }

  #isWanted(): boolean {
    return this.#line >= this.#offset && this.#line < this.#offset + this.#limit && !this.#isFull;
  }

  #add(piece: Buffer): void {
    const room = CONTENT_BYTES + 1 - this.#openBytes;
    if (room <= 0 || !this.#isWanted()) return;
    const added = Buffer.from(piece.subarray(0, room));
    this.#open.push(added);
    this.#openBytes += added.length;
  }

  #keep(): void {
    if (!this.#isWanted()) return;
    const read = Buffer.concat(this.#open);
    const line = (this.#line === 1 ? FIRST_LINE : OTHER_LINES).decode(read);
    this.#open = [];
    this.#openBytes = 0;
    const bytes = byteLength(line);
    if (this.#bytes + bytes <= CONTENT_BYTES) {
      this.#kept.push(line);
      this.#bytes += bytes;
      this.#broken += brokenIn(read);
      return;
    }
    this.#isFull = true;
    if (this.#kept.length > 0) return;
    this.#isCut = true;
    this.#kept.push(headBytes(line, CONTENT_BYTES));
    this.#broken += brokenIn(read.subarray(0, wholeCharacters(read, CONTENT_BYTES)));
  }
}
