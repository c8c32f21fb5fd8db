import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { RETENTION_SWEEP_MS, startSweeps } from "./sweeps/sweeps.ts";
import { LEASE_TIMES, endAll, type AgentOfTenant, type LeaseTimes } from "./agent/loop/lease.ts";
import { logForOperator, countWork } from "./deliveries/operator-reports.ts";
import { listenerConsumers } from "./deliveries/listeners.ts";
import type { Model } from "./agent/models/model.ts";
import type { ServerServices } from "./agent/loop/scope.ts";
import { RecentOutputs } from "./agent/budgets/expected.ts";
import { RememberedBudgets } from "./agent/budgets/remembered-budgets.ts";
import { ActorNames } from "./agent/actors/actor-names.ts";
import { Images } from "./agent/conversation/images.ts";
import { LateResults } from "./agent/calls/late-results.ts";
import { RecentResults } from "./agent/calls/results/result-cache.ts";
import { CallTokens } from "./agent/calls/call-tokens.ts";
import { ToolOutputs } from "./agent/calls/outputs.ts";
import { RequestRoom, CancelledModelCalls } from "./agent/conversation/request-room.ts";
import { Transcripts } from "./agent/conversation/transcript.ts";
import { closeLostShells } from "./agent/calls/shells/lost.ts";
import { endShellLeases } from "./agent/calls/shells/rows.ts";
import { ServerShells } from "./agent/calls/shells/server-shells.ts";
import { RememberedHostRules } from "./agent/policy/hosts/remembered-host-rules.ts";
import { ToolSlots } from "./agent/calls/slots.ts";
import { Runner } from "./agent/loop/runner.ts";
import { UnknownAgents } from "./agent/loop/unknown-agents.ts";
import { DatabaseClock, NO_SKEW } from "./db/database-clock.ts";
import { untilPostgresAnswers } from "./db/late-postgres.ts";
import { lockFolder } from "./db/lock-file.ts";
import { openDatabase, type Database } from "./db/database.ts";
import type { Sql } from "./db/sql.ts";
import { Appender } from "./events/appender.ts";
import { silentBell } from "./events/bell/bell.ts";
import { PostgresBell } from "./events/bell/postgres-bell.ts";
import { detached } from "./db/connections/reader-limits.ts";
import { Consumers, registerConsumers } from "./deliveries/consumers.ts";
import { CONSUMER_TIMES, type ConsumerTimes } from "./deliveries/delivery.ts";
import { EventLog } from "./events/log.ts";
import { CommitsLost } from "./events/log-page.ts";
import { WAITING_LIMITS, type WaitingLimits } from "./events/waiting-events.ts";
import { Feeds } from "./events/reading/feed.ts";
import { Tails } from "./events/reading/tails.ts";
import { Registry } from "prom-client";
import { serverMetrics } from "./metrics.ts";
import { measureEventLoop } from "./telemetry/event-loop.ts";
import { Meters } from "./telemetry/meters.ts";
import { observedBy } from "./db/observer.ts";
import { Readers } from "./events/reading/reader.ts";
import { systemClock, type Clock } from "./lib/time.ts";
import type { Version } from "./telemetry/version.ts";
import { consoleLogger, type Logger } from "./telemetry/log.ts";
import type { McpTimes } from "./agent/mcp/connection.ts";
import { endAllProcesses, McpProcesses } from "./agent/mcp/tasks/processes.ts";
import type { Network } from "./agent/workspace/network/reach.ts";
import { AnsweringFolders } from "./agent/workspace/answering-folders.ts";
import { ProcessGroups, ALIVE_SHARE, TICK_SHARE } from "./agent/workspace/process-groups.ts";
import { Homes } from "./agent/workspace/homes.ts";
import { unboxed } from "./agent/workspace/sandbox/unboxed.ts";
import { FileWatches, RememberedFiles } from "./agent/workspace/changes/file-watches.ts";
import { RecentContents } from "./agent/workspace/known-files.ts";
import { CoveredPaths } from "./agent/workspace/sandbox/covered-paths.ts";
import { ExpensiveReads } from "./resolvers/context.ts";
import { Admissions } from "./server/subscriptions/admissions.ts";
import { refuseLost } from "./server/readiness.ts";
import { checkPort, startServer, type ServerOptions } from "./server/server.ts";
import { openLinks } from "./server/links.ts";
import { RateLimits } from "./server/rate-limits.ts";
import { SignIns } from "./server/sign-ins.ts";
import { READER_TIMES, SlowReaders, type ReaderTimes } from "./server/slow-readers.ts";
import { ExportMaking } from "./deliveries/exports/export-making.ts";
import { webhookConsumer } from "./deliveries/webhooks.ts";
import { closedFolders, realFolder } from "./config/closed-folders.ts";
import { narrowedRules } from "./agent/policy/narrowed-rules.ts";
import { reportConfigurationChanges } from "./config/configuration-changes.ts";
import { boxOf, madeFolder } from "./boxes.ts";
import { decidersOf, type Settings } from "./config/settings.ts";
import { readVersion } from "./config/version.ts";
import { openMcpServers } from "./mcp-servers.ts";
import { partsOf, servicesByTenant } from "./tenant-services.ts";

