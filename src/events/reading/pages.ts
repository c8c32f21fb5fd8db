import { setImmediate as macrotask, setTimeout as delay } from "node:timers/promises";
import { StorageUnavailable } from "../../db/storage-error.ts";
import { AgentDeleted, CursorExpired, type LogHead, type Scope } from "../cursor.ts";
import type { EventKind, TimelineEvent } from "../event.ts";
import type { LogPage } from "../log-page.ts";
import type { Told } from "./reader.ts";
import type { Tail } from "./tail.ts";
import type { Tails } from "./tails.ts";

/** A reader gets an empty page with a new cursor after this time without a page, in ms. */
const PATIENCE_MS = 30_000;
/** A reader gets an empty page with a new cursor after this many positions without an event of its scope. */
const SKIPPED_POSITIONS = 10_000;

/** The time between reads of the log during an outage, in ms. */
const AWAY_MS = 500;

/**
 * The start of a stream: a position, with the head of the log that its reader has seen. Or the open requests, followed
 * by all later events.
 */
export type Start =
  { readonly kind: "after"; readonly position: number; readonly head: number } | { readonly kind: "open_requests" };

/** A page for readers: all events of the scope after `start` and up to `covered`. `isLast`: the stream ends with it. */
export type ReaderPage = LogPage & { readonly start: number; readonly isLast: boolean };

type Opening = { readonly after: number; readonly moment: number | null };

/**
 * The pages of a scope from a start on: each event once, in order (invariant 2). History and live events are read
 * alike; at the head of the log the next page is awaited. The first page comes immediately, even if it is empty.
 */
export class Pages {
  readonly #tails: Tails;
  readonly #scope: Scope;
  readonly #until: readonly EventKind[] | null;
  readonly #signal: AbortSignal;
  #tail: Tail | null = null;
  #release = (): void => {};
  #opening: Opening | null;
  #opened: { readonly events: readonly TimelineEvent[]; readonly moment: number } | null = null;
  #covered: number;
  #leastHead: number;
  #isCaughtUp: boolean;
  #told: Told | null;
  #isOver = false;
  /** The mark of the log when the agents of the scope were last there. */
  #erased = 0;
  #pause: "none" | "turn" | "away" = "none";
  readonly #beganAt = performance.now();

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

  get told(): Told | null {
    return this.#told;
  }

  get covered(): number {
    return this.#told?.covered ?? this.#covered;
  }

  get isOpening(): boolean {
    return this.#opening !== null || this.#opened !== null;
  }

  get head(): LogHead {
    return this.#begunTail.head;
  }

  get #begunTail(): Tail {
    if (this.#tail === null) throw new Error("pages are begun before they are read");
    return this.#tail;
  }

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

  async #catchUpTail(): Promise<void> {
    let before = -1;
    while (this.#tail !== null && this.#tail.head.position < this.#leastHead && this.#tail.head.position > before) {
      before = this.#tail.head.position;
      await nullIfUnavailable(this.#tail.refresh());
    }
  }

  end(): void {
    this.#isOver = true;
    this.#release();
    this.#release = () => {};
  }

  pass(told: Told, isLast: boolean): void {
    this.#covered = told.covered;
    this.#told = told;
    this.#isCaughtUp = told.isAtHead;
    this.#isOver = isLast;
    this.#pause = told.isAtHead ? "none" : "turn";
  }

  async next(): Promise<ReaderPage | null> {
    const tail = this.#begunTail;
    while (!this.#isOver && !this.#signal.aborted) {
      if (this.#pause === "away") await this.#away();
      // Before the head, other work gets its turn.
      else if (this.#pause === "turn") await macrotask();
      const page = this.#opening === null ? await this.#later(tail) : await this.#open(this.#opening);
      if (page !== null) return page;
    }
    return null;
  }

  /** The next open requests; null if the last of them go into the first page of later events. */
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
      // Other events up to there are left out.
      return this.#say({ ...page, start: page.covered, isLast: false });
    }
    this.#opening = null;
    this.#opened = { events: page.events, moment: end };
    this.#covered = end;
    this.#leastHead = end;
    this.#told = null;
    return null;
  }

  #openLater(): ReaderPage | null {
    const { outage } = this.#tails;
    if (outage === null || this.#isToldOutage) return null;
    const { head } = this.#begunTail;
    return this.#say({ head, events: [], covered: head.floor, start: head.floor, outage, isLast: false });
  }

  async #later(tail: Tail): Promise<ReaderPage | null> {
    // The begin and the end of an outage are sent immediately.
    const mayWait = this.#isCaughtUp && this.#isToldOutage === (this.#tails.outage !== null);
    const read = await nullIfUnavailable(
      mayWait ? tail.next(this.#scope, this.#covered, PATIENCE_MS, this.#signal) : tail.read(this.#scope, this.#covered),
    );
    if (this.#signal.aborted) return null;
    // Removed events are never skipped silently.
    if (read !== null && this.#covered < read.head.floor) throw new CursorExpired();
    if (read !== null && read.head.erased > this.#erased) {
      const areThere = await nullIfUnavailable(this.#tails.areThere(this.#scope));
      if (areThere === false) throw new AgentDeleted();
      if (areThere === true) this.#erased = read.head.erased;
    }
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

  #begun(events: readonly TimelineEvent[]): Pick<ReaderPage, "events" | "start"> {
    const opened = this.#opened;
    this.#opened = null;
    if (opened !== null) return { events: [...opened.events, ...events], start: opened.moment };
    const [first] = events;
    return { events, start: first === undefined ? this.#covered : first.position - 1 };
  }

  #say(page: ReaderPage): ReaderPage {
    this.#told = toldOf(page);
    this.#isOver = page.isLast;
    return page;
  }

  get #isToldOutage(): boolean {
    return this.#told?.isOutage ?? false;
  }

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

export function toldOf({ covered, head, outage }: LogPage): Told {
  return { covered, at: performance.now(), isAtHead: covered === head.position, isOutage: outage !== null };
}

async function nullIfUnavailable<Page>(read: Promise<Page>): Promise<Page | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof StorageUnavailable) return null;
    throw error;
  }
}
