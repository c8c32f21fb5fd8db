import type { LogHead } from "../cursor.ts";
import type { EventKind } from "../event.ts";
import type { Scope } from "../scope.ts";
import type { ReaderPage } from "./pages.ts";
import type { Told } from "./reader.ts";

/**
 * What an encoder makes of a page. `isLasting`: it is of the page alone, and of no row that may change. `unavailable`: rows that it
 * needs are in a database that does not answer now.
 */
export type Answer =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly isLasting: boolean }
  | { readonly kind: "unavailable"; readonly error: unknown }
  | { readonly kind: "failed"; readonly error: unknown };

/** Makes pages to what readers are sent. */
export type Encoder = {
  /** The same text for all who are sent the same bytes for the same page; null for what is one reader's alone. */
  readonly asks: string | null;
  readonly answer: (page: ReaderPage) => Promise<Answer>;
};

/** The part of the log that a stream is of, the kinds of events with which it ends, and how its pages are encoded. */
export type FeedRequest = { readonly scope: Scope; readonly until: readonly EventKind[] | null; readonly encoder: Encoder };

/**
 * A page as it is sent. `start`: the position before its first event, or that which it covers if it has none. `isNotice`: it has no
 * events, and tells of an outage.
 */
export type EncodedPage = {
  readonly head: LogHead;
  readonly start: number;
  readonly told: Told;
  readonly isLast: boolean;
  readonly isNotice: boolean;
  readonly isLasting: boolean;
  readonly bytes: Uint8Array;
};

type Kept = { readonly answers: Answers; readonly after: number; readonly page: EncodedPage };

/** The memory for encoded pages of all selections of a server together, in bytes and in pages. */
const KEPT = { bytes: 32 * 1024 * 1024, pages: 2_000 };

/** The newest encoded pages of a server, whatever they are of: the oldest are dropped for newer ones. */
export class KeptPages {
  readonly #kept = new Set<Kept>();
  #bytes = 0;

  add(kept: Kept): void {
    this.#kept.add(kept);
    this.#bytes += kept.page.bytes.length;
    for (const oldest of this.#kept) {
      if (this.#bytes <= KEPT.bytes && this.#kept.size <= KEPT.pages) return;
      oldest.answers.drop(oldest);
    }
  }

  remove(kept: Kept): void {
    if (this.#kept.delete(kept)) this.#bytes -= kept.page.bytes.length;
  }
}

/**
 * The encoded pages of one selection, by the place after which they come: who is at the same place a little later, such as many who
 * connect again at once, or a reader that was backed up, is sent the very same bytes.
 */
export class Answers {
  readonly #all: KeptPages;
  readonly #kept = new Map<number, Kept>();
  /** The answers that are under way, by their pages' bounds. */
  readonly #underway = new Map<string, Promise<Answer>>();

  constructor(all: KeptPages) {
    this.#all = all;
  }

  /** The page after a place, for a reader who was last told of that place; null if it is to be read. `head` is that of the log now. */
  after(place: number, isFirst: boolean, head: LogHead): EncodedPage | null {
    const page = this.#kept.get(place)?.page;
    if (page === undefined || place < head.floor) return null;
    // A page without news is only for who comes first. What it says of the end of the log, or of rows, holds until the log grows.
    const isNews = isFirst || page.told.covered > place;
    const holds = page.isLasting && !page.told.isAtHead;
    return isNews && (holds || page.head.position === head.position) ? page : null;
  }

  /** The answer to a page that comes after a place: those who ask at once, or a little later, share it. */
  once(place: number, page: ReaderPage, answer: () => Promise<Answer>): Promise<Answer> {
    const kept = this.#kept.get(place)?.page;
    if (kept !== undefined && page.outage === null && kept.told.covered === page.covered && kept.head === page.head)
      return Promise.resolve({ kind: "bytes", bytes: kept.bytes, isLasting: kept.isLasting });
    const key = `${place} ${page.covered} ${page.head.position} ${page.outage === null}`;
    const known = this.#underway.get(key);
    if (known !== undefined) return known;
    const asked = answer().finally(() => this.#underway.delete(key));
    this.#underway.set(key, asked);
    return asked;
  }

  keep(place: number, page: EncodedPage): void {
    const before = this.#kept.get(place);
    if (before !== undefined) this.drop(before);
    const kept = { answers: this, after: place, page };
    this.#kept.set(place, kept);
    this.#all.add(kept);
  }

  drop(kept: Kept): void {
    if (this.#kept.get(kept.after) === kept) this.#kept.delete(kept.after);
    this.#all.remove(kept);
  }

  clear(): void {
    for (const kept of this.#kept.values()) this.drop(kept);
  }
}