/** The parts that are put in the place of the application's, by tests. The process itself gives its logger, the id that is on its lines, and its version. */
export type Overrides = {
  readonly serverId?: string;
  readonly version?: Version;
  readonly clock?: Clock;
  /** The migrations of a next version. */
  readonly migrations?: Parameters<typeof openDatabase>[2];
  /** A layer between the application and its database. */
  readonly sql?: (sql: Sql, purpose: "commits" | "sql" | "leases" | "reads") => Sql;
  readonly logger?: Logger;
  readonly leaseTimes?: LeaseTimes;
  readonly consumerTimes?: ConsumerTimes;
  readonly readerTimes?: ReaderTimes;
  readonly retentionSweepMs?: number;
  /** The feeds of the server, in the place of its own. */
  readonly feeds?: (tails: Tails) => Feeds;
  readonly admittedMs?: number;
  readonly unknownAgentsMs?: number;
  readonly waitingLimits?: WaitingLimits;
  readonly requests?: RequestRoom;
  readonly models?: ReadonlyMap<string, Model>;
  /** The way of programs of boxes to the internet. */
  readonly network?: Network;
  readonly mcpTimes?: McpTimes;
  readonly lostLogLines?: () => number;
  readonly console?: ServerOptions["console"];
};

export type App = {
  readonly port: number;
  readonly database: Database;
  readonly services: ServerServices;
  /** Lets an agent go on after something was committed for it here. */
  wake(agent: AgentOfTenant): void;
  close(): Promise<void>;
};

