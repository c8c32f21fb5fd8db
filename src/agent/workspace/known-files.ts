import type { KnownFileRow } from "../../db/commit/change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { FILE_CHANGE_KINDS, type FileChangeKind } from "../../events/snapshots.ts";
import type { RecentContents } from "./recent-contents.ts";
import { modifiedAt, stampOf, type FileState } from "./file-state.ts";

/** A file as it was found or left. */
export type SeenFile = {
  /** Its path with all links resolved, relative to the workspace. */
  readonly name: string;
  readonly state: FileState;
  /** The SHA-256 of its content, in hex. */
  readonly digest: string;
  /** Null if it is too large to be held. */
  readonly content: Buffer | null;
};

/** The use that a call made of a file. */
export type FileAccess = "READ" | "WRITTEN";

/** A file that an agent knows, as the last of its calls that read or wrote the file found or left it. */
export type KnownFile = {
  readonly access: FileAccess;
  /** False if the agent has read parts of this content only, or a content that is not valid text. */
  readonly isWhole: boolean;
  readonly digest: string;
  readonly bytes: number;
  /** ISO 8601. */
  readonly modifiedAt: string;
  /** The state by which a look tells that nothing has touched the file, as `stampOf` says it. */
  readonly stamp: string;
};

/** A file that a call has read or written, until the call's end is committed with it. */
export type NotedFile = Pick<KnownFileRow, "path" | "isWhole" | "digest" | "stamp"> & {
  readonly access: FileAccess;
  readonly bytes: number;
  readonly modifiedAt: Date;
};

/** A file that an agent knows, as its owner remembers the row to look for changes. */
export type RememberedFile = Pick<KnownFileRow, "path" | "callId" | "digest" | "stamp"> & {
  readonly bytes: number;
  /** What something else has made of it since the call noted it, as FILE_CHANGED last said; null for nothing. */
  readonly change: FileChangeKind | null;
  /** True if the model was told of that change. */
  readonly isTold: boolean;
};

/** The most files of an agent that are looked at: those that its calls noted last. */
const MOST_REMEMBERED = 10_000;

/** The longest path of a file that is known, in bytes: paths are the keys of an index. */
export const KNOWN_PATH_BYTES = 2_000;

const READ_KNOWN: Statement<KnownFile, [agentId: string, path: string]> = {
  name: "read_known_file",
  text: `SELECT access, is_whole AS "isWhole", digest, bytes::float8 AS bytes, to_json(modified_at) #>> '{}' AS "modifiedAt", stamp
    FROM known_file WHERE agent_id = $1 AND path = $2`,
};

const READ_NEWEST: Statement<Omit<RememberedFile, "change"> & { change: string | null }, [agentId: string]> = {
  name: "read_newest_known_files",
  text: `SELECT path, call_id AS "callId", digest, stamp, bytes::float8 AS bytes, change, change_told_at IS NOT NULL AS "isTold"
    FROM known_file WHERE agent_id = $1 ORDER BY at DESC LIMIT ${MOST_REMEMBERED}`,
};

/** Reads the files that an agent knows, the newest first: those that its calls noted last, if they are very many. */
export async function readNewestFiles(sql: Sql, agentId: string): Promise<readonly RememberedFile[]> {
  const rows = await sql.query(READ_NEWEST, [agentId]);
  return rows.map(({ path, callId, digest, stamp, bytes, change, isTold }) => ({
    path,
    callId,
    digest,
    stamp,
    bytes,
    change: fileChangeKind(change),
    isTold,
  }));
}

/** The kind of a change as its row says it; null for none. */
function fileChangeKind(stored: string | null): FileChangeKind | null {
  return FILE_CHANGE_KINDS.find((kind) => kind === stored) ?? null;
}

/** The row of an agent for the file of a name; null if it knows none. */
export type KnownFileRows = (name: string) => Promise<KnownFile | null>;

/** Reads what the rows of an agent say. */
export function knownFileRows(sql: Sql, agentId: string): KnownFileRows {
  return async (name) => (await sql.query(READ_KNOWN, [agentId, name]))[0] ?? null;
}

/**
 * The files that an agent knows, as one of its calls sees them: what earlier calls have read and written, and what this call
 * notes. The notes become rows in the commit of the call's end; if a crash comes before that, nobody knows the file as it is
 * then, and it must be read again.
 */
export class KnownFiles {
  readonly #rows: KnownFileRows;
  readonly #contents: RecentContents;
  readonly #noted = new Map<string, NotedFile>();

  constructor(rows: KnownFileRows, contents: RecentContents) {
    this.#rows = rows;
    this.#contents = contents;
  }

  /** The agent's knowledge of the file of this name; null if it has neither read nor written the file. */
  async find(name: string): Promise<KnownFile | null> {
    const noted = this.#noted.get(name);
    if (noted !== undefined) return { ...noted, modifiedAt: noted.modifiedAt.toISOString() };
    return this.#rows(name);
  }

  /** The content of a known file as the agent knows it; null if it was too large, or is no longer remembered on this server. */
  contentOf({ digest }: KnownFile): Buffer | null {
    return this.#contents.find(digest);
  }

  /** Notes that the call has read a file, as a whole or in part. */
  read(file: SeenFile, isWhole: boolean): void {
    this.#note(file, "READ", isWhole);
  }

  /** Notes that the call has written a file; `isWhole` is false if it changed a part of a content that was never read as a whole. */
  wrote(file: SeenFile, isWhole: boolean): void {
    this.#note(file, "WRITTEN", isWhole);
  }

  /** The files that the call has read or written so far, each once. */
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
