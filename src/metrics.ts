import { readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Counter, Gauge, type Registry } from "prom-client";
import type { RequestRoom, CancelledModelCalls } from "./agent/conversation/request-room.ts";
import type { Transcripts } from "./agent/conversation/transcript.ts";
import type { AnsweringFolders } from "./agent/workspace/answering-folders.ts";
import type { LateResults } from "./agent/calls/late-results.ts";
import type { RecentResults } from "./agent/calls/results/result-cache.ts";
import type { ToolSlots } from "./agent/calls/slots.ts";
import type { ClockSkew } from "./db/database-clock.ts";
import type { EventLog } from "./events/log.ts";
import type { Feeds } from "./events/reading/feed.ts";
import type { Tails } from "./events/reading/tails.ts";
import { forgottenCount } from "./forgotten.ts";
import type { Version } from "./telemetry/version.ts";
import type { Sql, Statement } from "./db/sql.ts";
import type { PoolLoad } from "./db/connections/pool.ts";
import type { Readers } from "./events/reading/reader.ts";
import type { SlowReaders } from "./server/slow-readers.ts";

export type MetricSources = {
  readonly log: EventLog;
  readonly transcripts: Transcripts;
  readonly requests: RequestRoom;
  readonly tails: Tails;
  readonly feeds: Feeds;
  readonly slowReaders: SlowReaders;
  readonly readers: Readers;
  readonly connections: () => readonly PoolLoad[];
  /** The connections for metrics of the database. */
  readonly reads: Sql;
  /** The number of dropped log lines. */
  readonly lostLogLines: () => number;
  readonly slots: ToolSlots;
  readonly lateResults: LateResults;
  readonly results: RecentResults;
  readonly cancelledModelCalls: CancelledModelCalls;
  readonly failedTries: () => number;
  readonly undelivered: () => number;
  readonly agentLimit: number;
  /** The time at which the server began to start, by `performance.now()`. */
  readonly startedAt: number;
  readonly version: Version;
  readonly digest: string;
  readonly clockSkew: () => ClockSkew;
  readonly folders: AnsweringFolders;
  readonly agentsHeld: () => number;
  readonly agentsUnknown: () => number;
  readonly unknownRows: () => number;
  /** The number of MCP servers in each state. */
  readonly mcpServers: () => Readonly<Record<string, number>>;
};

/** The validity of a metric of the database, and the time limit of its query, in ms. */
const ASKED_MS = 5_000;
const ANSWER_MS = 1_500;

