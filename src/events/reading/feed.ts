import { setImmediate as macrotask, setTimeout as delay } from "node:timers/promises";
import { AGAIN_MS } from "../../db/retry-while-unavailable.ts";
import { aborted } from "../../lib/aborted.ts";
import { scopeKey } from "../scope.ts";
import { Pages, type ReaderPage, type Start } from "./pages.ts";
import { CATCHING_UP, HELD, LIVE, type Reader, type ReaderHome, type ReaderState, type Told } from "./reader.ts";
import { Answers, KeptPages, type Answer, type Encoder, type EncodedPage, type FeedRequest } from "./answers.ts";
import type { Tails } from "./tails.ts";

/** A page that the database does not answer for is tried so often, each time when the outage is over. */
const TRIES = 20;

/** The feeds of those who want the same and are sent the same. `lead` is the one at the head of the log whom others join. */
type Selection = { readonly key: string; readonly answers: Answers; feeds: number; lead: Feed | null };

/**
 * The feeds of a server. A feed is one place in the log, and the readers who have everything up to it: a page is read, encoded and made
 * to bytes once, and each reader is sent the bytes. Everybody begins as a feed of one. At the head of the log feeds of the same selection
 * become one; and a reader for whom something is different, such as one that is backed up, goes on as a feed of one. So each reader's
 * pages are contiguous (invariant 2), and nobody waits for another (invariant 10).
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

  /** Sends a reader every page from the start on. The reader says when it is over. */
  open(request: FeedRequest, start: Start, reader: Reader): void {
    if (reader.isOver) return;
    this.readers += 1;
    const { scope, until, encoder } = request;
    const asks = encoder.asks ?? `reader ${(this.#own += 1)}`;
    const key = JSON.stringify([scopeKey(scope), until?.toSorted() ?? null, asks]);
    const selection = this.#selections.get(key) ?? { key, answers: new Answers(this.#kept), feeds: 0, lead: null };
    this.#selections.set(key, selection);
    this.begin(selection, request, start, reader, true);
  }

  /** A feed of one. It may join others at once, or only after a page that it has read itself. */
  begin(selection: Selection, request: FeedRequest, start: Start, reader: Reader, mayJoin: boolean): void {
    selection.feeds += 1;
    this.size += 1;
    void new Feed(this, selection, request, start, reader, mayJoin).run();
  }

  over(selection: Selection): void {
    this.size -= 1;
    selection.feeds -= 1;
    if (selection.feeds > 0) return;
    selection.answers.clear();
    if (this.#selections.get(selection.key) === selection) this.#selections.delete(selection.key);
  }
}

/** A place in the log, and those who have everything up to it. It is over when nobody is left. */
class Feed implements ReaderHome {
  readonly #feeds: Feeds;
  readonly #selection: Selection;
  readonly #request: FeedRequest;
  readonly #encoder: Encoder;
  readonly #pages: Pages;
  readonly #readers = new Set<Reader>();
  readonly #ending = new AbortController();
  /** True while the next page is waited for: what was read before was sent. */
  #isListening = false;
  /** True while its only reader must take something, or be asked about, or a page needs what is away. */
  #isHeldUp = true;
  /** The page that is being made to bytes. */
  #page: ReaderPage | null = null;
  /** False as long as the page that made its reader go alone may still be to come. */
  #mayJoin: boolean;

  constructor(feeds: Feeds, selection: Selection, request: FeedRequest, start: Start, reader: Reader, mayJoin: boolean) {
    this.#feeds = feeds;
    this.#selection = selection;
    this.#request = request;
    this.#encoder = request.encoder;
    this.#mayJoin = mayJoin;
    this.#pages = new Pages(feeds.tails, request, start, reader.told, this.#ending.signal);
    this.#take(reader);
  }

  /** True if it tells its readers what is new, and may be joined as soon as it has told them. */
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

