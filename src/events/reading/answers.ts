import type { LogHead, Scope } from "../cursor.ts";
import type { EventKind } from "../event.ts";
import type { ReaderPage } from "./pages.ts";
import type { Told } from "./reader.ts";

/**
 * The result of encoding a page. `isLasting`: it depends on the page alone, not on rows that may change. `unavailable`:
 * it needs rows during an outage.
 */
export type Answer =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly isLasting: boolean }
  | { readonly kind: "unavailable"; readonly error: unknown }
  | { readonly kind: "failed"; readonly error: unknown };

export type Encoder = {
  /** Equal for readers that get equal bytes for a page; null if no other reader does. */
  readonly asks: string | null;
  readonly answer: (page: ReaderPage) => Promise<Answer>;
};

export type FeedRequest = { readonly scope: Scope; readonly until: readonly EventKind[] | null; readonly encoder: Encoder };

/** An encoded page. `isNotice`: it has no events, and reports an outage. The other fields are those of its ReaderPage. */
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

/** The bounds of all encoded pages of a server, in bytes and in pages. */
const KEPT = { bytes: 32 * 1024 * 1024, pages: 2_000 };

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
 * The encoded pages of one selection, by the position before them. Readers at the same position a little later get the
 * same bytes: clients that reconnect together, or a reader that was backed up.
 */
export class Answers {
  readonly #all: KeptPages;
  readonly #kept = new Map<number, Kept>();
  readonly #underway = new Map<string, Promise<Answer>>();

  constructor(all: KeptPages) {
    this.#all = all;
  }

  /**
   * The kept page after a position; null if it must be read. `isFirst`: the reader has had no page. `head`: the present
   * head of the log.
   */
  after(place: number, isFirst: boolean, head: LogHead): EncodedPage | null {
    const page = this.#kept.get(place)?.page;
    if (page === undefined || place < Math.max(head.floor, head.erased)) return null;
    // An empty page is for new readers only. Its head, and the rows of an answer, are valid until the log grows.
    const isNews = isFirst || page.told.covered > place;
    const holds = page.isLasting && !page.told.isAtHead;
    return isNews && (holds || page.head.position === head.position) ? page : null;
  }

  /** The answer to a page after a position, shared by all who ask for it at the same time or a little later. */
  once(place: number, page: ReaderPage, answer: () => Promise<Answer>): Promise<Answer> {
    const kept = this.#kept.get(place)?.page;
    if (kept !== undefined && page.outage === null && kept.told.covered === page.covered && kept.head === page.head)
      return Promise.resolve({ kind: "bytes", bytes: kept.bytes, isLasting: kept.isLasting });
    const key = `${place} ${page.covered} ${page.head.position} ${page.outage === null}`;
    const known = this.#underway.get(key);
    if (known !== undefined) return known;
    const asked = answer()
      .then(inOwnMemory)
      .finally(() => this.#underway.delete(key));
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

/** A small Buffer holds the whole pool that it is a part of: kept for long, it would take far more than its bytes. */
function inOwnMemory(answer: Answer): Answer {
  if (answer.kind !== "bytes" || answer.bytes.buffer.byteLength === answer.bytes.length) return answer;
  return { ...answer, bytes: new Uint8Array(answer.bytes) };
}