export function serverMetrics(registry: Registry, sources: MetricSources): void {
  const { log, transcripts, requests, tails, feeds, slowReaders, readers, slots } = sources;
  const gauge = (name: string, help: string, read: () => number): void => {
    const made: Gauge = new Gauge({ name, help, registers: [registry], collect: () => made.set(read()) });
  };
  const counter = (name: string, help: string, read: () => number): void => {
    const made: Counter = new Counter({
      name,
      help,
      registers: [registry],
      collect: () => {
        made.reset();
        made.inc(read());
      },
    });
  };
  const gauges = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => readonly (readonly [Record<Label, string>, number])[],
  ): void => {
    const made: Gauge<Label> = new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect: () => read().forEach(([labels, value]) => made.set(labels, value)),
    });
  };
  const startTime = Date.now() / 1_000 - process.uptime();

  new Gauge({
    name: "triplane_build_info",
    help: "1, with the version that runs.",
    labelNames: ["version", "commit", "node"],
    registers: [registry],
  }).set({ version: sources.version.version, commit: sources.version.commit ?? "", node: process.versions.node }, 1);
  gauges("triplane_configuration_info", "1, with a digest of the configuration.", ["digest"], () => [
    [{ digest: sources.digest }, 1],
  ]);
  gauge("triplane_uptime_seconds", "Since the server began to start.", () => (performance.now() - sources.startedAt) / 1_000);
  gauge(
    "triplane_clock_skew_seconds",
    "By how much this machine's clock is ahead of the database's; negative if it is behind.",
    () => sources.clockSkew().ms / 1_000,
  );
  gauge(
    "triplane_hung_file_systems",
    "File systems of agents' folders that do not answer: their agents wait.",
    () => sources.folders.hung,
  );
  gauge("triplane_agents_held", "Agents that this server works on.", sources.agentsHeld);
  gauge(
    "triplane_agents_unknown",
    "Runnable agents whose template, model, hooks or folder is missing in the configuration of this server.",
    sources.agentsUnknown,
  );
  gauge("triplane_agents_limit", "Agents that this server works on at most (agentLimit).", () => sources.agentLimit);
  gauge("triplane_events_waiting", "Events that are not committed yet.", () => log.waiting.events);
  counter(
    "triplane_write_retries_total",
    "Writes of agents that the database refused and that were tried again.",
    () => log.retries,
  );
  counter(
    "triplane_events_of_unknown_kinds_total",
    "Events that were left out for readers, since a newer version writes them.",
    () => log.unknownEvents,
  );
  counter(
    "triplane_reads_without_unknown_rows_total",
    "Reads that left rows out which only a newer version knows.",
    sources.unknownRows,
  );
  gauge("triplane_storage_outage", "1 while the database is away.", () => (log.outage === null ? 0 : 1));
  gauge("triplane_transcript_bytes", "Windows of conversations in memory.", () => transcripts.bytes);
  gauge("triplane_model_request_bytes", "Large requests to models that are under way.", () => requests.load.bytes);
  gauge("triplane_model_requests_waiting", "Large requests to models that wait for room.", () => requests.load.waiting);
  gauge("triplane_tail_bytes", "Newest events of followed tenants in memory.", () => tails.bytes);
  gauges("triplane_readers", "Subscriptions that are open, by transport and state.", ["transport", "state"], () =>
    readers.count().map(({ transport, state, readers: count }) => [{ transport, state }, count]),
  );
  gauge("triplane_websockets", "WebSockets that are open.", () => readers.sockets);
  gauge("triplane_subscriptions", "Streams that are followed.", () => feeds.readers);
  gauge("triplane_feeds", "Feeds, each of which reads and encodes pages once for all of its streams.", () => feeds.size);
  counter("triplane_slow_readers_closed_total", "Connections that were closed since nobody read them.", () => slowReaders.closed);
  gauges("triplane_mcp_servers", "Configured MCP servers, by the state of their connection.", ["state"], () =>
    Object.entries(sources.mcpServers()).map(([state, count]) => [{ state: state.toLowerCase() }, count]),
  );
  gauge("triplane_tools_running", "Tool calls that run.", () => slots.load.running);
  gauge("triplane_tools_waiting", "Tool calls that wait for a place.", () => slots.load.waiting);
  counter(
    "triplane_cached_results_total",
    "Tool calls that were given the result of an earlier one, since their tool is cacheable.",
    () => sources.results.timesGiven,
  );
  gauge("triplane_cached_result_bytes", "Results of cacheable tools in memory.", () => sources.results.bytes);
  counter(
    "triplane_late_tool_results_total",
    "Tools that ended after their calls had, at a timeout or an interrupt.",
    () => sources.lateResults.count,
  );
  counter(
    "triplane_model_calls_unheard_total",
    "Model calls that had begun when the commit of their step was refused.",
    () => sources.cancelledModelCalls.count,
  );
  counter(
    "triplane_model_tokens_unheard_total",
    "Tokens that were counted of such calls by then.",
    () => sources.cancelledModelCalls.tokens,
  );
  counter(
    "triplane_failed_deliveries_total",
    "Tries to tell a listener or a webhook of an event that failed, and are made again.",
    sources.failedTries,
  );
  counter(
    "triplane_undelivered_events_total",
    "Events that a listener or a webhook was not told of, and is not any more.",
    sources.undelivered,
  );
  counter("triplane_forgotten_failures_total", "Failures that nobody waited for, of own code above all.", forgottenCount);
  gauges("triplane_database_connections", "Connections to the database, open and idle.", ["pool", "state"], () =>
    sources.connections().flatMap(({ pool, open, idle }) => [
      [{ pool, state: "idle" }, idle],
      [{ pool, state: "busy" }, open - idle],
    ]),
  );
  gauges("triplane_database_statements_waiting", "Statements that wait for a connection.", ["pool"], () =>
    sources.connections().map(({ pool, waiting }) => [{ pool }, waiting]),
  );
  ofAllTenants(registry, sources.reads);
  counter("triplane_log_lines_lost_total", "Lines of the log that nobody took.", sources.lostLogLines);
  counter("process_cpu_seconds_total", "Time of processors that the process used.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  });
  gauge("process_start_time_seconds", "When the process started, since 1970.", () => startTime);
  gauge("process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  gauge("nodejs_heap_size_used_bytes", "Memory of the process that its objects take.", () => process.memoryUsage().heapUsed);
  openFiles(registry);
}

/** The logs that a failover has shortened, and the open approvals, by tenant, each through the index of open approvals. */
const PENDING: Statement<{ count: number; oldestSeconds: number; lost: number }, []> = {
  name: "pending_approvals",
  text: `SELECT coalesce(sum(p.n), 0)::float8 AS count, coalesce(extract(epoch FROM policy_time() - min(p.oldest)), 0)::float8 AS "oldestSeconds",
      (count(*) FILTER (WHERE t.lost_at IS NOT NULL))::float8 AS lost
    FROM tenant_log t CROSS JOIN LATERAL (SELECT count(*) AS n, min(a.requested_at) AS oldest FROM approval a
      WHERE a.tenant = t.tenant AND a.state = 'PENDING') p`,
};

type Figure = "count" | "oldestSeconds" | "lost";

/** The metrics of all tenants come from the database, rarely; there are none during an outage. */
function ofAllTenants(registry: Registry, reads: Sql): void {
  let asked = -Infinity;
  let looking = Promise.resolve();
  const figures: readonly (readonly [Gauge, Figure])[] = [
    gaugeOf("triplane_approvals_pending", "Questions of all tenants that wait for people.", "count"),
    gaugeOf(
      "triplane_approvals_oldest_seconds",
      "For how long the oldest question of all tenants has waited for people.",
      "oldestSeconds",
    ),
    gaugeOf("triplane_logs_lost", "Logs of tenants of which a failover has lost commits: nobody reads or writes them.", "lost"),
  ];
  function gaugeOf(name: string, help: string, of: Figure) {
    // All metrics of a scrape share one query.
    return [new Gauge({ name, help, registers: [registry], collect: look }), of] as const;
  }
  async function look(): Promise<void> {
    if (performance.now() - asked >= ASKED_MS) {
      asked = performance.now();
      looking = Promise.race([reads.query(PENDING, []).catch(() => []), delay(ANSWER_MS, [], { ref: false })]).then(([known]) => {
        for (const [gauge, of] of figures)
          if (known === undefined) gauge.remove();
          else gauge.set(known[of]);
      });
    }
    return looking;
  }
}

/** The files and connections of the process, if the system reports them. */
function openFiles(registry: Registry): void {
  if (process.platform !== "linux") return;
  const files: Gauge = new Gauge({
    name: "process_open_fds",
    help: "Files and connections that the process has open.",
    registers: [registry],
    collect: async () => files.set((await readdir("/proc/self/fd").catch(() => [])).length),
  });
}
