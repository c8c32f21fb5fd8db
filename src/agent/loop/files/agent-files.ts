import { setImmediate as macrotask } from "node:timers/promises";
import type { KnownFileRow, OwnerChange } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { FILE_CHANGE_KINDS } from "../../../events/snapshots.ts";
import { withCause } from "../../../lib/text.ts";
import type { AnsweringFolders } from "../../workspace/answering-folders.ts";
import { checkFiles } from "../../workspace/changes/file-check.ts";
import type { FileWatch, FilesByPath } from "../../workspace/changes/file-watches.ts";
import { readNewestFiles, type RememberedFile } from "../../workspace/known-files.ts";
import { eventsOnly } from "../commits/commit.ts";
import { filesChanged, NO_NEWS, type FileNews } from "../commits/files-changed.ts";
import type { Owner } from "../owner.ts";
import type { AgentServices } from "../scope.ts";
import type { AgentView } from "../view.ts";
import { FOLDER_HUNG } from "../waiting-for.ts";

/** Files are watched once an agent is held for this long, in ms: short turns need no watch. */
const WATCHED_AFTER_MS = 250;
/** The delay between a hint and its check, in ms: a program that writes a file in several steps is usually done by then. */
const SETTLED_AFTER_MS = 100;

export type FileServices = Pick<AgentServices, "sql" | "clock" | "logger" | "fileWatches" | "folders" | "rememberedFiles">;

export type FileScope = {
  readonly owner: Owner;
  /** True while a call runs that may write files and note them at its end: until then its writes look like those of others. */
  readonly isWriting: () => boolean;
};

/**
 * The files that an agent knows, as its owner sees them under the lease. The rows are read once and then follow the
 * owner's commits. Changes by others are found in two ways. The check at the start of each step covers all files and is
 * authoritative. During a step, a watch gives hints, so that FILE_CHANGED comes early.
 */
export class AgentFiles {
  readonly #services: FileServices;
  readonly #scope: FileScope;
  readonly #hinted = new Set<string>();
  #root: string | null = null;
  #watch: FileWatch | null = null;
  #watching: NodeJS.Timeout | null = null;
  #settling: NodeJS.Timeout | null = null;
  /** Checks run one at a time, so that no change is found twice. */
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(services: FileServices, scope: FileScope) {
    this.#services = services;
    this.#scope = scope;
  }

  begin({ workspace }: Pick<AgentView, "workspace">): void {
    this.#root = workspace;
    if (this.#isClosed || this.#watching !== null) return;
    this.#watching = setTimeout(() => this.#background(this.#startWatch()), WATCHED_AFTER_MS).unref();
  }

  committed({ knownFiles = [], fileChanges = [] }: OwnerChange): void {
    const { rememberedFiles } = this.#services;
    const files = rememberedFiles.of(this);
    if (files === null) return;
    for (const row of knownFiles) files.set(row.path, remembered(row));
    for (const { path, callId, change } of fileChanges) {
      const file = files.get(path);
      const kind = FILE_CHANGE_KINDS.find((known) => known === change);
      if (file?.callId === callId && kind !== undefined) files.set(path, { ...file, change: kind });
    }
    if (knownFiles.length === 0) return;
    rememberedFiles.keep(this, files);
    this.#watchMore(knownFiles.map(({ path }) => path));
  }

  /** Checks all known files while no call of the agent runs. */
  async look({ workspace, knowsFiles }: Pick<AgentView, "workspace" | "knowsFiles">): Promise<FileNews> {
    if (knowsFiles) return this.#inTurn(() => this.#lookAtAll(workspace));
    const { rememberedFiles } = this.#services;
    if (rememberedFiles.of(this) === null) rememberedFiles.keep(this, new Map());
    return NO_NEWS;
  }

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
    const files = await this.#withDeferred();
    const { changes, untouched } = await checkFiles(workspace, [...files.values()]);
    this.#renew(untouched);
    const { notices } = await this.#scope.owner.view();
    const known = notices.flatMap(({ source, ref }) => (source === "FILE" && files.get(ref)?.change === null ? [ref] : []));
    return { changes, known };
  }

