import type { Scope } from "../../src/events/cursor.ts";
import type { EventKind } from "../../src/events/event.ts";
import type { Encoder } from "../../src/events/reading/answers.ts";
import { Feeds } from "../../src/events/reading/feed.ts";
import type { ReaderPage } from "../../src/events/reading/pages.ts";
import { type Ending, type Line, Reader, type Admission } from "../../src/events/reading/reader.ts";
import type { Tails } from "../../src/events/reading/tails.ts";

/** Somebody who is always admitted. */
export const ADMITTED: Admission = { isFresh: () => true, refreshed: () => Promise.resolve(true), watch: () => () => {} };

const pages = new WeakMap<Uint8Array, ReaderPage>();

/** An encoder whose bytes are known to `pageOf`. */
export function pageEncoder(asks: string | null): Encoder {
  return {
    asks,
    answer: (page) => {
      const bytes = new TextEncoder().encode(JSON.stringify(page.events.map(({ position }) => position)));
      pages.set(bytes, page);
      return Promise.resolve({ kind: "bytes", bytes, isLasting: true });
    },
  };
}

/** The page of which a pageEncoder made the bytes. */
export function pageOf(bytes: Uint8Array): ReaderPage {
  const page = pages.get(bytes);
  if (page === undefined) throw new Error("these bytes are of no page");
  return page;
}

/** The pages of one reader, who takes the next one when it is asked for. */
export type Followed = {
  next(): Promise<IteratorResult<ReaderPage, undefined>>;
  return(): Promise<IteratorResult<ReaderPage, undefined>>;
};

/** Follows the log as a feed of one, which begins when its first page is asked for. */
export function follow(
  tails: Tails,
  { scope, after, until }: { readonly scope: Scope; readonly after: number; readonly until: readonly EventKind[] | null },
): Followed {
  const line = new PulledLine(pageOf, (error) => {
    throw error;
  });
  const reader = new Reader(line, ADMITTED, () => line.over());
  let hasBegun = false;
  return {
    next: () => {
      if (!hasBegun)
        new Feeds(tails).open(
          { scope, until, encoder: pageEncoder(null) },
          { kind: "after", position: after, head: after },
          reader,
        );
      hasBegun = true;
      return line.next();
    },
    return: () => {
      reader.leave();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

/** A line that takes one answer each time that somebody asks for one. */
export class PulledLine<Item> implements Line {
  readonly waitingBytes = 0;
  readonly #itemOf: (answer: Uint8Array) => Item;
  readonly #lastOf: (error: unknown) => Item;
  readonly #items: Item[] = [];
  #ending: Ending | null = null;
  #isWanted = true;
  #changed = Promise.withResolvers<void>();

  /** What an answer is to whoever asks, and what the error is with which the stream ends. */
  constructor(itemOf: (answer: Uint8Array) => Item, lastOf: (error: unknown) => Item) {
    this.#itemOf = itemOf;
    this.#lastOf = lastOf;
  }

  send(answer: Uint8Array): boolean {
    this.#items.push(this.#itemOf(answer));
    this.#isWanted = false;
    this.#change();
    return false;
  }

  async drained(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#change());
    while (!this.#isWanted && !signal.aborted) await this.#changed.promise;
  }

  end(ending: Ending): void {
    this.#ending = ending;
    this.#change();
  }

  over(): void {
    this.#ending ??= { kind: "complete" };
    this.#change();
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) return { done: false, value: item };
      if (this.#ending?.kind === "failed") {
        const { error } = this.#ending;
        this.#ending = { kind: "complete" };
        return { done: false, value: this.#lastOf(error) };
      }
      if (this.#ending !== null) return { done: true, value: undefined };
      this.#isWanted = true;
      this.#change();
      await this.#changed.promise;
    }
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
