import { auditsBehind, foldAudit } from "../agent/calls/audit/fold.ts";
import type { ServerServices } from "../agent/loop/scope.ts";
import { withCause } from "../lib/text.ts";
import { every } from "../lib/time.ts";

/** The intervals of the sweep, in ms: for this server's commits, and for those that others have left. */
export type AuditTimes = { readonly ownMs: number; readonly othersMs: number };

export const AUDIT_TIMES: AuditTimes = { ownMs: 1_000, othersMs: 60_000 };

/**
 * Brings the audits to the end of the logs: soon after this server's commits, and periodically for all, since a server
 * may have stopped. Answers do not depend on it, only their duration.
 */
export class AuditSweep {
  readonly #services: ServerServices;
  readonly #closing = new AbortController();
  readonly #running: Promise<unknown>;
  #committed = new Set<string>();

  constructor(services: ServerServices, { ownMs, othersMs }: AuditTimes) {
    this.#services = services;
    services.log.onCommitted((tenant) => this.#committed.add(tenant));
    const onFailure = (error: unknown): void =>
      services.logger.warn(`the audit could not be brought to the end of the log (${withCause(error)}); trying again later`);
    const { signal } = this.#closing;
    this.#running = Promise.all([
      every({ pauseMs: () => ownMs, task: () => this.#foldOwn(), onFailure }, signal),
      every({ pauseMs: () => othersMs, firstMs: Math.min(ownMs, othersMs), task: () => this.#foldAll(), onFailure }, signal),
    ]);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #foldOwn(): Promise<void> {
    const committed = this.#committed;
    this.#committed = new Set();
    await this.#fold(committed);
  }

  async #foldAll(): Promise<void> {
    await this.#fold(await auditsBehind(this.#services.sql));
  }

  /**
   * Folds one chunk of each tenant in turn, until all are at the end. A failed one is left to the next full sweep, and
   * does not delay others (invariant 13).
   */
  async #fold(tenants: Iterable<string>): Promise<void> {
    const left = new Set(tenants);
    const problems: unknown[] = [];
    while (left.size > 0 && !this.#closing.signal.aborted)
      for (const tenant of left) {
        try {
          if (await foldAudit(this.#services.sql, tenant)) left.delete(tenant);
        } catch (error) {
          left.delete(tenant);
          problems.push(error);
        }
        if (this.#closing.signal.aborted) return;
      }
    if (problems.length > 0) throw problems[0];
  }
}
