import { randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Housekeeping, HOUSEKEEPING_MS } from "./agent/housekeeping.ts";
import { LEASE_TIMES, releaseAll, type LeaseTimes } from "./agent/lease.ts";
import { listenerConsumers } from "./agent/listeners.ts";
import type { Model } from "./agent/models/model.ts";
import type { AgentParts } from "./agent/parts.ts";
import { Images } from "./agent/images.ts";
import { KeptOutputs } from "./agent/kept-outputs.ts";
import { Transcripts } from "./agent/transcript.ts";
import { ToolSlots } from "./agent/tool-slots.ts";
import { Runner } from "./agent/runner.ts";
import { openDatabase, type Database } from "./db/database.ts";
import type { Sql, Statement } from "./db/sql.ts";
import { Appender } from "./events/appender.ts";
import { postgresBell, silentBell } from "./events/bell.ts";
import { forNobody } from "./db/reader-limits.ts";
import { Consumers } from "./events/consumers.ts";
import { CONSUMER_TIMES, type ConsumerTimes } from "./events/delivery.ts";
import { EventLog } from "./events/log.ts";
import { WAITING_LIMITS, type WaitingLimits } from "./events/waiting-events.ts";
import { Tails } from "./events/tails.ts";
import { forgottenCount } from "./forgotten.ts";
import { systemClock, type Clock } from "./lib/clock.ts";
import { consoleLogger, type Logger } from "./lib/log.ts";
import { ProcessGroups } from "./lib/process-groups.ts";
import { ExpensiveReads } from "./resolvers/expensive-reads.ts";
import { ADMITTED_MS } from "./server/context.ts";
import { startServer } from "./server/server.ts";
import { READER_TIMES, SlowReaders, type ReaderTimes } from "./server/slow-readers.ts";
import { webhookConsumer } from "./server/webhooks.ts";
import type { Environment } from "./environment.ts";
import type { Settings } from "./settings.ts";

/** What tests put in the place of parts. Nothing else of the application can be replaced. */
export type Overrides = {
  readonly clock?: Clock;
  /** What stands between the application and its database. */
  readonly sql?: (sql: Sql) => Sql;
  readonly logger?: Logger;
  readonly leaseTimes?: LeaseTimes;
  readonly consumerTimes?: ConsumerTimes;
  readonly readerTimes?: ReaderTimes;
  readonly housekeepingMs?: number;
  readonly admittedMs?: number;
  readonly waitingLimits?: WaitingLimits;
  readonly models?: ReadonlyMap<string, Model>;
};

/** A running server. */
export type App = {
  readonly port: number;
  readonly database: Database;
  readonly parts: AgentParts;
  /** Lets an agent go on after something was committed for it here. */
  wake(agentId: string): void;
  close(): Promise<void>;
};

