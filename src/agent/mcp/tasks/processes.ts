import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Sql, Statement } from "../../../db/sql.ts";
import { withCause } from "../../../lib/text.ts";
import { every } from "../../../lib/time.ts";
import type { Logger } from "../../../telemetry/log.ts";

/** The longest time between two looks at a wait for a task of a process, in ms: its due is a sign of life, too. */
export const PROCESS_LOOK_MS = 10_000;

/** The reason why the task of a process is lost. */
export const PROCESS_ENDED = "the process that had it has ended";

/** In place of the id of a process that has ended: any server may end the calls that wait for its tasks. */
export const ENDED_PROCESS = "ended";

/** The most processes that have ended and are noted, each for so long, in ms. */
const MOST_ENDED = 100;
const ENDED_MS = 10 * 60 * 1_000;

/** Longer than any wait is overdue, in ms. */
const NEVER_MS = 1e12;

const KEEP: Statement<object, [processes: readonly string[]]> = {
  name: "keep_process_waits",
  text: `UPDATE wait SET due = policy_time() WHERE process = ANY ($1) AND settled_at IS NULL AND due < policy_time()`,
};

const END: Statement<object, [process: string]> = {
  name: "end_process_waits",
  text: `UPDATE wait SET process = '${ENDED_PROCESS}', due = policy_time() WHERE process = $1 AND settled_at IS NULL`,
};

const END_ALL: Statement<object, []> = {
  name: "end_all_process_waits",
  text: `UPDATE wait SET process = '${ENDED_PROCESS}', due = policy_time() WHERE process IS NOT NULL AND settled_at IS NULL`,
};

/** The processes of a server of Triplane, with those that have just ended. After `goneMs` an overdue wait of another one's process shows that it is gone. */
export type HeldProcesses = { readonly ids: readonly string[]; readonly goneMs: number };

type Parts = {
  readonly sql: Sql;
  readonly leases: Pick<Sql, "query">;
  readonly leaseTimes: { readonly ttlMs: number; readonly renewMs: number };
  readonly logger: Pick<Logger, "warn">;
};

/**
 * The processes of MCP servers that this server of Triplane runs. A task is known to its process alone, so the wait for it
 * names the process. Only the server that runs the process looks at such a wait. That server keeps it from being overdue
 * for the time of a lease. A wait that is so long overdue has lost its process.
 */
export class McpProcesses implements AsyncDisposable {
  readonly #parts: Parts;
  readonly #ids = new Set<string>();
  /** Those that have ended: a call whose answer came before may begin to wait only now. */
  readonly #ended = new LRUCache<string, true>({ max: MOST_ENDED, ttl: ENDED_MS });
  readonly #closing = new AbortController();
  readonly #keeping: Promise<void>;
  readonly #ends: readonly (() => void)[];
  /** From this time of `performance.now()` on, overdue waits count: before, other servers could not keep theirs. */
  #countsFrom = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { outages } = parts.sql;
    this.#ends = [
      outages.first(() => this.#keep()),
      outages.onChange(() => (this.#countsFrom = performance.now() + parts.leaseTimes.ttlMs)),
    ];
    const onFailure = (error: unknown): void =>
      parts.logger.warn(`the waits for tasks of MCP servers could not be kept (${withCause(error)}); trying again`);
    this.#keeping = every({ pauseMs: () => parts.leaseTimes.renewMs, task: () => this.#keep(), onFailure }, this.#closing.signal);
  }

  get held(): HeldProcesses {
    const { ttlMs } = this.#parts.leaseTimes;
    return { ids: [...this.#ids, ...this.#ended.keys()], goneMs: performance.now() < this.#countsFrom ? NEVER_MS : ttlMs };
  }

  /** Returns the id of a process that runs. */
  begin(): string {
    const id = randomUUID();
    this.#ids.add(id);
    return id;
  }

  /** A process has ended: any server may end the waits for its tasks. Never rejects: they are overdue later. */
  async end({ process: id }: { readonly process: string | null }): Promise<void> {
    if (id === null || !this.#ids.delete(id)) return;
    this.#ended.set(id, true);
    await this.#parts.leases
      .query(END, [id])
      .catch((error: unknown) =>
        this.#parts.logger.warn(`the waits for the tasks of a process that has ended are looked at later (${withCause(error)})`),
      );
  }

  async #keep(): Promise<void> {
    if (this.#ids.size > 0 && this.#parts.sql.outages.current === null) await this.#parts.leases.query(KEEP, [[...this.#ids]]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.forEach((end) => end());
    this.#closing.abort();
    await this.#keeping;
  }
}

/** The processes of an earlier server are gone, for a database that only one server uses. */
export async function endAllProcesses(sql: Pick<Sql, "query">): Promise<void> {
  await sql.query(END_ALL, []);
}
