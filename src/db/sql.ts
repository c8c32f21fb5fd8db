import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../lib/text.ts";
import { errorClass, storageError, StorageUnavailable, shownProblem, isContention } from "./storage-error.ts";

/**
 * A statement with a name, under which connections keep it prepared. `Row` and `Values` are the declared types of its
 * rows and parameters.
 */
export type Statement<Row = unknown, Values extends readonly unknown[] = readonly unknown[]> = {
  readonly name: string;
  readonly text: string;
  /** Never present: it carries the types. */
  readonly types?: { readonly row: Row; readonly values: Values };
};

/** A statement that is planned for its values each time. Its text contains its name, for PostgreSQL's own views. */
export function plannedForValues<Row>(name: string, text: string): Statement<Row> {
  return { name: "", text: `/* ${name} */ ${text}` };
}

export function nameOf({ name, text }: Statement): string {
  return name === "" ? (/^\/\* (\w+) \*\//.exec(text)?.[1] ?? "") : name;
}

/**
 * Runs single statements, each in its own transaction. Transactions cannot be held open: everything that must commit
 * together goes through one SQL function (docs/adr/0002).
 */
export type Sql = {
  /** The statement's rows, as the driver parses them. Rejects with an error that has PostgreSQL's `code`. */
  query<Row, Values extends readonly unknown[] = readonly unknown[]>(
    statement: Statement<Row, Values>,
    values: Values,
  ): Promise<Row[]>;
  readonly outages: OutageWatch;
  /** True if connections keep statements prepared by name: a large one is then planned once. */
  readonly keepsPrepared: boolean;
};

export function watched(query: Sql["query"], { outages, keepsPrepared }: Pick<Sql, "outages" | "keepsPrepared">): Sql {
  return {
    outages,
    keepsPrepared,
    query: async <Row>(statement: Statement<Row>, values: readonly unknown[]) => {
      if (outages.isUnavailable) throw new StorageUnavailable(outages.current?.problem);
      try {
        return await query<Row>(statement, values);
      } catch (error) {
        if (errorClass(error) === "outage") outages.suspect();
        throw storageError(error);
      }
    },
  };
}

/** The time before the next request to a database that did not answer, in ms. */
export const AGAIN_MS = 100;

export async function retryWhileUnavailable<Result>(
  { outages }: Pick<Sql, "outages">,
  work: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      await delay(AGAIN_MS);
      await outages.over();
    }
  }
}

export function retrying(sql: Sql): Sql {
  return { ...sql, query: (statement, values) => retryWhileUnavailable(sql, () => sql.query(statement, values)) };
}

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
