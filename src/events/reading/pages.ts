import { setImmediate as macrotask, setTimeout as delay } from "node:timers/promises";
import { StorageUnavailable } from "../../db/storage-error.ts";
import { CursorExpired, type LogHead } from "../cursor.ts";
import type { EventKind, TimelineEvent } from "../event.ts";
import type { LogPage } from "../log-page.ts";
import type { Scope } from "../scope.ts";
import type { Told } from "./reader.ts";
import type { Tail } from "./tail.ts";
import type { Tails } from "./tails.ts";

/** A cursor that has not moved for so long, in ms, is told where the log has gone, even if nothing was of its scope. */
const PATIENCE_MS = 30_000;
/** So many positions without anything of the scope, and an empty page tells how far the reading has come. */
const SKIPPED_POSITIONS = 10_000;

/** The time after which the log is read again, while the database is away, in ms. */
const AWAY_MS = 500;

/**
 * Where a stream begins: after a position, in a log that goes on to `head` at least; or with the requests that are open now, which all
 * later events of the scope follow.
 */
export type Start =
  { readonly kind: "after"; readonly position: number; readonly head: number } | { readonly kind: "open_requests" };

/** A page as readers are told it: everything of the scope after `start` and up to `covered` is in it. `isLast`: the stream ends with it. */
export type ReaderPage = LogPage & { readonly start: number; readonly isLast: boolean };

/** The requests that were open at a moment, as far as they are read; null before the first read. */
type Opening = { readonly after: number; readonly moment: number | null };

/**
 * A place in the log, and the next page after it: every later event of the scope, once, in order (invariant 2). History and present are
 * the same: at the head of the log, the next page is waited for. The first page comes at once, even empty.
 */
export class Pages {
  readonly #tails: Tails;
  readonly #scope: Scope;
  readonly #until: readonly EventKind[] | null;
  readonly #signal: AbortSignal;
  #tail: Tail | null = null;
  #release = (): void => {};
  #opening: Opening | null;
  /** The last of the requests that were open at a moment: they come with the first page of what is new. */
  #opened: { readonly events: readonly TimelineEvent[]; readonly moment: number } | null = null;
  #covered: number;
  /** The log goes on up to here at least, as a reader knows who came by it. */
  #leastHead: number;
  #isCaughtUp: boolean;
  #told: Told | null;
  #isOver = false;
  #pause: "none" | "turn" | "away" = "none";
  readonly #beganAt = performance.now();

  /** `told` is the last page of a reader that goes on from elsewhere. No page comes after `signal` has aborted. */
  constructor(
    tails: Tails,
    { scope, until }: { readonly scope: Scope; readonly until: readonly EventKind[] | null },
    start: Start,
    told: Told | null,
    signal: AbortSignal,
  ) {
    this.#tails = tails;
    this.#scope = scope;
    this.#until = until;
    this.#signal = signal;
    this.#opening = start.kind === "open_requests" ? { after: 0, moment: null } : null;
    this.#covered = start.kind === "after" ? start.position : 0;
    this.#leastHead = start.kind === "after" ? start.head : 0;
    this.#told = told;
    this.#isCaughtUp = told?.isAtHead ?? false;
  }

  /** The last page that was given. */
  get told(): Told | null {
    return this.#told;
  }

  /** The position up to which everything was told. */
  get covered(): number {
    return this.#told?.covered ?? this.#covered;
  }

  /** True if the stream has begun with the open requests, and is not through with them. */
  get isOpening(): boolean {
    return this.#opening !== null || this.#opened !== null;
  }

  /** The end of the log, as far as this server knows it. */
  get head(): LogHead {
    return this.#begunTail.head;
  }

  get #begunTail(): Tail {
    if (this.#tail === null) throw new Error("a place in the log is begun before it is read");
    return this.#tail;
  }

  /** Joins the log, however long the database stays away. False if `signal` aborts meanwhile. */
  async begin(): Promise<boolean> {
    while (this.#tail === null && !this.#signal.aborted) {
      try {
        const { tail, release } = await this.#tails.keep(this.#scope.tenant);
        this.#tail = tail;
        this.#release = release;
      } catch (error) {
        if (!(error instanceof StorageUnavailable)) throw error;
        await this.#away();
      }
    }
    await this.#catchUpTail();
    return !this.#signal.aborted;
  }

  /** A ring of another server may be under way, or lost: nobody is told that they are at the end before what they know of. */
  async #catchUpTail(): Promise<void> {
    let before = -1;
    while (this.#tail !== null && this.#tail.head.position < this.#leastHead && this.#tail.head.position > before) {
      before = this.#tail.head.position;
      await nullIfUnavailable(this.#tail.refresh());
    }
  }

  /** Leaves the log. */
  end(): void {
    this.#isOver = true;
    this.#release();
    this.#release = () => {};
  }

  /** A page that others were given after the same place is told in the place of the next one. */
  pass(told: Told, isLast: boolean): void {
    this.#covered = told.covered;
    this.#told = told;
    this.#isCaughtUp = told.isAtHead;
    this.#isOver = isLast;
    this.#pause = told.isAtHead ? "none" : "turn";
  }

