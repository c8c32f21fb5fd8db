import type { LogPage } from "../log-page.ts";
import { scopeKey, type Scope } from "../scope.ts";
import { follow } from "./follow.ts";
import type { Line } from "./line.ts";
import type { Slices } from "./slices.ts";
import type { Tails } from "./tails.ts";

/** A follower at the head of the log who may be told what is new together with others. */
export type Member = {
  /** The same text for all who are answered the same for the same page. */
  readonly asks: string;
  /** The answer to a page, as JSON in UTF-8; null if it is not for everybody: each member asks for itself then. */
  readonly answer: (page: LogPage) => Promise<Uint8Array | null>;
  /** Fresh if something may be shown now without asking again whether the reader is admitted. */
  readonly admission: { isFresh(): boolean };
  /** The way to the reader. */
  readonly line: Line;
};

/**
 * The broadcasts of a server. Followers at the head who want the same, and are answered the same, are the members of one
 * broadcast: a page is read, answered and made to bytes once, and each member is sent the bytes. Invariants 2 and 10 hold by
 * construction: a broadcast is itself a follower, so that its pages are contiguous; a member joins only if it has covered all
 * that the others were sent; and a member for whom something is different leaves at its cursor, and reads on by itself.
 */
export class Broadcasts {
  readonly #tails: Tails;
  readonly #open = new Map<string, Broadcast>();

  constructor(tails: Tails) {
    this.#tails = tails;
  }

  /** The number of members of all broadcasts now. */
  get members(): number {
    return [...this.#open.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** The number of broadcasts now: each is a follower of its own. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Sends the member every page after `covered` until it must go on alone: it is backed up, or must be asked about again, an
   * answer or the database failed, the others are ahead of it, or `signal` aborts. Resolves with the position up to which the
   * member has everything, when nothing waits for its reader.
   */
  async join(scope: Scope, member: Member, covered: number, signal: AbortSignal): Promise<number> {
    const key = `${scopeKey(scope)} ${member.asks}`;
    const broadcast = this.#open.get(key) ?? this.#begin(key, scope, member, covered);
    const left = await broadcast.join(member, covered, signal);
    await member.line.drained(signal);
    return left;
  }

  #begin(key: string, scope: Scope, { answer }: Member, covered: number): Broadcast {
    const pages = follow(this.#tails, { scope, after: covered, until: null });
    const broadcast = new Broadcast(pages, answer, covered, this.#tails.slices, () => this.#open.delete(key));
    this.#open.set(key, broadcast);
    return broadcast;
  }
}

/**
 * A member of a broadcast, with the position up to which it has everything. What a page needs of a member is reached from here by
 * few objects: for a further member most of the time goes to memory that was not touched since the page before.
 */
type Seat = Pick<Member, "admission" | "line"> & { covered: number; readonly leave: () => void };

/** One follower for many. It is over when its last member leaves, or when its members must go on alone. */
class Broadcast {
  readonly #pages: AsyncGenerator<LogPage, void>;
  readonly #answer: Member["answer"];
  readonly #slices: Slices;
  readonly #onOver: () => void;
  readonly #seats = new Set<Seat>();
  /** The position up to which members were sent everything. */
  #covered: number;
  #isOver = false;

  constructor(
    pages: AsyncGenerator<LogPage, void>,
    answer: Member["answer"],
    covered: number,
    slices: Slices,
    onOver: () => void,
  ) {
    this.#pages = pages;
    this.#answer = answer;
    this.#covered = covered;
    this.#slices = slices;
    this.#onOver = onOver;
    // A problem that ends it, such as a cursor that has expired, meets each member that reads on by itself.
    this.#tell().then(
      () => this.#end(),
      () => this.#end(),
    );
  }

  get size(): number {
    return this.#seats.size;
  }

  /** Resolves when the member leaves, with the position up to which it has everything: at once if the others are ahead of it. */
  join(member: Member, covered: number, signal: AbortSignal): Promise<number> {
    if (covered < this.#covered || signal.aborted) return Promise.resolve(covered);
    return new Promise((resolve) => {
      const leave = (): void => {
        signal.removeEventListener("abort", leave);
        this.#seats.delete(seat);
        if (this.#seats.size === 0) this.#end();
        resolve(seat.covered);
      };
      const seat: Seat = { admission: member.admission, line: member.line, covered, leave };
      this.#seats.add(seat);
      signal.addEventListener("abort", leave);
    });
  }

  async #tell(): Promise<void> {
    let isFirst = true;
    for await (const page of this.#pages) {
      // Each member tells of an outage, and of its end, by itself.
      if (page.outage !== null) return;
      // A follower's first page comes at once: without events it says nothing new to members.
      const isNews = page.events.length > 0 || !isFirst;
      isFirst = false;
      if (!isNews) continue;
      const answer = await this.#answer(page);
      if (answer === null || this.#isOver) return;
      this.#covered = page.covered;
      await this.#send(page, answer);
    }
  }

  async #send({ events: [first], covered }: LogPage, answer: Uint8Array): Promise<void> {
    await this.#slices.each(this.#seats, (seat) => {
      // It joined while the page was answered, and has all of it.
      if (seat.covered >= covered) return;
      const hasPart = first !== undefined && first.position <= seat.covered;
      if (hasPart || !seat.admission.isFresh()) return seat.leave();
      const isTaken = seat.line.send(answer);
      seat.covered = covered;
      if (!isTaken) seat.leave();
    });
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
    void this.#pages.return();
    this.#seats.forEach(({ leave }) => leave());
  }
}
