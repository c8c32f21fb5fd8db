import { mkdir, open, readdir, rm, stat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, byteLength, storable, wholeCharacters } from "../../../lib/text.ts";

/** The most of an output's beginning, and of its end, that is always kept, in bytes. */
export const KEPT_BYTES = 32 * 1024 * 1024;

/** The length of a segment, and how many are kept of the beginning and of the end, including the one being written. */
const SEGMENT = { bytes: KEPT_BYTES / 2, first: 2, last: 3 } as const;

/**
 * A program's output on disk, within bounds: a folder of segments, each named by the offset of its first byte. Of a
 * longer output the segments of the beginning and the end stay.
 */
export class Segments {
  readonly #folder: string;
  #file: FileHandle | null = null;
  #bytes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Creates the folder, which distinguishes an empty output from one on another server. */
  async begin(): Promise<void> {
    if (this.#file === null && this.#bytes === 0) await this.#next();
  }

  async write(chunk: Buffer): Promise<void> {
    for (let rest = chunk; rest.length > 0;) {
      const room = SEGMENT.bytes - (this.#bytes % SEGMENT.bytes);
      const piece = rest.subarray(0, room);
      const file = (room === SEGMENT.bytes ? null : this.#file) ?? (await this.#next());
      await file.appendFile(piece);
      this.#bytes += piece.length;
      rest = rest.subarray(piece.length);
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }

  async #next(): Promise<FileHandle> {
    await this.close();
    if (this.#bytes === 0) await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const number = this.#bytes / SEGMENT.bytes;
    const passed = number - SEGMENT.last;
    if (passed >= SEGMENT.first) await rm(join(this.#folder, String(passed * SEGMENT.bytes)), { force: true });
    return (this.#file = await open(join(this.#folder, String(this.#bytes)), "w", 0o600));
  }
}

type Segment = { readonly start: number; readonly bytes: number; readonly path: string };

export type SegmentsPiece = { readonly text: string; readonly from: number; readonly to: number; readonly total: number };

/**
 * At most `bytes` bytes, and `lines` lines, of a kept output from an offset on; removed parts are skipped. While the
 * output grows (`isOpen`), an incomplete last character is left out. Null if this server does not have the output.
 */
export async function readSegments(
  folder: string,
  {
    since,
    bytes,
    lines,
    isOpen,
  }: { readonly since: number; readonly bytes: number; readonly lines: number; readonly isOpen: boolean },
): Promise<SegmentsPiece | null> {
  const segments = await segmentsOf(folder);
  const last = segments.at(-1);
  if (last === undefined) return null;
  const total = last.start + last.bytes;
  const first = segments.find(({ start, bytes: length }) => since < start + length);
  if (first === undefined) return { text: "", from: total, to: total, total };
  const from = Math.max(since, first.start);
  const found: Buffer[] = [];
  let to = from;
  for (const segment of segments.slice(segments.indexOf(first))) {
    // A gap ends the piece.
    if (segment.start > to || to - from >= bytes) break;
    const piece = await readFrom(segment, to, bytes - (to - from)).catch(unlessMissing);
    // The segment was removed between listing and opening.
    if (piece === null) return readSegments(folder, { since, bytes, lines, isOpen });
    found.push(piece);
    to += piece.length;
  }
  const all = firstLines(Buffer.concat(found), lines);
  const endOf = (piece: Buffer): number =>
    from + piece.length === total && !isOpen ? piece.length : wholeCharacters(piece, piece.length);
  const isShort = byteLength(storable(all.toString("utf8", 0, endOf(all)))) <= bytes;
  // An invalid byte becomes a character of three bytes.
  const piece = isShort ? all : all.subarray(0, Math.floor(bytes / 3));
  const end = endOf(piece);
  return { text: piece.toString("utf8", 0, end), from, to: from + end, total };
}

function unlessMissing(error: unknown): null {
  if (errorCode(error) === "ENOENT") return null;
  throw error;
}

function firstLines(buffer: Buffer, lines: number): Buffer {
  let end = 0;
  for (let line = 0; line < lines; line += 1) {
    const newline = buffer.indexOf(0x0a, end);
    if (newline < 0) return buffer;
    end = newline + 1;
  }
  return buffer.subarray(0, end);
}

/** The pieces of the kept beginning and end in order, at most KEPT_BYTES of each, with the bytes left out between them. */
export async function* keptPieces(folder: string): AsyncGenerator<Buffer | { readonly leftOut: number }> {
  const segments = await segmentsOf(folder);
  const last = segments.at(-1);
  const total = last === undefined ? 0 : last.start + last.bytes;
  const gap = total > 2 * KEPT_BYTES ? { from: KEPT_BYTES, to: total - KEPT_BYTES } : { from: total, to: total };
  const ranges = [
    { from: 0, to: gap.from },
    { from: gap.to, to: total },
  ];
  for (const range of ranges) {
    if (range.from > 0 && range.from < range.to) yield { leftOut: range.from - KEPT_BYTES };
    for (const segment of segments) {
      const end = Math.min(range.to, segment.start + segment.bytes);
      for (let at = Math.max(range.from, segment.start); at < end;) {
        const piece = await readFrom(segment, at, Math.min(PIECE, end - at));
        if (piece.length === 0) break;
        yield piece;
        at += piece.length;
      }
    }
  }
}

const PIECE = 1024 * 1024;

async function segmentsOf(folder: string): Promise<readonly Segment[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.map(async (name): Promise<readonly Segment[]> => {
      const path = join(folder, name);
      const state = await stat(path).catch(() => null);
      return state === null || !/^\d+$/.test(name) ? [] : [{ start: Number(name), bytes: state.size, path }];
    }),
  );
  return found.flat().sort((one, other) => one.start - other.start);
}

async function readFrom({ start, path }: Segment, at: number, bytes: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const buffer = Buffer.alloc(bytes);
    const { bytesRead } = await file.read(buffer, 0, bytes, at - start);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
