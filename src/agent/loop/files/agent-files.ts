import type { KnownFileRow, OwnerChange } from "../../../db/commit/change.ts";
import { FILE_CHANGE_KINDS } from "../../../events/snapshots.ts";
import { setImmediate as macrotask } from "node:timers/promises";
import { withCause } from "../../../lib/text.ts";
import { lookAt } from "../../workspace/changes/file-look.ts";
import type { FilesByPath } from "../../workspace/changes/remembered-files.ts";
import type { FileWatch } from "../../workspace/changes/file-watches.ts";
import { readNewestFiles, type RememberedFile } from "../../workspace/known-files.ts";
import { filesChanged, NO_NEWS, type FileNews } from "../commits/files.ts";
import type { Owner } from "../owner.ts";
import type { AgentServices } from "../services.ts";
import type { AgentView } from "../view.ts";

/** The time after which the files of an agent are watched that is still held, in ms: a short turn needs no watch. */
const WATCHED_AFTER_MS = 250;
/** The time between a hint and the look that follows it, in ms: what writes a file in several steps is done by then. */
const SETTLED_AFTER_MS = 100;

/** The services by which an owner looks at its agent's files. */
export type FileServices = Pick<AgentServices, "sql" | "clock" | "logger" | "fileWatches" | "folders" | "rememberedFiles">;

/** The owner of an agent, and what its calls do. */
export type FileScope = {
  readonly owner: Owner;
  /** True while a call runs that may write files and note them at its end: until then nobody can tell its writes from others. */
  readonly isWriting: () => boolean;
};

/**
 * The files that an agent knows, as its owner sees them while it holds the lease. The rows are read once, and follow the owner's
 * commits. What something else changes is found in two ways: at the beginning of each step by a look at all of them, which is what
 * counts, and meanwhile by a look at those of which the watch gives a hint, so that FILE_CHANGED comes while a step is under way.
 */
export class AgentFiles {
  readonly #services: FileServices;
  readonly #scope: FileScope;
  readonly #hinted = new Set<string>();
  /** The place and the watch of the files; null before the first of them is known, and until they are watched. */
  #root: string | null = null;
  #watch: FileWatch | null = null;
  #watching: NodeJS.Timeout | null = null;
  #settling: NodeJS.Timeout | null = null;
  /** The look that is under way, and those that wait for it: one at a time, so that no change is found twice. */
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(services: FileServices, scope: FileScope) {
    this.#services = services;
    this.#scope = scope;
  }