  /** Resolves when it is over. Never rejects: its readers hear why. */
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
      // Who has more than the last page goes on.
      this.#scatter();
      this.#pages.end();
      if (this.#selection.lead === this) this.#selection.lead = null;
      this.#feeds.over(this.#selection);
    }
  }

  /** Its readers join the feed at the head of the log, if they are there, and there is one; else this may become it. */
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
    // It may after the next page, which both are waiting for, or telling.
    if (!lead.#isListening || told.covered < lead.#pages.covered) return false;
    for (const reader of this.#readers) {
      reader.state = LIVE;
      lead.#take(reader);
    }
    this.#readers.clear();
    return true;
  }

  /** The next page, as others were sent it, or anew; null when it ends. */
  async #next(): Promise<EncodedPage | null> {
    const { answers } = this.#selection;
    const { told, covered, head, isOpening } = this.#pages;
    // What comes with requests that are open is no other's at the same place.
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

  /** The answer to a page; null if nobody is left. While rows that it needs are in a database that is away, the readers are told so. */
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
        await this.#tell({ ...page, events: [], covered: before, start: before, outage, isLast: false });
      }
      using left = aborted(signal);
      await Promise.race([tails.outageOver(), left.promise.catch(() => {})]);
    }
  }

  /** Tells the readers of an outage, in the place of a page that needs what is away. */
  async #tell(notice: ReaderPage): Promise<void> {
    const answer = await this.#encode(null, notice);
    if (answer.kind === "bytes") await this.#send(encodedPage(notice, answer));
  }

  /** An answer that others at the same place may share; null for what is this feed's alone. */
  #encode(place: number | null, page: ReaderPage): Promise<Answer> {
    if (place === null) return this.#encoder.answer(page);
    return this.#selection.answers.once(place, page, () => this.#encoder.answer(page));
  }

  async #send(page: EncodedPage): Promise<void> {
    const { slices } = this.#feeds.tails;
    if (this.#readers.size > 1) return slices.each(this.#readers, (reader) => this.#offer(reader, page));
    await slices.take(1);
    const [only] = this.#readers;
    if (only === undefined) return;
    if (!mayBeShown(only, page)) {
      this.#isHeldUp = true;
      // Whoever is refused ends by that. It is fresh when this resolves.
      await only.admission.refreshed();
    }
    if (!only.isOver && this.#isFor(only, page)) this.#give(only, page);
  }

  #offer(reader: Reader, page: EncodedPage): void {
    if (!this.#isFor(reader, page)) return;
    if (mayBeShown(reader, page)) this.#give(reader, page);
    else this.#goAlone(reader);
  }

  /** False for one who joined with all of a page, and for one with a part of it, who goes alone. */
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
    // It comes back when it has taken what waits for it.
    if (!isTaken && this.#readers.size > 1) this.#goAlone(reader, true);
  }

  /** A reader goes on from its own place. */
  #goAlone(reader: Reader, mayJoin = false): void {
    const { told } = reader;
    if (told === null) throw new Error("a reader goes alone from the page that it was sent last");
    this.#lose(reader);
    reader.state = told.isOutage ? HELD : CATCHING_UP;
    const start = { kind: "after", position: told.covered, head: told.covered } as const;
    this.#feeds.begin(this.#selection, this.#request, start, reader, mayJoin);
  }

  /** A reader ends with an error of what comes next for it. Each of several meets that by itself: its place may be another. */
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
  const { covered, events, head, outage, start, isLast } = page;
  const told: Told = { covered, at: performance.now(), isAtHead: covered === head.position, isOutage: outage !== null };
  return { head, start, told, isLast, isNotice: outage !== null && events.length === 0, isLasting, bytes };
}

/** A notice of an outage shows nothing of the log, and while the database is away nobody can be asked about. */
function mayBeShown({ admission }: Reader, { isNotice }: EncodedPage): boolean {
  return isNotice || admission.isFresh();
}

/** True if a reader joined with more than a page has. */
function hasAllOf({ told }: Reader, covered: number): boolean {
  return told !== null && told.covered >= covered;
}

/** The state of a reader that has taken all that it was told. */
function stateOf(told: Told | null): ReaderState {
  if (told === null) return CATCHING_UP;
  return told.isOutage ? HELD : told.isAtHead ? LIVE : CATCHING_UP;
}
