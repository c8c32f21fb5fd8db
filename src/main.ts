import { randomUUID } from "node:crypto";
import { startApp, type App } from "./app.ts";
import { readEnvironment, readLogSettings, variableNotes } from "./config/environment.ts";
import { exit } from "./exit.ts";
import { explained } from "./operator-error.ts";
import { watchForgotten } from "./forgotten.ts";
import { createLogger, type Logger } from "./telemetry/log.ts";
import { LogStream } from "./telemetry/log-stream.ts";
import { loadSettings, type Settings } from "./config/settings.ts";
import { readVersion } from "./config/version.ts";
import { urlOf } from "./lib/addresses.ts";
import { messageOf } from "./lib/text.ts";
import { ConsoleBuild } from "./server/console/build.ts";
import { versionText } from "./telemetry/version.ts";

/** The longest time from a close signal to the end of the process; ms. */
const CLOSED_AFTER_MS = 15_000;
/** Two signals within so many ms are one: supervisors signal every process, and the bootstrap forwards its own. */
const SAME_SIGNAL_MS = 1_000;

const version = readVersion(process.env);
if (process.argv.includes("--version")) {
  console.log(`Triplane ${versionText(version)}, Node ${process.versions.node}`);
  await exit();
}

const [argument] = process.argv.slice(2);
if (argument !== undefined) {
  console.error(
    `Triplane takes no argument but --version, and not ${argument}: its settings are environment variables (README.md)`,
  );
  process.exitCode = 2;
  await exit();
}

const serverId = randomUUID();
const logStream = new LogStream(process.stderr);
let startLogger: Logger | null = null;
try {
  const logSettings = readLogSettings(process.env, process.stderr.isTTY);
  const logger = createLogger({ ...logSettings, server: serverId, write: (line) => logStream.write(line) });
  if (logSettings.format === "json") startLogger = logger;
  watchForgotten(logger);
  const settings = await loadSettings(readEnvironment(process.env), (path) => process.send?.({ read: [path] }));
  const consoleBuild = new ConsoleBuild();
  const app = await startApp(settings, {
    serverId,
    version,
    logger,
    lostLogLines: () => logStream.lost,
    console: consoleBuild.state,
  });
  closeOnSignals({ ...app, close: () => (consoleBuild.close(), app.close()) }, logger);
  const { kind } = settings.environment.database;
  logger.tell("start", `the server listens, on ${kind === "embedded" ? "the embedded database" : "PostgreSQL"}`, {
    version: versionText(version),
    digest: settings.digest,
    url: `${urlOf(settings.environment.host, app.port)}/graphql`,
  });
  console.log(welcome(settings, app.port));
  consoleBuild.begin(logger);
} catch (error) {
  const message = explained(error);
  const said = `Triplane did not start: ${message ?? messageOf(error)}`;
  if (startLogger !== null) startLogger.tell("start_failed", said, {}, message === null ? error : undefined);
  else console.error(message === null ? error : said);
  process.exitCode = 1;
  await exit();
}

/** The first signal closes in order, within CLOSED_AFTER_MS; a later one ends the process immediately. */
function closeOnSignals(app: App, logger: Logger): void {
  let closingSince: number | null = null;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (closingSince !== null) {
        if (performance.now() - closingSince > SAME_SIGNAL_MS) process.exit(1);
        return;
      }
      closingSince = performance.now();
      const began = performance.now();
      console.log("Closing. A second signal ends at once.");
      logger.tell("closing", "the server closes: running tools may end, and its agents are given back", { reason: signal });
      setTimeout(() => {
        logger.error("closing took too long: what was still under way is found by the next owner as after a crash");
        process.exit(1);
      }, CLOSED_AFTER_MS).unref();
      void closed(app, logger)
        .then(() => logger.tell("closing", "the server has closed", { durationMs: Math.round(performance.now() - began) }))
        .then(exit);
    });
  }
}

async function closed(app: App, logger: Logger): Promise<void> {
  try {
    await app.close();
  } catch (error) {
    logger.error("something could not be closed", error);
    process.exitCode = 1;
  }
}

function welcome(settings: Settings, port: number): string {
  const { environment, tenants, authentication, sandboxLines, notes } = settings;
  const host = new URL(urlOf(settings.environment.host, port)).host;
  const { database } = environment;
  const { models } = tenants.everybody;
  const options = [port === 4000 ? "" : `--url http://${host}/graphql`, authentication.kind === "local" ? "" : "--token TOKEN"]
    .filter(Boolean)
    .join(" ");
  const ending = options === "" ? "" : ` -- ${options}`;
  // Actors work in configured folders; the demo's project is not among them.
  const demo = authentication.kind === "local" ? `npm run demo${ending}    or    ` : "";
  return [
    "",
    `Triplane ${versionText(version)} is running.`,
    "",
    `  Console    http://${host}/console`,
    `  GraphQL    http://${host}/graphql   (GraphiQL in a browser; SSE)`,
    `  WebSocket  ws://${host}/graphql     (graphql-transport-ws)`,
    `  Operators  http://${host}/healthz, /readyz, /metrics`,
    `  Data       ${database.kind === "embedded" ? `${database.folder} (embedded database, one process)` : "PostgreSQL of DATABASE_URL"}`,
    ...[...models].map(([name, model]) => `  Model      ${name}: ${model.name}`),
    `  Access     ${authentication.kind === "local" ? "no actors are configured: whoever reaches this address is the local administrator" : "actors with tokens"}`,
    ...sandboxLines.map((line) => `  Sandbox    ${line}`),
    ...[...notes, ...variableNotes(process.env)].map((note) => `  Note       ${note}`),
    "",
    `Try, in a second terminal:  ${demo}npm run chat${ending}`,
    "",
  ].join("\n");
}
