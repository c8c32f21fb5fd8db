import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../lib/text.ts";
import { shownProblem } from "./error-class.ts";
import { isContention, StorageUnavailable } from "./storage-error.ts";

/** The database does not answer: since when, why as people may read it, and what the driver said, for the server's log. */
export type Outage = { readonly since: Date; readonly problem: string; readonly detail: string };

/** The time between two questions to a database that is away whether it is back, in ms. */
const PROBE_MS = 250;

/**
 * Knows whether the database answers. One broken connection is no outage: it is one when the database, asked again at
 * once, does not answer either. When it is back, what must be done first is done before anybody else goes on.
 */
export class OutageWatch {
  readonly #probe: () => Promise<unknown>;
  readonly #firsts = new Set<() => Promise<void>>();
  readonly #checks = new Set<() => Promise<void>>();
  readonly #listeners = new Set<() => void>();
  #current: Outage | null = null;
  #isUnavailable = false;
  #watching: Promise<void> | null = null;
  /** True if a connection has broken since the checks began. */
  #isSuspectedAgain = false;
  readonly #givingUp = new AbortController();
  #hasEnded = false;

  /** `probe` asks the database for anything, and rejects if it does not answer. */
  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  /** The outage, until everything that comes first at its end is done. */
  get current(): Outage | null {
    return this.#current;
  }

  /** True if there is no use in asking the database now. */
  get isUnavailable(): boolean {
    return this.#isUnavailable;
  }

  /** A statement met a database that does not answer. Looks whether that is an outage, unless the watch has ended. */
  suspect(): void {
    if (this.#hasEnded) return;
    this.#isSuspectedAgain = true;
    this.#watching ??= this.#watch().finally(() => {
      this.#watching = null;
    });
  }

  /** True from the first statement that met a database that does not answer until it is known to be the same one as before. */
  get isSuspected(): boolean {
    return this.#watching !== null;
  }

  /** Resolves when there is no outage, at once if there is none. Rejects when the watch gives up. */
  async over(): Promise<void> {
    await this.#watching;
    if (this.#givingUp.signal.aborted) throw new StorageUnavailable("the database did not come back before the server closed");
  }

  /** Does `task` as soon as the database is back, before the outage counts as over. Returns the end of that. */
  first(task: () => Promise<void>): () => void {
    this.#firsts.add(task);
    return () => this.#firsts.delete(task);
  }

  /** Does `task` each time when the database answers after a connection was lost: it may be another server now. */
  onReconnect(task: () => Promise<void>): void {
    this.#checks.add(task);
  }

  /**
   * True if every check was made, and no connection has broken meanwhile: one that is left may still lead to the database of
   * before. A check's finding concerns the check itself: the database never counts as away because of it.
   */
  async #check(): Promise<boolean> {
    this.#isSuspectedAgain = false;
    const made = await Promise.allSettled([...this.#checks].map((task) => task()));
    const isCut = made.some((check) => check.status === "rejected" && check.reason instanceof StorageUnavailable);
    return !isCut && !this.#isSuspectedAgain;
  }

  /** Calls the listener when an outage begins and when it is over. Returns the end of that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The server closes: nobody waits for the database from now on. */
  giveUp(): void {
    this.#givingUp.abort();
  }

  /** The connections end: nobody waits for the database from now on, and one that breaks says nothing of it. */
  end(): void {
    this.#hasEnded = true;
    this.giveUp();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#givingUp;
    for (;;) {
      const problem = await this.#problem();
      if (problem !== null) return this.#sitOut(problem.error);
      if ((await this.#check()) || signal.aborted) return;
      await delay(PROBE_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Says that there is an outage, until it is over. */
  async #sitOut(problem: unknown): Promise<void> {
    const { signal } = this.#givingUp;
    this.#set({ since: new Date(), problem: shownProblem(problem), detail: messageOf(problem) });
    while (!signal.aborted && !(await this.#isBack())) {
      this.#isUnavailable = true;
      await delay(PROBE_MS, undefined, { signal }).catch(() => {});
    }
    if (!signal.aborted) this.#set(null);
  }

  /** True if the database answers, and what comes first then is done. */
  async #isBack(): Promise<boolean> {
    if ((await this.#problem()) !== null) return false;
    this.#isUnavailable = false;
    if (!(await this.#check())) return false;
    const done = await Promise.allSettled([...this.#firsts].map((task) => task()));
    return !this.#isSuspectedAgain && done.every(({ status }) => status === "fulfilled");
  }

  #set(outage: Outage | null): void {
    this.#current = outage;
    this.#listeners.forEach((listener) => listener());
  }

  /** The problem with the database; null if it answers. */
  async #problem(): Promise<{ readonly error: unknown } | null> {
    try {
      await this.#probe();
      return null;
    } catch (error) {
      // It has no connection to spare, or other needs: it answers.
      return isContention(error) ? null : { error };
    }
  }
}
