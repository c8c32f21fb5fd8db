import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../lib/text.ts";
import { shownProblem } from "./error-class.ts";
import { isContention, StorageUnavailable } from "./storage-error.ts";

export type Outage = { readonly since: Date; readonly problem: string; readonly detail: string };

/** The time between two questions to a database that is away whether it is back, in ms. */
const PROBE_MS = 250;

/**
 * Detects outages. One broken connection is no outage: it is one if the database does not answer a second request
 * either. At its end, registered tasks run before other work continues.
 */
export class OutageWatch {
  readonly #probe: () => Promise<unknown>;
  readonly #firsts = new Set<() => Promise<void>>();
  readonly #checks = new Set<() => Promise<void>>();
  readonly #listeners = new Set<() => void>();
  #current: Outage | null = null;
  #isUnavailable = false;
  #watching: Promise<void> | null = null;
  #isSuspectedAgain = false;
  readonly #givingUp = new AbortController();
  #hasEnded = false;

  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  get current(): Outage | null {
    return this.#current;
  }

  get isUnavailable(): boolean {
    return this.#isUnavailable;
  }

  /** Notes a statement without an answer, and checks for an outage, unless the watch has ended. */
  suspect(): void {
    if (this.#hasEnded) return;
    this.#isSuspectedAgain = true;
    this.#watching ??= this.#watch().finally(() => {
      this.#watching = null;
    });
  }

  /** True from a statement without an answer until the database is known to be the same one as before. */
  get isSuspected(): boolean {
    return this.#watching !== null;
  }

  async over(): Promise<void> {
    await this.#watching;
    if (this.#givingUp.signal.aborted) throw new StorageUnavailable("the database did not come back before the server closed");
  }

  /** Runs `task` when the database answers again, before the outage is over. Returns the function that removes it. */
  first(task: () => Promise<void>): () => void {
    this.#firsts.add(task);
    return () => this.#firsts.delete(task);
  }

  /** Runs `task` after each lost connection when the database answers: it may be another server. */
  onReconnect(task: () => Promise<void>): void {
    this.#checks.add(task);
  }

  /**
   * True if every check succeeded, and no connection has broken meanwhile: a remaining one may still lead to the
   * earlier database. A failed check concerns only itself: the database never counts as away because of it.
   */
  async #check(): Promise<boolean> {
    this.#isSuspectedAgain = false;
    const made = await Promise.allSettled([...this.#checks].map((task) => task()));
    const isCut = made.some((check) => check.status === "rejected" && check.reason instanceof StorageUnavailable);
    return !isCut && !this.#isSuspectedAgain;
  }

  /** Calls the listener when an outage begins and when it ends. Returns the function that stops it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  giveUp(): void {
    this.#givingUp.abort();
  }

  /** The connections end: waits for the database end, and broken connections are ignored. */
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

  async #sitOut(problem: unknown): Promise<void> {
    const { signal } = this.#givingUp;
    this.#set({ since: new Date(), problem: shownProblem(problem), detail: messageOf(problem) });
    while (!signal.aborted && !(await this.#isBack())) {
      this.#isUnavailable = true;
      await delay(PROBE_MS, undefined, { signal }).catch(() => {});
    }
    if (!signal.aborted) this.#set(null);
  }

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

  async #problem(): Promise<{ readonly error: unknown } | null> {
    try {
      await this.#probe();
      return null;
    } catch (error) {
      // It answers, without a free connection or for other reasons.
      return isContention(error) ? null : { error };
    }
  }
}
