import { setTimeout as delay } from "node:timers/promises";
import type { Actor } from "../../agent/actors/actor.ts";
import { AGAIN_MS, type Sql } from "../../db/sql.ts";
import { StorageUnavailable } from "../../db/storage-error.ts";
import type { Admission } from "../../events/reading/reader.ts";
import { messageOf } from "../../lib/text.ts";
import type { Clock } from "../../lib/time.ts";
import { clientError } from "../../resolvers/context.ts";
import type { Asker, Identified, Recognised } from "../authenticate.ts";

/** The time between two checks of a person, in ms: events shown rest on a check that began at most twice as long ago. */
const ADMITTED_MS = 2_500;

export type Person = Asker & {
  readonly actorOf: (identified: Identified) => Promise<Actor>;
};

type Stream = { readonly rights: string; readonly refuse: (reason: unknown) => void };

type Watched = {
  readonly streams: Set<Stream>;
  readonly person: Person;
  readonly timer: NodeJS.Timeout;
  answeredAt: number;
  asking: Promise<void> | null;
  isDue: boolean;
};

/**
 * The admissions of all persons with open streams on this server. Each person is checked periodically, so that no page
 * waits for a check (invariant 12). A different answer ends the person's streams. While sign-in or the database is
 * unavailable or late, nothing new is shown, and the streams stay: reconnecting clients would load a slow sign-in
 * again.
 */
export class Admissions {
  readonly #everyMs: number;
  readonly #clock: Clock;
  readonly #sql: Pick<Sql, "outages">;
  readonly #watched = new Map<string, Watched>();

  constructor(sql: Pick<Sql, "outages">, clock: Clock, everyMs = ADMITTED_MS) {
    this.#sql = sql;
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  of(person: Person, actor: Actor, askedAt: number): Admission {
    return new StreamAdmission(this, person, actor, askedAt);
  }

  /** Recognises the sender of a request, and notes the use. The checks of open streams are no use of a token. */
  async recognise({ identify, used }: Pick<Asker, "identify" | "used">): Promise<Recognised | null> {
    const askedAt = this.now();
    const identified = await identify();
    if (identified === null) return null;
    used(identified.signIn);
    return { identified, askedAt, answeredAt: this.now() };
  }

  /** True if the answer is recent enough to begin an operation: a slow sign-in is not asked twice. */
  isRecent({ answeredAt }: Recognised): boolean {
    return this.now() - answeredAt < this.#everyMs;
  }

  open(person: Person, admittedAt: number, stream: Stream): Watched {
    const watched = this.#watched.get(person.key) ?? this.#begin(person, admittedAt);
    watched.streams.add(stream);
    return watched;
  }

  #begin(person: Person, answeredAt: number): Watched {
    const timer = setInterval(() => this.#askInTurn(watched), this.#everyMs).unref();
    const watched: Watched = { streams: new Set(), person, timer, answeredAt, asking: null, isDue: false };
    this.#watched.set(person.key, watched);
    return watched;
  }

  leave(watched: Watched, stream: Stream): void {
    const { streams, timer, person } = watched;
    streams.delete(stream);
    if (streams.size > 0) return;
    clearInterval(timer);
    if (this.#watched.get(person.key) === watched) this.#watched.delete(person.key);
  }

  #askInTurn(watched: Watched): void {
    if (watched.asking === null) void this.ask(watched);
    else watched.isDue = true;
  }

  /**
   * Checks a person. Never rejects: rejected streams get the reason. Resolves without an answer when none would be
   * recent enough; a later answer still counts if it rejects.
   */
  ask(watched: Watched): Promise<void> {
    watched.asking ??= within(this.#answer(watched), 2 * this.#everyMs).finally(() => {
      watched.asking = null;
      if (!watched.isDue || watched.streams.size === 0) return;
      watched.isDue = false;
      void this.ask(watched);
    });
    return watched.asking;
  }

  async #answer(watched: Watched): Promise<void> {
    const askedAt = this.now();
    try {
      const identified = await watched.person.identify();
      const present = identified === null ? null : await watched.person.actorOf(identified);
      watched.answeredAt = Math.max(watched.answeredAt, askedAt);
      const now = present === null ? null : rightsOf(present);
      refuse(watched, ({ rights }) => (rights === now ? null : { reason: NOBODY() }));
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) return refuse(watched, () => ({ reason: signInFailure(error) }));
      await delay(AGAIN_MS);
      await this.#sql.outages.over().catch((reason: unknown) => refuse(watched, () => ({ reason })));
    }
  }

  /** True if an answer of this time is recent enough to show events. */
  isFresh(answeredAt: number): boolean {
    return this.now() - answeredAt < 2 * this.#everyMs;
  }

  /** The time of the monotonic clock, in ms: an answer must not stay recent when the time of day is set back. */
  now(): number {
    return this.#clock.monotonicMs();
  }
}

class StreamAdmission implements Admission {
  readonly #admissions: Admissions;
  readonly #person: Person;
  readonly #actor: Actor;
  readonly #admittedAt: number;
  #opened: { readonly watched: Watched; readonly stream: Stream } | null = null;

  constructor(admissions: Admissions, person: Person, actor: Actor, admittedAt: number) {
    this.#admissions = admissions;
    this.#person = person;
    this.#actor = actor;
    this.#admittedAt = admittedAt;
  }

  isFresh(): boolean {
    return this.#admissions.isFresh(this.#opened?.watched.answeredAt ?? this.#admittedAt);
  }

  isRefused(): boolean {
    return this.#opened !== null && !this.#opened.watched.streams.has(this.#opened.stream);
  }

  async refreshed(): Promise<boolean> {
    if (this.#opened === null) return true;
    while (!this.isRefused() && !this.isFresh()) await this.#admissions.ask(this.#opened.watched);
    return !this.isRefused();
  }

  watch(refuse: (reason: unknown) => void): () => void {
    const stream = { rights: rightsOf(this.#actor), refuse };
    const watched = this.#admissions.open(this.#person, this.#admittedAt, stream);
    this.#opened = { watched, stream };
    return () => this.#admissions.leave(watched, stream);
  }
}

function refuse({ streams }: Watched, why: (stream: Stream) => { readonly reason: unknown } | null): void {
  for (const stream of streams) {
    const refusal = why(stream);
    if (refusal === null) continue;
    streams.delete(stream);
    stream.refuse(refusal.reason);
  }
}

const signInFailures = new WeakSet<object>();

function signInFailure(thrown: unknown): Error {
  const failure = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
  signInFailures.add(failure);
  return failure;
}

/** True if a stream ends because sign-in failed. Its reader reconnects: sign-in may be unavailable for a while. */
export function isSignInFailure(error: unknown): boolean {
  return error instanceof Error && signInFailures.has(error);
}

const NOBODY = (): Error =>
  clientError("UNAUTHENTICATED", "your access was revoked or has changed: connect again with a valid token");

/** Resolves when the work is done, or after so many ms, if that is sooner. */
async function within(work: Promise<void>, mostMs: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, mostMs).unref();
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** An actor with everything that decides visibility, as a text: a stream continues only with the same text. */
function rightsOf({ id, tenant, roles, delegators }: Actor): string {
  return JSON.stringify([id, tenant, roles, delegators.map((delegator) => delegator.id)]);
}
