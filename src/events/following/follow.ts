import { setImmediate as macrotask, setTimeout as delay } from "node:timers/promises";
import type { EventKind } from "../event.ts";
import { CursorExpired } from "../cursor.ts";
import { StorageUnavailable } from "../../db/storage-error.ts";
import type { LogPage } from "../log-page.ts";
import type { Scope } from "../scope.ts";
import type { Tails } from "./tails.ts";

/** A cursor that has not moved for so long, in ms, is told where the log has gone, even if nothing was of its scope. */
const PATIENCE_MS = 30_000;
/** So many positions without anything of the scope, and an empty page tells how far the reading has come. */
const SKIPPED_POSITIONS = 10_000;

/** The time after which a follower reads again, while the database is away, in ms. */
const AWAY_MS = 500;

/** The request of a follower: the scope, the position after which it begins, and the kind of event that ends it. */
export type FollowRequest = { readonly scope: Scope; readonly after: number; readonly until: readonly EventKind[] | null };

/**
 * Tells a follower at the head what is new together with others, from the position that it has covered. Resolves with the
 * position that it has covered when it must read on by itself.
 */
export type Join = (covered: number, signal: AbortSignal) => Promise<number>;

/**
 * Every later event of the scope, once, in order (invariant 2), in pages. History and present are the same loop: read
 * a page, yield it, repeat; at the head, wait. The first page comes at once, even empty. `return()` ends a follower at
 * once, also while it waits; it pulls, so that a slow reader holds one page and nothing more (invariant 10). At the head a
 * follower may `join` others: what they are told together is no page of its own.
 */
export function follow(tails: Tails, request: FollowRequest, join: Join | null = null): AsyncGenerator<LogPage, void, undefined> {
  const ending = new AbortController();
  const pages = readPages(tails, request, join, ending.signal);
  return {
    next: () => pages.next(),
    return: (value) => {
      ending.abort();
      return pages.return(value);
    },
    throw: (error) => {
      ending.abort();
      return pages.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await this.return();
    },
  };
}

async function* readPages(
  tails: Tails,
  { scope, after, until }: FollowRequest,
  join: Join | null,
  signal: AbortSignal,
): AsyncGenerator<LogPage, void, undefined> {
  const kept = await keepTail(tails, scope.tenant, signal);
  if (kept === null) return;
  const { tail, release } = kept;
  try {
    let covered = after;
    let isCaughtUp = false;
    let told: Told | null = null;
    const beganAt = performance.now();
    while (!signal.aborted) {
      // An outage that began or ended while it did not wait at the tail is told at once.
      const mayWait = isCaughtUp && isToldOutage(told) === (tails.outage !== null);
      const read = await nullIfUnavailable(mayWait ? tail.next(scope, covered, PATIENCE_MS, signal) : tail.read(scope, covered));
      if (signal.aborted) return;
      // Events that were removed before they were read are never passed over in silence.
      if (read !== null && covered < read.head.floor) throw new CursorExpired();
      const page = read ?? { head: tail.head, events: [], covered, outage: null };
      const { outage } = tails;
      const last = until === null ? -1 : page.events.findIndex((event) => until.includes(event.body.kind));
      if (last >= 0) {
        const events = page.events.slice(0, last + 1);
        await tails.slices.take(1);
        return yield { ...page, events, covered: events[last]?.position ?? page.covered };
      }
      const wasCaughtUp = isCaughtUp;
      isCaughtUp = page.covered === page.head.position;
      covered = page.covered;
      const isNews =
        page.events.length > 0 ||
        (told === null && read !== null) ||
        (isCaughtUp && !wasCaughtUp) ||
        isToldOutage(told) !== (outage !== null);
      if (isNews || isOverdue(covered, told, beganAt)) {
        await tails.slices.take(1);
        yield outage === null ? page : { ...page, outage };
        told = { covered, at: performance.now(), isOutage: outage !== null };
      }
      // At the head there is something to wait for; before it, others must have their turn.
      if (read === null) await delay(AWAY_MS, undefined, { signal }).catch(() => {});
      else if (!isCaughtUp) await macrotask();
      else if (join !== null && until === null && told !== null && tails.outage === null && !told.isOutage) {
        const left = await join(covered, signal);
        if (left > covered) told = { covered: left, at: performance.now(), isOutage: false };
        covered = left;
        // Where it left, the others were told that they are at the head, or this one is told so now.
        isCaughtUp = left >= tail.head.position;
      }
    }
  } finally {
    release();
  }
}

/** The last page that a follower was given: how far it went, when, and whether it told of an outage. */
type Told = { readonly covered: number; readonly at: number; readonly isOutage: boolean };

function isToldOutage(told: Told | null): boolean {
  return told?.isOutage ?? false;
}

/** True if a cursor has not moved for so long, or so far, that an empty page tells how far the reading has come. */
function isOverdue(covered: number, told: Told | null, beganAt: number): boolean {
  if (told === null) return performance.now() - beganAt >= PATIENCE_MS;
  if (covered <= told.covered) return false;
  return covered - told.covered >= SKIPPED_POSITIONS || performance.now() - told.at >= PATIENCE_MS;
}

/** The page that was read; null if the database is away: a follower only waits, since it knows where it is. */
async function nullIfUnavailable(read: Promise<LogPage>): Promise<LogPage | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof StorageUnavailable) return null;
    throw error;
  }
}

/** The tail of the tenant, however long the database stays away. Null when `signal` aborts meanwhile. */
async function keepTail(tails: Tails, tenant: string, signal: AbortSignal): Promise<Awaited<ReturnType<Tails["keep"]>> | null> {
  while (!signal.aborted) {
    try {
      return await tails.keep(tenant);
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      await delay(AWAY_MS, undefined, { signal }).catch(() => {});
    }
  }
  return null;
}
