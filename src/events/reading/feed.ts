import { setImmediate as macrotask, setTimeout as delay } from "node:timers/promises";
import { AGAIN_MS } from "../../db/sql.ts";
import { aborted } from "../../lib/aborted.ts";
import { scopeKey } from "../cursor.ts";
import { Pages, toldOf, type ReaderPage, type Start } from "./pages.ts";
import { CATCHING_UP, HELD, LIVE, type Reader, type ReaderHome, type ReaderState, type Told } from "./reader.ts";
import { Answers, KeptPages, type Answer, type Encoder, type EncodedPage, type FeedRequest } from "./answers.ts";
import type { Tails } from "./tails.ts";

/** How often a page is encoded again that needs rows of a database that does not answer. */
const TRIES = 20;

type Selection = {
  readonly key: string;
  readonly request: FeedRequest;
  readonly answers: Answers;
  feeds: number;
  lead: Feed | null;
};

/**
 * The feeds of a server. A feed is one position in the log and its readers. It reads and encodes a page once, and sends each reader the
 * bytes. Every reader begins as a feed of one. At the head of the log, feeds of one selection merge. A reader that is backed up, or must
 * be admitted again, continues as a feed of one. So the pages of a reader are contiguous (invariant 2), and no reader waits for another
 * (invariant 10).
 */
export class Feeds {
  readonly tails: Tails;
  readonly #selections = new Map<string, Selection>();
  readonly #kept = new KeptPages();
  #own = 0;
  size = 0;
  readers = 0;

  constructor(tails: Tails) {
    this.tails = tails;
  }

  open(request: FeedRequest, start: Start, reader: Reader): void {
    if (reader.isOver) return;
    this.readers += 1;
    const { scope, until, encoder } = request;
    const asks = encoder.asks ?? `reader ${(this.#own += 1)}`;
    const key = JSON.stringify([scopeKey(scope), until?.toSorted() ?? null, asks]);
    const selection = this.#selections.get(key) ?? { key, request, answers: new Answers(this.#kept), feeds: 0, lead: null };
    this.#selections.set(key, selection);
    this.begin(selection, start, reader, true);
  }

  begin(selection: Selection, start: Start, reader: Reader, mayJoin: boolean): void {
    selection.feeds += 1;
    this.size += 1;
    void new Feed(this, selection, start, reader, mayJoin).run();
  }

  over(selection: Selection): void {
    this.size -= 1;
    selection.feeds -= 1;
    if (selection.feeds > 0) return;
    selection.answers.clear();
    if (this.#selections.get(selection.key) === selection) this.#selections.delete(selection.key);
  }
}

class Feed implements ReaderHome {
  readonly #feeds: Feeds;
  readonly #selection: Selection;
  readonly #encoder: Encoder;
  readonly #pages: Pages;
  readonly #readers = new Set<Reader>();
  readonly #ending = new AbortController();
  #isListening = false;
  #isHeldUp = true;
  #page: ReaderPage | null = null;
  /** False until the next page is sent, if the reader left another feed because of that page. */
  #mayJoin: boolean;

  constructor(feeds: Feeds, selection: Selection, start: Start, reader: Reader, mayJoin: boolean) {
    this.#feeds = feeds;
    this.#selection = selection;
    this.#encoder = selection.request.encoder;
    this.#mayJoin = mayJoin;
    this.#pages = new Pages(feeds.tails, selection.request, start, reader.told, this.#ending.signal);
    this.#take(reader);
  }

  get isAtHead(): boolean {
    const { told } = this.#pages;
    return !this.#isHeldUp && this.#readers.size > 0 && told !== null && told.isAtHead && !told.isOutage;
  }

  leave(reader: Reader): void {
    this.#feeds.readers -= 1;
    this.#lose(reader);
  }

  #lose(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) this.#ending.abort();
  }

