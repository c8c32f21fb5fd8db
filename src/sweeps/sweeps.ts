import { auditsBehind, beginAudits, foldAudit } from "../agent/calls/audit/fold.ts";
import type { AgentOfTenant } from "../agent/loop/lease.ts";
import type { ServerServices } from "../agent/loop/scope.ts";
import { McpTasks } from "../agent/waits/mcp-task.ts";
import { agentsOf } from "../agent/waits/due.ts";
import { DueSleeper } from "../agent/waits/due-sleeper.ts";
import { endDue, type ExportLooks } from "../agent/waits/kinds.ts";
import { IdleWatches } from "../agent/loop/files/idle-watches.ts";
import type { Statement } from "../db/sql.ts";
import { applyRetention, type KnownConsumer, type RetentionPolicy } from "../events/retention.ts";
import type { ErasedContent } from "./erasure/erased-payload.ts";
import { counted, withCause } from "../lib/text.ts";
import { every } from "../lib/time.ts";
import { applyErasure } from "./erasure/erase.ts";
import { LEFT_IMAGES, LEFT_VERSIONS } from "./left-rows.ts";
import { leftOutputs } from "./erasure/left-outputs.ts";
import { DELETED_AGENTS } from "./deleted-agents.ts";
import { OLD_BUDGET_PERIODS } from "./budgets.ts";
import { OLD_MEMORY } from "./memory.ts";
import { RemovalSweep } from "./removal.ts";
import { OLD_ACCESS_TOKENS, OLD_SESSIONS } from "./sign-ins.ts";

/** The time between two sweeps, in ms. */
export const RETENTION_SWEEP_MS = 60 * 60 * 1_000;
/** The first sweep comes at a random time within so many ms, so that servers that start together sweep apart. */
const FIRST_MS = 60_000;

/**
 * Applies the retention policy every hour, on every server; after the first one the others find nothing. A server whose
 * clock differs from the database's removes nothing: removal is final.
 */