  /** The agent is advanced, and knows files: they are watched if that goes on. */
  begin({ workspace }: Pick<AgentView, "workspace">): void {
    this.#root = workspace;
    if (this.#isClosed || this.#watching !== null) return;
    this.#watching = setTimeout(() => this.#background(this.#startWatch()), WATCHED_AFTER_MS).unref();
  }

  /** The owner has committed a change that says something of files. */
  committed({ knownFiles = [], fileChanges = [] }: OwnerChange): void {
    const { rememberedFiles } = this.#services;
    const files = rememberedFiles.of(this);
    if (files === null) return;
    for (const row of knownFiles) files.set(row.path, remembered(row));
    for (const { path, callId, change, changeToldAt } of fileChanges) {
      const file = files.get(path);
      const kind = FILE_CHANGE_KINDS.find((known) => known === change);
      if (file?.callId === callId && kind !== undefined)
        files.set(path, { ...file, change: kind, isTold: changeToldAt !== null });
    }
    if (knownFiles.length === 0) return;
    rememberedFiles.keep(this, files);
    this.#watchMore(knownFiles.map(({ path }) => path));
  }

  /** Looks at all files that the agent knows, when none of its calls runs: what has changed, and what the model is to be told of. */
  async look({ workspace, knowsFiles }: Pick<AgentView, "workspace" | "knowsFiles">): Promise<FileNews> {
    if (knowsFiles) return this.#inTurn(() => this.#lookAtAll(workspace));
    const { rememberedFiles } = this.#services;
    if (rememberedFiles.of(this) === null) rememberedFiles.keep(this, new Map());
    return NO_NEWS;
  }

  /** The lease ends, and with it all watches. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of [this.#watching, this.#settling]) if (timer !== null) clearTimeout(timer);
    this.#watch?.close();
    this.#services.rememberedFiles.forget(this);
    await this.#turn;
  }

  #inTurn<Result>(look: () => Promise<Result>): Promise<Result> {
    const looking = this.#turn.then(look);
    this.#turn = looking.catch(() => {});
    return looking;
  }

  async #lookAtAll(workspace: string): Promise<FileNews> {
    this.#hinted.clear();
    const files = [...(await this.#withDeferred()).values()];
    const { changes, untouched } = await lookAt(workspace, files);
    this.#renew(untouched);
    const changed = new Set(changes.map(({ file }) => file));
    return { changes, untold: files.filter((file) => file.change !== null && !file.isTold && !changed.has(file)) };
  }

  /** Watches the files that are known by now. */
  async #startWatch(): Promise<void> {
    const root = this.#root;
    if (this.#isClosed || root === null) return;
    const files = await this.#files();
    if (this.#isClosed || !(await this.#services.folders.answers(root))) return;
    this.#watch = this.#services.fileWatches.open(root, (name) => this.#hint(name));
    this.#watchMore(files.keys());
  }

  /** Watches more files, and looks at them once more by itself: one that was removed before its watch began gives no hint. */
  #watchMore(names: Iterable<string>): void {
    if (this.#watch === null) return;
    for (const name of this.#watch.add(names)) this.#hint(name);
  }

  #hint(name: string): void {
    if (this.#isClosed) return;
    this.#hinted.add(name);
    this.#settling ??= setTimeout(() => {
      this.#settling = null;
      void this.#background(this.#inTurn(() => this.#lookAtHinted()));
    }, SETTLED_AFTER_MS).unref();
  }

  /** Looks at the files of which there were hints, and commits what has changed. The model is told when its next step begins. */
  async #lookAtHinted(): Promise<void> {
    const { owner, isWriting } = this.#scope;
    const root = this.#root;
    // The look before may have been a step's, which commits what it found at once.
    await macrotask();
    if (this.#isClosed || root === null || !(await this.#services.folders.answers(root))) return;
    const names = [...this.#hinted];
    if (isWriting()) return names.forEach((name) => this.#hint(name));
    this.#hinted.clear();
    const files = await this.#withDeferred();
    const { changes, untouched } = await lookAt(
      root,
      names.flatMap((name) => files.get(name) ?? []),
    );
    // The commits that were under way are answered: what they say of a file is newer than the look.
    await owner.betweenWrites(async () => {});
    const now = await this.#withDeferred();
    const isCurrent = ({ file }: { readonly file: RememberedFile }): boolean => isSame(now.get(file.path), file) && !isWriting();
    for (const change of changes) if (!isCurrent(change)) this.#hint(change.file.path);
    this.#renew(untouched);
    const current = changes.filter(isCurrent);
    if (current.length > 0 && !this.#isClosed) await owner.commit(filesChanged({ changes: current, untold: [] }));
  }

  /** The files of the agent as they are committed, with what is deferred. */
  async #withDeferred(): Promise<FilesByPath> {
    const files = await this.#files();
    const deferred = this.#scope.owner.deferredFiles;
    return deferred.length === 0 ? files : new Map([...files, ...deferred.map((row) => [row.path, remembered(row)] as const)]);
  }

  /** The files of the agent as they are committed. They are read between two writes, so that none is missed. */
  async #files(): Promise<FilesByPath> {
    const { sql, rememberedFiles } = this.#services;
    const { owner } = this.#scope;
    const known = rememberedFiles.of(this);
    if (known !== null) return known;
    return owner.betweenWrites(async () => {
      const rows = await readNewestFiles(sql, owner.lease.agentId);
      const files: FilesByPath = new Map(rows.map((file) => [file.path, file]));
      if (!this.#isClosed) rememberedFiles.keep(this, files);
      return files;
    });
  }

  /** Remembers that what touched files left their contents as they were: they need not be read again. */
  #renew(untouched: readonly { readonly file: RememberedFile; readonly stamp: string }[]): void {
    const files = this.#services.rememberedFiles.of(this);
    for (const { file, stamp } of untouched) if (files?.get(file.path) === file) files.set(file.path, { ...file, stamp });
  }

  /** Work whose failure costs only a hint. */
  async #background(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#services.logger.warn(
        `changes in files of agent ${this.#scope.owner.lease.agentId} could not be looked for (${withCause(error)}): the next step looks again`,
      );
    }
  }
}

function remembered({ path, callId, digest, stamp, bytes }: KnownFileRow): RememberedFile {
  return { path, callId, digest, stamp, bytes: Number(bytes), change: null, isTold: false };
}

/** True if a call has noted nothing of the file since, and no other look has found its change. */
function isSame(now: RememberedFile | undefined, seen: RememberedFile): boolean {
  return now?.callId === seen.callId && now.change === seen.change;
}