  /** The next page that says something new; null after the last one, or when `signal` aborts. Throws CursorExpired if events after this place are gone. */
  async next(): Promise<ReaderPage | null> {
    const tail = this.#begunTail;
    while (!this.#isOver && !this.#signal.aborted) {
      if (this.#pause === "away") await this.#away();
      // At the head there is something to wait for; before it, others must have their turn.
      else if (this.#pause === "turn") await macrotask();
      const page = this.#opening === null ? await this.#later(tail) : await this.#open(this.#opening);
      if (page !== null) return page;
    }
    return null;
  }

  /** The next of the open requests; null if the last of them is left for the first page of what is new. */
  async #open({ after, moment }: Opening): Promise<ReaderPage | null> {
    const page = await nullIfUnavailable(this.#tails.readOpen(this.#scope, after, moment));
    this.#pause = page === null ? "away" : "none";
    if (this.#signal.aborted) return null;
    if (page === null) return this.#openLater();
    const [first] = page.events;
    if (first !== undefined && this.#until?.includes("PERMISSION_REQUIRED") === true)
      return this.#say({ ...page, events: [first], covered: first.position, start: first.position - 1, isLast: true });
    const end = moment ?? page.head.position;
    if (page.covered < end) {
      this.#opening = { after: page.covered, moment: end };
      // Only after it is nothing left out.
      return this.#say({ ...page, start: page.covered, isLast: false });
    }
    this.#opening = null;
    this.#opened = { events: page.events, moment: end };
    this.#covered = end;
    this.#leastHead = end;
    this.#told = null;
    return null;
  }

  /** The database is away: once, a page says so. Who resumes at its cursor gets the requests with all that is kept. */
  #openLater(): ReaderPage | null {
    const { outage } = this.#tails;
    if (outage === null || this.#isToldOutage) return null;
    const { head } = this.#begunTail;
    return this.#say({ head, events: [], covered: head.floor, start: head.floor, outage, isLast: false });
  }

  /** What is new; null if it says nothing to the readers. */
  async #later(tail: Tail): Promise<ReaderPage | null> {
    // An outage that began or ended while it did not wait at the tail is told at once.
    const mayWait = this.#isCaughtUp && this.#isToldOutage === (this.#tails.outage !== null);
    const read = await nullIfUnavailable(
      mayWait ? tail.next(this.#scope, this.#covered, PATIENCE_MS, this.#signal) : tail.read(this.#scope, this.#covered),
    );
    if (this.#signal.aborted) return null;
    // Events that were removed before they were read are never passed over in silence.
    if (read !== null && this.#covered < read.head.floor) throw new CursorExpired();
    const page = { ...(read ?? { head: tail.head, events: [], covered: this.#covered }), outage: this.#tails.outage };
    const last = this.#until === null ? -1 : page.events.findIndex((event) => this.#until?.includes(event.body.kind));
    const end = page.events[last];
    if (end !== undefined)
      return this.#say({
        ...this.#begun(page.events.slice(0, last + 1)),
        head: page.head,
        covered: end.position,
        outage: null,
        isLast: true,
      });
    const wasCaughtUp = this.#isCaughtUp;
    this.#isCaughtUp = page.covered === page.head.position;
    this.#covered = page.covered;
    this.#pause = read === null ? "away" : this.#isCaughtUp ? "none" : "turn";
    const isNews =
      page.events.length > 0 ||
      (this.#told === null && read !== null) ||
      (this.#isCaughtUp && !wasCaughtUp) ||
      this.#isToldOutage !== (page.outage !== null);
    if (!isNews && !this.#isOverdue()) return null;
    return this.#say({ ...page, ...this.#begun(page.events), isLast: false });
  }

  /** The events of a page of what is new, behind the open requests if it is the first; and the place after which nothing is left out. */
  #begun(events: readonly TimelineEvent[]): Pick<ReaderPage, "events" | "start"> {
    const opened = this.#opened;
    this.#opened = null;
    if (opened !== null) return { events: [...opened.events, ...events], start: opened.moment };
    const [first] = events;
    return { events, start: first === undefined ? this.#covered : first.position - 1 };
  }

  #say(page: ReaderPage): ReaderPage {
    this.#told = {
      covered: page.covered,
      at: performance.now(),
      isAtHead: page.covered === page.head.position,
      isOutage: page.outage !== null,
    };
    this.#isOver = page.isLast;
    return page;
  }

  get #isToldOutage(): boolean {
    return this.#told?.isOutage ?? false;
  }

  /** True if a cursor has not moved for so long, or so far, that an empty page tells how far the reading has come. */
  #isOverdue(): boolean {
    if (this.#told === null) return performance.now() - this.#beganAt >= PATIENCE_MS;
    const { covered, at } = this.#told;
    if (this.#covered <= covered) return false;
    return this.#covered - covered >= SKIPPED_POSITIONS || performance.now() - at >= PATIENCE_MS;
  }

  async #away(): Promise<void> {
    await delay(AWAY_MS, undefined, { signal: this.#signal }).catch(() => {});
  }
}

/** The page that was read; null if the database is away: a place in the log only waits, since it knows where it is. */
async function nullIfUnavailable<Page>(read: Promise<Page>): Promise<Page | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof StorageUnavailable) return null;
    throw error;
  }
}