/** Builds the parts and joins them: database, log, tails, runner, server. Closed in the opposite order. */
export async function startApp(settings: Settings, overrides: Overrides = {}): Promise<App> {
  const logger = overrides.logger ?? consoleLogger;
  const node = randomUUID();
  const started = Date.now();
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).toReversed()) await end();
  };
  try {
    const database = await openDatabase(settings.environment.database, (message) => logger.warn(message));
    closing.push(() => database.close());
    const bell =
      database.config.kind === "postgres" ? postgresBell(database.config.url, database.version, node, logger) : silentBell();
    closing.push(() => bell.close());
    const [sql, leases, reads] = [database.sql, database.leases, database.reads].map(
      (given) => overrides.sql?.(given) ?? given,
    ) as [Sql, Sql, Sql];
    const log = new EventLog(sql, overrides.waitingLimits ?? WAITING_LIMITS, reads);
    log.onLongRetry((problem, sinceMs) =>
      logger.warn(`a write of an agent is tried again since ${Math.round(sinceMs / 1_000)} s (${problem})`),
    );
    const compare = async (): Promise<void> => {
      for (const tenant of await log.compareNewest())
        logger.error(`the log of tenant ${tenant} lost commits in a failover: stop all servers, and run \`npm run restored\``);
    };
    sql.outages.onReconnect(compare);
    let committed = 0;
    log.onCommitted((tenant, events, isSignal) => {
      committed += events.length;
      bell.ring({ tenant, isSignal });
    });
    const tails = new Tails(log, bell, logger, compare);
    closing.push(() => tails.close());
    const { dataFolder } = settings.environment;
    const groups = new ProcessGroups();
    closing.push(async () => groups.close());
    const images = new Images();
    const parts: AgentParts = {
      node,
      sql,
      leases,
      reads,
      log,
      appender: new Appender(log),
      bell,
      clock: overrides.clock ?? systemClock,
      logger,
      leaseTimes: overrides.leaseTimes ?? LEASE_TIMES,
      templates: settings.templates,
      models: overrides.models ?? settings.models,
      tools: settings.tools,
      agentLimit: settings.agentLimit,
      slots: new ToolSlots(settings.toolLimits),
      outputs: new KeptOutputs(join(dataFolder, "outputs")),
      groups,
      images,
      transcripts: new Transcripts(images),
      closedPlaces: closedPlaces(settings.environment),
      modes: settings.modes,
      workspaceRoots: settings.workspaceRoots,
      folder: settings.environment.folder,
      defaultWorkspace: settings.defaultWorkspace,
      ownWorkspaces: join(realFolder(dataFolder), "workspaces"),
    };
    // Only one process works on the embedded database.
    if (database.config.kind === "embedded") await releaseAll(sql);
    const runner = new Runner(parts);
    closing.push(() => runner.close());
    const wake = (agentId: string): void => void forNobody(() => runner.wake(agentId));
    const readers = [...listenerConsumers(settings.listeners, parts, wake), ...settings.webhooks.map(webhookConsumer)];
    const consumers = await Consumers.start(parts, readers, overrides.consumerTimes ?? CONSUMER_TIMES);
    closing.push(() => consumers.close());
    const housekeeping = new Housekeeping(parts, settings.retention, readers, overrides.housekeepingMs ?? HOUSEKEEPING_MS);
    closing.push(() => housekeeping.close());
    const admittedMs = overrides.admittedMs ?? ADMITTED_MS;
    const shared = { admittedMs, prisma: database.prisma, parts, tails, wake, expensive: new ExpensiveReads() };
    const slowReaders = new SlowReaders(overrides.readerTimes ?? READER_TIMES);
    const metrics = (): string =>
      [
        metric("triplane_uptime_seconds", "gauge", (Date.now() - started) / 1_000),
        metric("triplane_agents_held", "gauge", runner.size),
        metric("triplane_agents_limit", "gauge", settings.agentLimit),
        metric("triplane_events_waiting", "gauge", log.waiting.events),
        metric("triplane_write_retries_total", "counter", log.retries),
        metric("triplane_events_of_unknown_kinds_total", "counter", log.unknownEvents),
        metric("triplane_reads_without_unknown_rows_total", "counter", database.unknownRows()),
        metric("triplane_storage_outage", "gauge", log.outage === null ? 0 : 1),
        metric("triplane_transcript_bytes", "gauge", parts.transcripts.bytes),
        metric("triplane_tail_bytes", "gauge", tails.bytes),
        metric("triplane_subscriptions", "gauge", tails.followers),
        metric("triplane_slow_readers_closed_total", "counter", slowReaders.closed),
        metric("triplane_tools_running", "gauge", parts.slots.load.running),
        metric("triplane_tools_waiting", "gauge", parts.slots.load.waiting),
        metric("triplane_events_committed_total", "counter", committed),
        metric("triplane_forgotten_failures_total", "counter", forgottenCount()),
        metric("process_resident_memory_bytes", "gauge", process.memoryUsage.rss()),
      ].join("");
    const { port, host } = settings.environment;
    const server = await startServer(
      { ...settings, port, host, slowReaders },
      shared,
      { ready: async () => leases.query<object>(READY, []).then(refuseLost), metrics },
      logger,
    );
    closing.push(() => server.close());
    void database.makeFaster((message) => logger.warn(message));
    return { port: server.port, database, parts, wake, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Answers the tenants whose log lost commits. */
const READY: Statement = { name: "ready", text: "SELECT tenant FROM tenant_log WHERE lost_at IS NOT NULL LIMIT 1" };

function refuseLost(rows: readonly object[]): void {
  if (rows.length > 0) throw new Error("a failover lost commits: stop all servers, and run `npm run restored`");
}

/** The folder of the server's own sources. */
const ROOT = realpathSync(fileURLToPath(new URL("..", import.meta.url)));
/** The files of the server, and of the folder in which it was started, that are closed to tools. */
const SOURCES = ["src", "prisma", "scripts", "clients", "node_modules", ".git", ".triplane", "package.json", "package-lock.json"];
const ENVIRONMENT = [".env", ".env.local", ".env.production", ".env.development"];

function closedPlaces({ dataFolder, configPath, folder }: Environment): string[] {
  const sources = SOURCES.map((name) => join(ROOT, name));
  const environments = [ROOT, realFolder(folder)].flatMap((place) => ENVIRONMENT.map((name) => join(place, name)));
  // Of the data, each part is closed besides: a workspace below it opens the folder, not them.
  const data = ["", "outputs", "pglite", "triplane.lock", "triplane.owner"].map((name) => join(realFolder(dataFolder), name));
  return [...sources, ...environments, ...data, realFolder(configPath)];
}

/** The real path of a folder that may not be there yet. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

function metric(name: string, type: "gauge" | "counter", value: number): string {
  return `# TYPE ${name} ${type}\n${name} ${value}\n`;
}