  async #startWatch(): Promise<void> {
    const root = this.#root;
    if (this.#isClosed || root === null) return;
    const files = await this.#files();
    if (this.#isClosed || !(await this.#services.folders.answers(root))) return;
    this.#watch = this.#services.fileWatches.open(root, (name) => this.#hint(name));
    this.#watchMore(files.keys());
  }

  /** Watches more files, and checks them once: a file removed before its watch began gives no hint. */
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

  async #lookAtHinted(): Promise<void> {
    const { owner, isWriting } = this.#scope;
    const root = this.#root;
    // A step's check commits its finds in the same tick.
    await macrotask();
    if (this.#isClosed || root === null || !(await this.#services.folders.answers(root))) return;
    const names = [...this.#hinted];
    if (isWriting()) return names.forEach((name) => this.#hint(name));
    this.#hinted.clear();
    const files = await this.#withDeferred();
    const { changes, untouched } = await checkFiles(
      root,
      names.flatMap((name) => files.get(name) ?? []),
    );
    // Commits under way are stored first: their state of a file is newer than this check.
    await owner.betweenWrites(async () => {});
    const now = await this.#withDeferred();
    const isCurrent = ({ file }: { readonly file: RememberedFile }): boolean => isSame(now.get(file.path), file) && !isWriting();
    for (const change of changes) if (!isCurrent(change)) this.#hint(change.file.path);
    this.#renew(untouched);
    const current = changes.filter(isCurrent);
    if (current.length === 0 || this.#isClosed) return;
    const { agentId: id, tenant } = owner.lease;
    await owner.commit(filesChanged({ id, tenant }, current, this.#services.clock.now()));
  }

  async #withDeferred(): Promise<FilesByPath> {
    const files = await this.#files();
    const deferred = this.#scope.owner.deferredFiles;
    return deferred.length === 0 ? files : new Map([...files, ...deferred.map((row) => [row.path, remembered(row)] as const)]);
  }

  /** The agent's files as committed. They are read between two writes, so that none is missed. */
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

  #renew(untouched: readonly { readonly file: RememberedFile; readonly stamp: string }[]): void {
    const files = this.#services.rememberedFiles.of(this);
    for (const { file, stamp } of untouched) if (files?.get(file.path) === file) files.set(file.path, { ...file, stamp });
  }

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
  return { path, callId, digest, stamp, bytes: Number(bytes), change: null };
}

function isSame(now: RememberedFile | undefined, seen: RememberedFile): boolean {
  return now?.callId === seen.callId && now.change === seen.change;
}

/** Waits for the file system of an agent's folder if it hangs. Only this agent waits (invariant 13). */
export class FolderWait {
  readonly #folders: AnsweringFolders;
  readonly #owner: Owner;
  #isTold = false;

  constructor(folders: AnsweringFolders, owner: Owner) {
    this.#folders = folders;
    this.#owner = owner;
  }

  /** True if the agent's folder answers. Otherwise resolves when it answers, or when `other` resolves. */
  async isOver({ workspace }: AgentView, other: () => Promise<void>): Promise<boolean> {
    if (await this.#folders.answers(workspace)) {
      this.#isTold = false;
      return true;
    }
    if (!this.#isTold) {
      this.#isTold = true;
      const message = `the file system of ${workspace} does not answer: the agent continues when it does`;
      const error: AgentEventBody = { kind: "ERROR", severity: "WARN", phase: "SYSTEM", message, detail: FOLDER_HUNG };
      await this.#owner.commit(eventsOnly(error));
    }
    const woken = new AbortController();
    await Promise.race([this.#folders.answering(workspace, woken.signal), other()]);
    woken.abort();
    return false;
  }
}
