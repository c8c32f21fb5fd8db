import { basename, relative } from "node:path";
import { watch, type FSWatcher } from "chokidar";
import { globMatcher } from "../glob.ts";

/** The most files and folders of one watch, and of all of a server. Linux may allow as few as 8,192 to a user. */
const MOST_PLACES = { watch: 1_000, server: 4_000 };
/** Folders whose files are no news for people. */
const LEFT_OUT = new Set([".git", "node_modules"]);

/** The files and folders that all watches of a server cover. */
export type WatchedPlaces = { taken: number };

export type GlobWatchEvents = {
  /** A file that a pattern matches was made, changed or removed. */
  readonly changed: (path: string) => void;
  /** The folder has more files and folders than a watch covers, or the system refuses. */
  readonly limited: (problem: string) => void;
};

/**
 * Watches the files of a folder that patterns match, from now on: paths relative to the folder. Links are not followed;
 * `.git` and `node_modules` are left out, and hidden names if no pattern names one. A watch gives hints, and may lose some.
 */
export class GlobWatch {
  readonly #watcher: FSWatcher;
  readonly #all: WatchedPlaces;
  #places = 0;
  #isLimited = false;

  constructor(root: string, patterns: readonly string[], all: WatchedPlaces, { changed, limited }: GlobWatchEvents) {
    this.#all = all;
    const matchers = patterns.map((pattern) => globMatcher(pattern, false));
    const isMatch = (place: string): boolean => matchers.some((matches) => matches(relative(root, place)));
    const isHidden = (name: string): boolean => name.startsWith(".") && !patterns.some((pattern) => /(^|\/)\./.test(pattern));
    const limit = (problem: string): void => {
      if (!this.#isLimited) limited(problem);
      this.#isLimited = true;
    };
    this.#watcher = watch(root, {
      followSymlinks: false,
      ignoreInitial: true,
      ignored: (place, stats) => {
        if (place === root) return false;
        const name = basename(place);
        if (LEFT_OUT.has(name) || isHidden(name)) return true;
        if (stats === undefined) return false;
        if (stats.isFile() ? !isMatch(place) : !stats.isDirectory()) return true;
        const isFull = this.#places >= MOST_PLACES.watch || all.taken >= MOST_PLACES.server;
        if (isFull) limit(`more than ${MOST_PLACES.watch} files and folders, or ${MOST_PLACES.server} of all agents`);
        else this.#take(1);
        return isFull;
      },
    });
    this.#watcher.on("all", (event, place) => {
      if (event !== "addDir" && event !== "unlinkDir" && isMatch(place)) changed(relative(root, place));
    });
    this.#watcher.on("error", (error) => limit(error instanceof Error ? error.message : String(error)));
  }

  #take(places: number): void {
    this.#places += places;
    this.#all.taken += places;
  }

  async close(): Promise<void> {
    this.#take(-this.#places);
    await this.#watcher.close();
  }
}
