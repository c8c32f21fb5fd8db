import type { BigIntStats } from "node:fs";
import { lstat, type FileHandle } from "node:fs/promises";
import { LRUCache } from "lru-cache";
import type { KnownFileRow } from "../../db/commit/change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { FILE_CHANGE_KINDS, type FileChangeKind } from "../../events/snapshots.ts";
import { errorCode } from "../../lib/text.ts";

/** The state of a file on the disk, to detect that it was touched. Times are in ns. */
export type FileState = { readonly inode: bigint; readonly bytes: bigint; readonly modified: bigint; readonly changed: bigint };

export async function stateOf(file: FileHandle): Promise<FileState> {
  return toState(await file.stat({ bigint: true }));
}

export async function stateAt(place: string): Promise<FileState | null> {
  return lstat(place, { bigint: true }).then(toState, (error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
}

export function isSameState(one: FileState | null, other: FileState | null): boolean {
  if (one === null || other === null) return one === other;
  return one.bytes === other.bytes && stampOf(one) === stampOf(other);
}

export function stampOf({ inode, modified, changed }: FileState): string {
  return `${inode} ${modified} ${changed}`;
}

export function modifiedAt({ modified }: FileState): Date {
  return new Date(Number(modified / 1_000_000n));
}

export function toState({ ino, size, mtimeNs, ctimeNs }: BigIntStats): FileState {
  return { inode: ino, bytes: size, modified: mtimeNs, changed: ctimeNs };
}

/** The most cached bytes of all contents together, and of one. */
const TOGETHER_BYTES = 16 * 1024 * 1024;
const CONTENT_BYTES = 256 * 1024;

/**
 * The contents of small files that this server's agents have read or written, by digest, to show later changes. Without
 * a cached content, changes are described by size and time.
 */
export class RecentContents {
  readonly #contents = new LRUCache<string, Buffer>({ maxSize: TOGETHER_BYTES, sizeCalculation: ({ length }) => length + 200 });

  remember(digest: string, content: Buffer): void {
    // A copy: a slice would retain a large buffer.
    if (content.length <= CONTENT_BYTES && !this.#contents.has(digest)) this.#contents.set(digest, Buffer.from(content));
  }

  find(digest: string): Buffer | null {
    return this.#contents.get(digest) ?? null;
  }
}

export type SeenFile = {
  readonly name: string;
  readonly state: FileState;
  /** The SHA-256 of its content, in hex. */
  readonly digest: string;
  /** Null if it is too large to be held. */
  readonly content: Buffer | null;
};

export type FileAccess = "READ" | "WRITTEN";

export type KnownFile = {
  readonly access: FileAccess;
  /** False if the agent has read only parts of this content, or a content that is not valid text. */
  readonly isWhole: boolean;
  readonly digest: string;
  readonly bytes: number;
  /** ISO 8601. */
  readonly modifiedAt: string;
  /** The state of `stampOf`, to detect that the file was touched. */
  readonly stamp: string;
};

export type NotedFile = Pick<KnownFileRow, "path" | "isWhole" | "digest" | "stamp"> & {
  readonly access: FileAccess;
  readonly bytes: number;
  readonly modifiedAt: Date;
};

export type RememberedFile = Pick<KnownFileRow, "path" | "callId" | "digest" | "stamp"> & {
  readonly bytes: number;
  /** The change by others since the call noted it, as FILE_CHANGED last reported; null for none. */
  readonly change: FileChangeKind | null;
};

/** The most files of an agent that are checked: those that its calls noted last. */
const MOST_REMEMBERED = 10_000;

/** The longest path of a known file, in bytes: paths are keys of an index. */
export const KNOWN_PATH_BYTES = 2_000;

const READ_KNOWN: Statement<KnownFile, [agentId: string, path: string]> = {
  name: "read_known_file",
  text: `SELECT access, is_whole AS "isWhole", digest, bytes::float8 AS bytes, to_json(modified_at) #>> '{}' AS "modifiedAt", stamp
    FROM known_file WHERE agent_id = $1 AND path = $2`,
};

const READ_NEWEST: Statement<Omit<RememberedFile, "change"> & { change: string | null }, [agentId: string]> = {
  name: "read_newest_known_files",
  text: `SELECT path, call_id AS "callId", digest, stamp, bytes::float8 AS bytes, change
    FROM known_file WHERE agent_id = $1 ORDER BY at DESC LIMIT ${MOST_REMEMBERED}`,
};

export async function readNewestFiles(sql: Sql, agentId: string): Promise<readonly RememberedFile[]> {
  const rows = await sql.query(READ_NEWEST, [agentId]);
  return rows.map(({ path, callId, digest, stamp, bytes, change }) => ({
    path,
    callId,
    digest,
    stamp,
    bytes,
    change: fileChangeKind(change),
  }));
}

function fileChangeKind(stored: string | null): FileChangeKind | null {
  return FILE_CHANGE_KINDS.find((kind) => kind === stored) ?? null;
}

export type KnownFileRows = (name: string) => Promise<KnownFile | null>;

export function knownFileRows(sql: Sql, agentId: string): KnownFileRows {
  return async (name) => (await sql.query(READ_KNOWN, [agentId, name]))[0] ?? null;
}

/**
 * The files that an agent knows, for one of its calls: those of earlier calls, and this call's notes. The notes are
 * committed with the call's end. After a crash before that, the file is unknown and must be read again.
 */
export class KnownFiles {
  readonly #rows: KnownFileRows;
  readonly #contents: RecentContents;
  readonly #noted = new Map<string, NotedFile>();

  constructor(rows: KnownFileRows, contents: RecentContents) {
    this.#rows = rows;
    this.#contents = contents;
  }

  async find(name: string): Promise<KnownFile | null> {
    const noted = this.#noted.get(name);
    if (noted !== undefined) return { ...noted, modifiedAt: noted.modifiedAt.toISOString() };
    return this.#rows(name);
  }

  /** The content of a known file; null if it was too large, or is no longer cached on this server. */
  contentOf({ digest }: KnownFile): Buffer | null {
    return this.#contents.find(digest);
  }

  read(file: SeenFile, isWhole: boolean): void {
    this.#note(file, "READ", isWhole);
  }

  /** `isWhole` is false if the call changed a part of a content that was never read as a whole. */
  wrote(file: SeenFile, isWhole: boolean): void {
    this.#note(file, "WRITTEN", isWhole);
  }

  get noted(): readonly NotedFile[] {
    return [...this.#noted.values()];
  }

  #note({ name, state, digest, content }: SeenFile, access: FileAccess, isWhole: boolean): void {
    if (content !== null) this.#contents.remember(digest, content);
    if (Buffer.byteLength(name) > KNOWN_PATH_BYTES) return;
    const bytes = Number(state.bytes);
    this.#noted.set(name, { path: name, access, isWhole, digest, bytes, modifiedAt: modifiedAt(state), stamp: stampOf(state) });
  }
}