  #take(reader: Reader): void {
    reader.home = this;
    this.#readers.add(reader);
  }

  /** Resolves when the feed is over. Never rejects: readers end with the error. */
  async run(): Promise<void> {
    const { signal } = this.#ending;
    try {
      while (!signal.aborted && (await this.#pages.begin())) {
        const [only] = this.#readers;
        if (only !== undefined && this.#readers.size === 1) {
          this.#isHeldUp = true;
          await only.line.drained(signal);
          if (signal.aborted) break;
          only.state = stateOf(only.told);
        }
        if (this.#joins()) break;
        this.#isHeldUp = false;
        const page = await this.#next();
        if (page === null) break;
        await this.#send(page);
        this.#mayJoin = true;
        if (!page.told.isAtHead) await macrotask();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      // Readers that were ahead of the last page continue.
      this.#scatter();
      this.#pages.end();
      if (this.#selection.lead === this) this.#selection.lead = null;
      this.#feeds.over(this.#selection);
    }
  }

  #joins(): boolean {
    const { told } = this.#pages;
    const isOfOne = this.#encoder.asks === null;
    if (isOfOne || !this.#mayJoin || told === null || !told.isAtHead || told.isOutage) return false;
    const { lead } = this.#selection;
    if (lead === this) return false;
    if (lead === null || !lead.isAtHead) {
      this.#selection.lead = this;
      return false;
    }
    // The lead is sending a page, or is ahead: try again after the next page.
    if (!lead.#isListening || told.covered < lead.#pages.covered) return false;
    for (const reader of this.#readers) {
      reader.state = LIVE;
      lead.#take(reader);
    }
    this.#readers.clear();
    return true;
  }

  async #next(): Promise<EncodedPage | null> {
    const { answers } = this.#selection;
    const { told, covered, head, isOpening } = this.#pages;
    // Open requests are read for this reader alone.
    const place = isOpening ? null : covered;
    const known = place === null || told?.isOutage === true ? null : answers.after(place, told === null, head);
    if (known !== null) {
      this.#pages.pass(known.told, known.isLast);
      return known;
    }
    this.#isListening = true;
    const page = await this.#pages.next();
    this.#isListening = false;
    if (page === null) return null;
    this.#page = page;
    const answer = await this.#answered(place, page);
    this.#page = null;
    if (answer === null) return null;
    const encoded = encodedPage(page, answer);
    if (place !== null && page.outage === null && this.#encoder.asks !== null) answers.keep(place, encoded);
    return encoded;
  }

  async #answered(place: number | null, page: ReaderPage): Promise<Bytes | null> {
    const { tails } = this.#feeds;
    const { signal } = this.#ending;
    let isTold = false;
    for (let tries = 0; ; tries += 1) {
      const answer = await this.#encode(place, page);
      if (signal.aborted) return null;
      if (answer.kind === "bytes") return answer;
      if (answer.kind === "failed" || tries === TRIES) throw answer.error;
      this.#isHeldUp = true;
      for (const reader of this.#readers) if (hasAllOf(reader, page.covered)) this.#goAlone(reader);
      await delay(AGAIN_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return null;
      const { outage } = tails;
      const [first] = page.events;
      if (outage !== null && first !== undefined && !isTold) {
        isTold = true;
        const before = first.position - 1;
        await this.#sendNotice({ ...page, events: [], covered: before, start: before, outage, isLast: false });
      }
      using left = aborted(signal);
      await Promise.race([tails.outageOver(), left.promise.catch(() => {})]);
    }
  }

  async #sendNotice(notice: ReaderPage): Promise<void> {
    const answer = await this.#encode(null, notice);
    if (answer.kind === "bytes") await this.#send(encodedPage(notice, answer));
  }

  /** `place`: the position by which feeds share the answer; null if it is this feed's alone. */
  #encode(place: number | null, page: ReaderPage): Promise<Answer> {
    if (place === null) return this.#encoder.answer(page);
    return this.#selection.answers.once(place, page, () => this.#encoder.answer(page));
  }

  async #send(page: EncodedPage): Promise<void> {
    const { tickBudget } = this.#feeds.tails;
    if (this.#readers.size > 1) return tickBudget.each(this.#readers, (reader) => this.#offer(reader, page));
    await tickBudget.take(1);
    const [only] = this.#readers;
    if (only === undefined) return;
    if (!mayBeShown(only, page)) {
      this.#isHeldUp = true;
      // A refusal ends the reader. Otherwise the admission is now fresh.
      await only.admission.refreshed();
    }
    if (!only.isOver && this.#isFor(only, page)) this.#give(only, page);
  }

  #offer(reader: Reader, page: EncodedPage): void {
    if (!this.#isFor(reader, page)) return;
    if (mayBeShown(reader, page)) this.#give(reader, page);
    else this.#goAlone(reader);
  }

  /** False if the reader has the page already. One that has a part of it continues alone. */
  #isFor(reader: Reader, { start, told }: EncodedPage): boolean {
    if (reader.told === null) return true;
    const { covered, isOutage } = reader.told;
    if (covered >= told.covered && isOutage === told.isOutage) return false;
    if (covered <= start) return true;
    this.#goAlone(reader);
    return false;
  }

  #give(reader: Reader, { told, isLast, bytes }: EncodedPage): void {
    const isTaken = reader.line.send(bytes);
    reader.told = told;
    if (isLast) return reader.end({ kind: "complete" });
    reader.state = isTaken ? stateOf(told) : CATCHING_UP;
    // It merges again when its line is drained.
    if (!isTaken && this.#readers.size > 1) this.#goAlone(reader, true);
  }

  #goAlone(reader: Reader, mayJoin = false): void {
    const { told } = reader;
    if (told === null) throw new Error("a reader continues alone only after its first page");
    this.#lose(reader);
    reader.state = told.isOutage ? HELD : CATCHING_UP;
    const start = { kind: "after", position: told.covered, head: told.covered } as const;
    this.#feeds.begin(this.#selection, start, reader, mayJoin);
  }

  /** Ends the only reader with the error of its next page. Several readers continue alone, each from its own position. */
  #fail(error: unknown): void {
    const [only] = this.#readers;
    const isOwn =
      only !== undefined && this.#readers.size === 1 && !hasAllOf(only, this.#page?.covered ?? this.#pages.covered + 1);
    if (isOwn) only.end({ kind: "failed", error });
    else this.#scatter();
  }

  #scatter(): void {
    for (const reader of this.#readers) this.#goAlone(reader);
  }
}

type Bytes = Extract<Answer, { readonly kind: "bytes" }>;

function encodedPage(page: ReaderPage, { bytes, isLasting }: Bytes): EncodedPage {
  const { events, head, outage, start, isLast } = page;
  return { head, start, told: toldOf(page), isLast, isNotice: outage !== null && events.length === 0, isLasting, bytes };
}

function mayBeShown({ admission }: Reader, { isNotice }: EncodedPage): boolean {
  return isNotice || admission.isFresh();
}

function hasAllOf({ told }: Reader, covered: number): boolean {
  return told !== null && told.covered >= covered;
}

function stateOf(told: Told | null): ReaderState {
  if (told === null) return CATCHING_UP;
  return told.isOutage ? HELD : told.isAtHead ? LIVE : CATCHING_UP;
}