/** Builds the parts and joins them, from the database to the server. They are closed in the opposite order, even if one fails. */
export async function startApp(settings: Settings, overrides: Overrides = {}): Promise<App> {
  await using starting = new AsyncDisposableStack();
  const startedAt = performance.now();
  const logger = overrides.logger ?? consoleLogger;
  const serverId = overrides.serverId ?? randomUUID();
  const { dataFolder, programsFolder, port, host, folder } = settings.environment;
  const version = overrides.version ?? readVersion(process.env);

  // Before anything is made or migrated for a start that fails.
  await checkPort(port, host);

  // The embedded database takes its folder itself.
  if (settings.environment.database.kind === "postgres") starting.defer(await lockFolder(dataFolder));
  if (programsFolder !== dataFolder) await madeFolder(programsFolder);

  // The database, and what stands between it and the application in tests.
  const registry = new Registry();
  const meters = new Meters(registry);
  if (settings.environment.database.kind === "postgres") await untilPostgresAnswers(settings.environment.database.url, logger);
  const database = await openDatabase(settings.environment.database, observedBy(logger, meters), overrides.migrations);
  starting.defer(() => database.close());
  const tested = overrides.sql ?? ((given) => given);
  const commits = tested(database.commits, "commits");
  const sql = tested(database.sql, "sql");
  const leases = tested(database.leases, "leases");
  const reads = tested(database.reads, "reads");

  // The log: who writes it, who is told of it, who follows it.
  const bell =
    database.config.kind === "postgres"
      ? new PostgresBell(database.config.url, database.version, serverId, logger)
      : silentBell();
  starting.defer(() => bell.close());
  const log = new EventLog(commits, overrides.waitingLimits ?? WAITING_LIMITS, reads);
  log.onLongRetry((problem, sinceMs) =>
    logger.warn(`a write of an agent is tried again since ${Math.round(sinceMs / 1_000)} s (${problem})`),
  );
  log.onCommitted((tenant, _events, isSignal) => bell.ring({ tenant, isSignal }));
  const compare = comparison(log, logger);
  sql.outages.onReconnect(compare);
  const tails = new Tails(log, bell, logger, compare);
  starting.defer(() => tails.close());
  const feeds = overrides.feeds?.(tails) ?? new Feeds(tails);
  logForOperator(log, logger, settings.digest);
  countWork(log, meters);

  // The agents.
  // The embedded database has the clock of this machine.
  const databaseClock = database.config.kind === "embedded" ? null : await DatabaseClock.open({ sql: leases, logger });
  const clock = overrides.clock ?? databaseClock ?? systemClock;
  const leaseTimes = overrides.leaseTimes ?? LEASE_TIMES;
  // Only one process works on the embedded database: nobody else could go on beside a program.
  const programMs = database.config.kind === "embedded" ? Infinity : leaseTimes.ttlMs * ALIVE_SHARE;
  const groups = new ProcessGroups(leaseTimes.ttlMs * TICK_SHARE, (of) =>
    logger.tell(
      "program_killed",
      "a program was killed, since this server could not renew its lease in time: its call says so",
      of,
    ),
  );
  starting.defer(() => groups.close());
  const folders = new AnsweringFolders();
  const box = boxOf(settings, groups, overrides.network);
  starting.defer(() => box?.close());
  for (const note of (await box?.open(folders)) ?? []) logger.warn(note);
  const images = new Images();
  const outputs = new ToolOutputs(join(dataFolder, "outputs"));
  const homes = await Homes.open(sql, join(realFolder(programsFolder), "homes"));
  const sandboxes = { none: unboxed(groups), box };
  const coveredPaths = new CoveredPaths();
  const { hosts: listedHosts } = settings.sandbox;
  const hostRules = new RememberedHostRules(sql, clock);
  starting.defer(hostRules.follow(log, bell));
  const rememberedBudgets = new RememberedBudgets(sql, clock);
  starting.defer(rememberedBudgets.follow(log, bell));
  const callTokens = await CallTokens.open(sql);
  const shells = new ServerShells({
    homes,
    coveredPaths,
    folders,
    listedHosts,
    serverId,
    sql,
    leases,
    log,
    clock,
    logger,
    outputs,
    leaseTimes,
    programMs,
  });
  starting.defer(() => shells.close());
  const mcpProcesses = starting.use(new McpProcesses({ sql, leases, leaseTimes, logger }));
  const ownWorkspaces = join(realFolder(dataFolder), "workspaces");
  const shared = {
    serverId,
    version,
    meters,
    sql,
    leases,
    reads,
    log,
    appender: new Appender(log),
    bell,
    clock,
    clockSkew: () => databaseClock?.skew ?? NO_SKEW,
    compareClocks: async () => databaseClock?.compare(),
    logger,
    leaseTimes,
    // No other server could know more.
    knownParts: database.config.kind === "embedded" ? null : partsOf(settings, ownWorkspaces, overrides.models),
    programMs,
    mcpProcesses,
    agentLimit: settings.agentLimit,
    hasSeveralTenants: settings.hasSeveralTenants,
    slots: new ToolSlots(settings.toolLimits),
    outputs,
    lateResults: new LateResults(logger),
    cancelledModelCalls: new CancelledModelCalls(logger),
    groups,
    homes,
    contents: new RecentContents(),
    results: new RecentResults(),
    sandboxes,
    coveredPaths,
    folders,
    listedHosts,
    hostRules,
    rememberedBudgets,
    recentOutputs: new RecentOutputs(),
    shells,
    callTokens,
    images,
    transcripts: new Transcripts(images),
    rememberedFiles: new RememberedFiles(),
    fileWatches: new FileWatches(logger),
    requests: overrides.requests ?? new RequestRoom(),
    actorNames: new ActorNames(sql),
    closedFolders: closedFolders(settings.environment),
    modes: settings.modes,
    agentHooks: settings.agentHooks,
    folder,
    ownWorkspaces,
    decidersOf: decidersOf(settings),
  };
  const services: ServerServices = { ...shared, of: servicesByTenant(shared, settings.tenants, overrides.models) };
  const mcpServers = starting.use(openMcpServers(settings, services, overrides.mcpTimes));

  // Further listeners of the log, before this server's first events.
  const wake = (agent: AgentOfTenant): void => void detached(() => runner.wake(agent));
  const told = [...listenerConsumers(settings.listeners, services, wake), ...settings.webhooks.map(webhookConsumer(sql))];
  await registerConsumers(services, told);

  // Changes of rights since the last start of a server.
  await reportConfigurationChanges(services, settings.partsOf);
  for (const note of await narrowedRules(reads, services.of)) logger.warn(note);
  if (settings.authentication.kind === "tokens") await services.actorNames.remember(settings.authentication.actors);

  // The figures, which count from now on.
  const slowReaders = new SlowReaders(overrides.readerTimes ?? READER_TIMES);
  const readers = new Readers();
  serverMetrics(registry, {
    ...services,
    tails,
    feeds,
    slowReaders,
    readers,
    startedAt,
    digest: settings.digest,
    unknownRows: database.unknownRows,
    connections: database.connections,
    mcpServers: mcpServers.count,
    lostLogLines: overrides.lostLogLines ?? (() => 0),
    agentsHeld: () => runner.size,
    agentsUnknown: () => unknownAgents.count,
    failedTries: () => consumers.failedTries,
    undelivered: () => consumers.givenUp,
  });
  starting.defer(measureEventLoop(registry, logger));

  if (database.config.kind === "embedded") {
    await Promise.all([endAll(sql), endShellLeases(sql), endAllProcesses(sql)]);
    // What a server that was killed has left behind does not run, and nobody shall read that it does.
    await closeLostShells(services);
  }
  await mcpServers.firstTries;
  const runner = new Runner(services);
  starting.defer(() => runner.close());
  const unknownAgents = starting.use(new UnknownAgents(services, overrides.unknownAgentsMs));
  shells.onEnded(wake);

  // What delivers to them, and what is removed from the log.
  const consumers = new Consumers(services, told, overrides.consumerTimes ?? CONSUMER_TIMES);
  starting.defer(() => consumers.close());
  const exports = starting.use(new ExportMaking(services, settings.exportBytes));
  const retentionSweepMs = overrides.retentionSweepMs ?? RETENTION_SWEEP_MS;
  const sweepSettings = { ...settings, retentionSweepMs, consumers: told, box, exports };
  starting.use(startSweeps(services, { ...sweepSettings, wake: (agent) => runner.wake(agent) }));

  // The doors.
  const { links, urls } = await openLinks(sql, clock);
  const signIns = new SignIns(sql, clock, logger);
  const server = await startServer(
    { ...settings, ...links, port, host, slowReaders, feeds, readers, meters, callTokens, signIns, console: overrides.console },
    {
      admissions: new Admissions(sql, services.clock, overrides.admittedMs),
      prisma: database.prisma,
      services,
      wake,
      expensive: new ExpensiveReads(),
      operator: { startedAt, retention: settings.retention, consumersOf: (tenant) => consumers.of(tenant) },
      ...urls,
      rateLimits: new RateLimits(settings.rateLimit, services.clock),
    },
    { version, ready: async () => refuseLost(leases), metrics: () => registry.metrics(), copies: database.copies },
    logger,
  );
  starting.defer(() => server.close());
  void database.makeFaster();
  const started = starting.move();
  return { port: server.port, database, services, wake, close: () => started.disposeAsync() };
}

/** Compares what this server knows of the logs with the database, which may be another one after a connection was lost. */
function comparison(log: EventLog, logger: Logger): () => Promise<void> {
  return async () => {
    for (const tenant of await log.compareNewest()) logger.tell("commits_lost", new CommitsLost(tenant).message, { tenant });
  };
}