export class RetentionSweep {
  readonly #services: ServerServices;
  readonly #policy: RetentionPolicy;
  readonly #consumers: readonly KnownConsumer[];
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  /** Events stay until they are delivered to `consumers`. */
  constructor(services: ServerServices, policy: RetentionPolicy, consumers: readonly KnownConsumer[], everyMs: number) {
    this.#services = services;
    this.#policy = policy;
    this.#consumers = consumers;
    const rhythm = {
      pauseMs: () => everyMs,
      firstMs: Math.random() * Math.min(FIRST_MS, everyMs),
      task: () => this.#tidy(),
      onFailure: (error: unknown) =>
        services.logger.warn(`what is no longer kept could not be removed (${withCause(error)}); trying again later`),
    };
    const keepsAll = Object.values(policy).every((kept) => kept === null);
    this.#running = keepsAll ? Promise.resolve() : every(rhythm, this.#closing.signal);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #tidy(): Promise<void> {
    const { sql, clock, clockSkew, outputs, logger } = this.#services;
    if (clockSkew().isLarge) return;
    const { outputsMs } = this.#policy;
    const run = { policy: this.#policy, consumers: this.#consumers };
    const { signal } = this.#closing;
    try {
      const removals = await applyRetention(sql, run, signal);
      for (const { tenant, events, deltas } of removals)
        if (events + deltas > 0)
          logger.tell("removed", `the retention removed ${counted(events, "event")} and ${counted(deltas, "delta")}`, { tenant });
      for (const { tenant, content, rows, agents } of await applyErasure(sql, run, signal))
        logger.tell("erased", `the retention erased ${counted(rows, ERASED_NOUNS[content])} of ${counted(agents, "agent")}`, {
          tenant,
        });
    } finally {
      if (outputsMs !== null) await outputs.removeOlder(new Date(clock.now().getTime() - outputsMs));
    }
  }
}

const ERASED_NOUNS: Readonly<Record<ErasedContent, string>> = {
  TOOL_CALLS: "tool call",
  MESSAGES: "message",
  APPROVALS: "approval",
};

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
  /** Tenants whose audit has begun. */
  readonly #begun = new Set<string>();

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
    if ([...committed].some((tenant) => !this.#begun.has(tenant))) {
      await beginAudits(this.#services.sql);
      for (const tenant of committed) this.#begun.add(tenant);
    }
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

const HOMES_SWEEP_MS = 60 * 60 * 1_000;
const ASKED = 1_000;

const PRESENT: Statement<{ id: string }, [agentIds: readonly string[]]> = {
  name: "present_agents",
  text: "SELECT id FROM agent WHERE id = ANY ($1)",
};

type Swept = { readonly sweep: (now: Date) => Promise<void> };

/**
 * Removes the HOMEs on this server whose agents' rows are gone, measures those that programs used, and deletes old
 * removed files.
 */
export class HomesSweep {
  readonly #services: Pick<ServerServices, "sql" | "homes" | "clock" | "clockSkew">;
  readonly #box: Swept | null;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(
    services: Pick<ServerServices, "sql" | "homes" | "clock" | "clockSkew" | "logger">,
    box: Swept | null,
    everyMs: number = HOMES_SWEEP_MS,
  ) {
    this.#services = services;
    this.#box = box;
    const onFailure = (error: unknown): void =>
      services.logger.warn(`HOMEs of agents that are gone could not be removed (${withCause(error)}); trying again later`);
    this.#running = every({ pauseMs: () => everyMs, task: () => this.tidy(), onFailure }, this.#closing.signal);
  }

  async tidy(): Promise<void> {
    const { sql, homes, clock, clockSkew } = this.#services;
    const errors: unknown[] = [];
    const agents = await homes.agents();
    for (let from = 0; from < agents.length && !this.#closing.signal.aborted; from += ASKED) {
      const asked = agents.slice(from, from + ASKED);
      const present = new Set((await sql.query(PRESENT, [asked])).map(({ id }) => id));
      for (const agentId of asked)
        if (!present.has(agentId)) await homes.remove(agentId).catch((error: unknown) => errors.push(error));
    }
    await homes.measure();
    // With a wrong clock, files have wrong times.
    if (!clockSkew().isLarge) await this.#box?.sweep(clock.now());
    if (errors.length > 0) throw new Error(`${errors.length} of them`, { cause: errors[0] });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }
}

/**
 * The time between two sweeps, in ms. The first comes at a random time within it, so that servers that start together
 * sweep apart.
 */
const KEYS_SWEEP_MS = 60 * 60 * 1_000;
const CHUNK = 5_000;

const REMOVE: Statement<object, [keptDays: number]> = {
  name: "remove_idempotency_keys",
  text: `DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_key
    WHERE created_at < policy_time() - make_interval(secs => $1::float8 * 86400) ORDER BY created_at LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED)) RETURNING 1`,
};

/** Removes old idempotency keys: nearly every create has one. */
export class KeysSweep {
  readonly #services: Pick<ServerServices, "sql" | "clockSkew">;
  readonly #keptDays: number;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(services: Pick<ServerServices, "sql" | "clockSkew" | "logger">, keptDays: number, everyMs: number = KEYS_SWEEP_MS) {
    this.#services = services;
    this.#keptDays = keptDays;
    const onFailure = (error: unknown): void =>
      services.logger.warn(`old idempotency keys could not be removed (${withCause(error)}); trying again later`);
    const firstMs = Math.random() * everyMs;
    this.#running = every({ pauseMs: () => everyMs, firstMs, task: () => this.tidy(), onFailure }, this.#closing.signal);
  }

  async tidy(): Promise<number> {
    const { sql, clockSkew } = this.#services;
    let removed = 0;
    while (!clockSkew().isLarge && !this.#closing.signal.aborted) {
      const { length } = await sql.query(REMOVE, [this.#keptDays]);
      removed += length;
      if (length < CHUNK) break;
    }
    return removed;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }
}

export type SweepSettings = {
  readonly retention: RetentionPolicy;
  readonly retentionSweepMs: number;
  readonly keptKeysDays: number;
  /** Events stay until they are delivered to these. */
  readonly consumers: readonly KnownConsumer[];
  /** The sandbox of the server; null without one. */
  readonly box: Swept | null;
  readonly exports: ExportLooks;
  readonly wake: (agent: AgentOfTenant) => Promise<void>;
};

/** Starts the periodic work of a server: the ends of waits, and the removal of old rows and files. */
export function startSweeps(
  services: ServerServices,
  { retention, retentionSweepMs, keptKeysDays, consumers, box, exports, wake }: SweepSettings,
): AsyncDisposable {
  const idleWatches = new IdleWatches({ ...services, wake });
  const mcpTasks = new McpTasks(wake);
  const sweeps = [
    new DueSleeper(services, async (wait) => {
      const { tenant } = wait;
      await endDue({ ...services.of(tenant), idleWatches, mcpTasks, exports }, wait);
      await Promise.all(agentsOf(wait).map((agentId) => wake({ agentId, tenant })));
    }),
    new RetentionSweep(services, retention, consumers, retentionSweepMs),
    new HomesSweep(services, box),
    new KeysSweep(services, keptKeysDays),
    ...[
      LEFT_VERSIONS,
      OLD_MEMORY,
      OLD_BUDGET_PERIODS,
      OLD_SESSIONS,
      OLD_ACCESS_TOKENS,
      DELETED_AGENTS,
      LEFT_IMAGES,
      leftOutputs(services.outputs),
    ].map((removal) => new RemovalSweep(services, removal)),
    new AuditSweep(services, AUDIT_TIMES),
  ];
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(sweeps.map((sweep) => sweep.close()));
      await idleWatches.close();
      await mcpTasks.close();
    },
  };
}
