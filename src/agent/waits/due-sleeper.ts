import { setTimeout as delay } from "node:timers/promises";
import type { ClockSkew } from "../../db/database-clock.ts";
import type { Sql } from "../../db/sql.ts";
import type { EventLog } from "../../events/log.ts";
import { KeyedSemaphore } from "../../lib/keyed-semaphore.ts";
import { withCause } from "../../lib/text.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { McpProcesses } from "../mcp/tasks/processes.ts";
import { claimDue, msToNearestDue, releaseDue, type DueWait } from "./due.ts";

/** The longest sleep, in ms: other servers insert waits, too. */
const POLL_MS = 1_000;
/** The tenants whose waits are ended concurrently, and the ms after which the rest of a tenant's is due again. */
const TENANTS = 4;
const TENANT_MS = 1_000;

export type DueServices = {
  readonly sql: Sql;
  readonly log: Pick<EventLog, "onDue">;
  readonly logger: Logger;
  readonly clockSkew: () => ClockSkew;
  readonly mcpProcesses: Pick<McpProcesses, "held">;
};

/** Ends one wait whose time has come, unless another commit was first. */
export type EndDue = (wait: DueWait) => Promise<void>;

/**
 * Ends waits whose time has come: one sleeper a server, awake at the nearest due, after inserts of its own, and each
 * second. A commit by compare-and-set ends each wait once, whichever server is first. A tenant whose waits are being
 * ended is busy, and delays no other tenant (invariant 13). If the clocks of this machine and the database differ, all
 * waits stay: one of the two is wrong.
 */
export class DueSleeper {
  readonly #services: DueServices;
  readonly #end: EndDue;
  readonly #closing = new AbortController();
  readonly #busy = new Map<string, Promise<void>>();
  readonly #slots = new KeyedSemaphore(TENANTS);
  readonly #running: Promise<void>;
  #awake = Promise.withResolvers<void>();
  #isAwake = false;

  constructor(services: DueServices, end: EndDue) {
    this.#services = services;
    this.#end = end;
    services.log.onDue(() => this.#rouse());
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#rouse();
    await this.#running;
    await Promise.all(this.#busy.values());
  }

  #rouse(): void {
    this.#isAwake = true;
    this.#awake.resolve();
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#isAwake = false;
      this.#awake = Promise.withResolvers();
      const sleepMs = await this.#look();
      if (this.#isAwake) continue;
      const over = new AbortController();
      await Promise.race([this.#awake.promise, delay(sleepMs, undefined, { signal: over.signal, ref: false }).catch(() => {})]);
      over.abort();
    }
  }

  /** Returns the ms until the next look. */
  async #look(): Promise<number> {
    const { sql, logger, clockSkew, mcpProcesses } = this.#services;
    if (clockSkew().isLarge || sql.outages.current !== null) return POLL_MS;
    try {
      const leftMs = await msToNearestDue(sql, [...this.#busy.keys()], mcpProcesses.held);
      if (leftMs === null || leftMs > 0) return Math.min(leftMs ?? POLL_MS, POLL_MS);
      const claimed = await claimDue(sql, [...this.#busy.keys()], mcpProcesses.held);
      for (const [tenant, waits] of Map.groupBy(claimed, (wait) => wait.tenant)) this.#begin(tenant, waits);
      // Locked rows, and those of logs that accept no events, are due and not claimed.
      return claimed.length === 0 ? POLL_MS : 0;
    } catch (error) {
      logger.warn(`what is due could not be ended (${withCause(error)}); trying again`);
      return POLL_MS;
    }
  }

  #begin(tenant: string, waits: readonly DueWait[]): void {
    const ending = this.#slots
      .run("", () => this.#endEach(waits))
      .finally(() => {
        this.#busy.delete(tenant);
        this.#rouse();
      });
    this.#busy.set(tenant, ending);
  }

  async #endEach(waits: readonly DueWait[]): Promise<void> {
    const { sql, logger } = this.#services;
    const began = performance.now();
    // Calls that wait for one approval have a wait each.
    const left = new Map(waits.map((each) => [each.ref, each]));
    for (const [ref, wait] of left) {
      if (performance.now() - began > TENANT_MS || this.#closing.signal.aborted) break;
      left.delete(ref);
      try {
        await this.#end(wait);
      } catch (error) {
        logger.error(`the wait for ${wait.kind} ${wait.ref} could not be ended; trying again later`, error);
      }
    }
    const rest = waits.filter(({ ref }) => left.has(ref));
    await releaseDue(sql, rest).catch((error: unknown) =>
      logger.warn(`${rest.length} waits are due again only when their claim is over (${withCause(error)})`),
    );
  }
}
