import { join } from "node:path";
import { watch, type FSWatcher } from "chokidar";
import { LRUCache } from "lru-cache";
import { withCause } from "../../../lib/text.ts";
import type { Logger } from "../../../telemetry/log.ts";
import type { RememberedFile } from "../known-files.ts";

/** The most watched files of one agent, and of one server. Linux may allow as few as 8,192 to a user. */
const MOST_WATCHED = { agent: 256, server: 4_096 };
const PAUSE_MS = 60_000;

/**
 * The watched files of this server, for the owners of agents that know them. A watch gives hints that may be lost:
 * checks find all changes. If the system refuses further watches, that is logged once, and checks alone find changes.
 */
export class FileWatches {
  readonly #logger: Pick<Logger, "warn">;
  #watched = 0;
  #pausedUntil = 0;
  #hasWarned = false;

  constructor(logger: Pick<Logger, "warn">) {
    this.#logger = logger;
  }

  get size(): number {
    return this.#watched;
  }

  /** Watches files of one agent, whose workspace has this real path. `onChange` gets the name of a file that may have changed. */
  open(root: string, onChange: (name: string) => void): FileWatch {
    return new FileWatch(root, onChange, {
      take: () => this.#take(),
      release: (files) => (this.#watched -= files),
      refused: (error) => this.#refused(error),
    });
  }

  #take(): boolean {
    if (this.#watched >= MOST_WATCHED.server || performance.now() < this.#pausedUntil) return false;
    this.#watched += 1;
    return true;
  }

  #refused(error: unknown): void {
    this.#pausedUntil = performance.now() + PAUSE_MS;
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#logger.warn(
      `files that agents know cannot be watched (${withCause(error)}): what changes in them is found when the agent's next step begins. On Linux raise fs.inotify.max_user_watches and max_user_instances`,
    );
  }
}

type Share = {
  readonly take: () => boolean;
  readonly release: (files: number) => void;
  readonly refused: (error: unknown) => void;
};

export class FileWatch {
  readonly #root: string;
  readonly #onChange: (name: string) => void;
  readonly #share: Share;
  readonly #names = new Map<string, string>();
  #watcher: FSWatcher | null = null;

  constructor(root: string, onChange: (name: string) => void, share: Share) {
    this.#root = root;
    this.#onChange = onChange;
    this.#share = share;
  }

  /** Watches more files within the limits. Returns the new names. Each existing file gives a hint once it is watched. */
  add(names: Iterable<string>): readonly string[] {
    const added = new Map<string, string>();
    for (const name of names) {
      const place = join(this.#root, name);
      if (this.#names.has(place)) continue;
      if (this.#names.size >= MOST_WATCHED.agent || !this.#share.take()) break;
      this.#names.set(place, name);
      added.set(place, name);
    }
    if (added.size > 0) (this.#watcher ??= this.#start()).add([...added.keys()]);
    return [...added.values()];
  }

  close(): void {
    this.#share.release(this.#names.size);
    this.#names.clear();
    void this.#watcher?.close();
    this.#watcher = null;
  }

  #start(): FSWatcher {
    // The folder of a missing file would be watched in its place: it is ignored.
    const watcher = watch([], {
      followSymlinks: false,
      depth: 0,
      ignored: (path) => !this.#names.has(path),
    });
    watcher.on("all", (event, place) => {
      const name = this.#names.get(place);
      if (name === undefined) return;
      // A removed file is no longer watched.
      if (event === "unlink") {
        this.#names.delete(place);
        this.#share.release(1);
      }
      this.#onChange(name);
    });
    watcher.on("error", (error) => {
      if (watcher !== this.#watcher) return;
      this.close();
      this.#share.refused(error);
    });
    return watcher;
  }
}

const TOGETHER_BYTES = 64 * 1024 * 1024;
const FILE_BYTES = 500;

export type FilesByPath = Map<string, RememberedFile>;

/** The known files of agents, for this server's owners, in a cache of bounded size. Dropped ones are read again. */
export class RememberedFiles {
  readonly #files = new LRUCache<object, { readonly files: FilesByPath }>({
    maxSize: TOGETHER_BYTES,
    sizeCalculation: ({ files }) => (files.size + 1) * FILE_BYTES,
  });

  get bytes(): number {
    return this.#files.calculatedSize;
  }

  of(owner: object): FilesByPath | null {
    return this.#files.get(owner)?.files ?? null;
  }

  keep(owner: object, files: FilesByPath): void {
    this.#files.set(owner, { files });
  }

  forget(owner: object): void {
    this.#files.delete(owner);
  }
}
