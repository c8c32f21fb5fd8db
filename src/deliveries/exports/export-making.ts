import { foldAudit } from "../../agent/calls/audit/fold.ts";
import { FOLD } from "../../agent/calls/audit/rows.ts";
import { MOVE, moveOn, type DueWait } from "../../agent/waits/due.ts";
import type { ExportState } from "../../db/commit/export-rows.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { StorageUnavailable } from "../../db/storage-error.ts";
import type { EventLog } from "../../events/log.ts";
import { SERVER } from "../../events/snapshots.ts";
import { withCause } from "../../lib/text.ts";
import type { Clock } from "../../lib/time.ts";
import type { Logger } from "../../telemetry/log.ts";
import { endExport } from "./commands.ts";
import type { Export } from "./export.ts";
import { makePart } from "./part.ts";
import { firstPlace, neededPosition } from "./rows.ts";
import { findExport, keepPart, keptBytes, removeExport } from "./stored.ts";

export type ExportServices = {
  readonly sql: Sql;
  readonly reads: Sql;
  readonly log: Pick<EventLog, "commitTenant" | "head">;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "warn">;
};

/** The exports that one server makes at a time. */
const MOST_MADE = 2;
/** For so long a part is left to the server that makes it, in ms; then another one may make it. */
const LEASE_MS = 30_000;
/** The pause before an export that found no place, or whose audit is behind, is looked at again, in ms. */
const BUSY_MS = 1_000;
/** The consecutive failures after which an export fails. */
const MOST_FAILURES = 5;

/**
 * Makes the files of exports, part by part, while other waits end. The wait of an export (kind EXPORT) is due
 * while a part is to be made, and then at the time of its removal. A part is kept with its place in the same statement, so
 * the server that looks next continues after it.
 */
export class ExportMaking {
  readonly #services: ExportServices;
  readonly #tenantBytes: number;
  readonly #closing = new AbortController();
  readonly #making = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, number>();
  /** True if an export waits for a place here. */
  #isAwaited = false;

  /** `tenantBytes`: the bound on the kept bytes of a tenant's exports. */
  constructor(services: ExportServices, tenantBytes: number) {
    this.#services = services;
    this.#tenantBytes = tenantBytes;
  }

  /** Begins to make the next parts of an export whose wait is due, or removes it. */
  async look(wait: DueWait): Promise<void> {
    const { sql } = this.#services;
    if (this.#making.has(wait.ref)) return;
    const found = await findExport(sql, wait.ref);
    if (found?.state !== "RUNNING") return removeExport(sql, wait.ref);
    if (this.#making.size >= MOST_MADE || this.#closing.signal.aborted) {
      this.#isAwaited = true;
      await moveOn(this.#services, wait, BUSY_MS);
      return;
    }
    const [moved] = await sql.query(MOVE, [wait.id, wait.due, LEASE_MS]);
    if (moved === undefined) return;
    const making = this.#make(found, { ...wait, due: moved.due });
    this.#making.set(wait.ref, making);
  }

  /** Leaves the exports to other servers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#making.values());
  }

  async #make(of: Export, wait: DueWait): Promise<void> {
    try {
      const left = await this.#makeParts(of, wait);
      this.#failures.delete(of.id);
      // From now on this server may be the one that looks next.
      this.#making.delete(of.id);
      if (left !== null) await moveOn(this.#services, left.wait, left.againMs);
    } catch (error) {
      if (this.#closing.signal.aborted || error instanceof StorageUnavailable) return;
      this.#services.logger.warn(`a part of the export ${of.id} could not be made (${withCause(error)})`);
      const failures = (this.#failures.get(of.id) ?? 0) + 1;
      this.#failures.set(of.id, failures);
      if (failures < MOST_FAILURES) return;
      this.#failures.delete(of.id);
      await this.#end(of, "FAILED", "its rows could not be read: try a narrower filter").catch(() => {});
    } finally {
      this.#making.delete(of.id);
    }
  }

  /** Makes parts. Returns the wait of an export that is to be continued, and the time until then; null for one that is not. */
  async #makeParts(first: Export, held: DueWait): Promise<Left | null> {
    const { sql, reads, log } = this.#services;
    const { signal } = this.#closing;
    let { due } = held;
    if (!(await this.#isFolded(first))) return { wait: held, againMs: BUSY_MS };
    for (let of = first; ;) {
      if (this.#isAwaited || signal.aborted) {
        this.#isAwaited = false;
        return { wait: { ...held, due }, againMs: 0 };
      }
      if ((await keptBytes(sql, of.tenant)) >= this.#tenantBytes) return this.#end(of, "FAILED", TOO_MUCH(this.#tenantBytes));
      const place = of.place ?? firstPlace(of, (await log.head(of.tenant)).floor);
      const part = await makePart(reads, of, place, signal);
      // Retention moves the floor before it removes events.
      if ((await log.head(of.tenant)).floor > neededPosition(of, place)) return this.#end(of, "FAILED", EVENTS_GONE);
      const kept = await keepPart(sql, of, part, LEASE_MS);
      if (kept === null) return null;
      due = kept.due;
      of = { ...of, place: part.end, rows: of.rows + part.rows, parts: of.parts + (part.data === null ? 0 : 1) };
      if (part.isLast) return this.#end(of, "DONE", null);
    }
  }

  /** True if the narrow rows of calls have everything up to the export's position. */
  async #isFolded({ what, tenant, asOf }: Export): Promise<boolean> {
    if (what !== "TOOL_CALLS") return true;
    const { sql } = this.#services;
    for (let tries = 0; tries < MOST_FOLDS; tries += 1) {
      const [fold] = await sql.query(READ_FOLD, [tenant]);
      if (fold !== undefined && Number(fold.position) >= asOf) return true;
      if (this.#closing.signal.aborted || (await foldAudit(sql, tenant))) break;
    }
    const [fold] = await sql.query(READ_FOLD, [tenant]);
    return fold !== undefined && Number(fold.position) >= asOf;
  }

  async #end(of: Export, state: ExportState, problem: string | null): Promise<null> {
    await endExport(this.#services, of, { from: ["RUNNING"], state, problem }, SERVER);
    return null;
  }
}

type Left = { readonly wait: DueWait; readonly againMs: number };

const MOST_FOLDS = 100;

const READ_FOLD: Statement<{ position: number | string }, [tenant: string]> = { name: "read_fold", text: FOLD };

const EVENTS_GONE =
  "events that it needs were removed by the retention policy meanwhile: export without `since`, or with a later one";

const TOO_MUCH = (bytes: number): string =>
  `the exports of the tenant take ${bytes} bytes, the most that they may: cancel some that are no longer needed, or give a narrower filter`;
