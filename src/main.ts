import { startApp, type App } from "./app.ts";
import { DataFolderInUse, DataFolderUnusable } from "./db/lock-file.ts";
import { DatabaseUnavailable } from "./db/database.ts";
import { MigrationError } from "./db/migrate.ts";
import { ScriptError } from "./agent/models/script.ts";
import { ToolDefinitionError } from "./agent/tools/tool.ts";
import { ConfigurationError, readEnvironment } from "./environment.ts";
import { ListenError } from "./server/server.ts";
import { loadSettings, type Settings } from "./settings.ts";

/** Mistakes of the operator: their message says what to do, and a stack would hide it. */
const EXPLAINED = [
  ConfigurationError,
  DataFolderInUse,
  DataFolderUnusable,
  DatabaseUnavailable,
  ListenError,
  MigrationError,
  ScriptError,
  ToolDefinitionError,
];

/** A server that was asked to close is gone by then, whatever hangs; ms. */
const CLOSED_AFTER_MS = 15_000;

try {
  const settings = await loadSettings(readEnvironment(process.env));
  const app = await startApp(settings);
  closeOnSignals(app);
  console.log(welcome(settings, app.port));
} catch (error) {
  const isExplained = EXPLAINED.some((explained) => error instanceof explained);
  console.error(isExplained && error instanceof Error ? `Triplane did not start: ${error.message}` : error);
  process.exitCode = 1;
}

/** The first signal closes in order, within CLOSED_AFTER_MS; the second ends at once. */
function closeOnSignals(app: App): void {
  let isClosing = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (isClosing) process.exit(1);
      isClosing = true;
      console.log("Closing. A second signal ends at once.");
      setTimeout(() => {
        console.error("Closing took too long: what was still under way is found by the next owner as after a crash.");
        process.exit(1);
      }, CLOSED_AFTER_MS).unref();
      app.close().catch((error: unknown) => {
        console.error(error);
        process.exitCode = 1;
      });
    });
  }
}

function welcome({ environment, models, authentication, notes }: Settings, port: number): string {
  const host = `${environment.host.includes(":") ? `[${environment.host}]` : environment.host}:${port}`;
  const { database } = environment;
  const options = [port === 4000 ? "" : `--url http://${host}/graphql`, authentication.kind === "local" ? "" : "--token TOKEN"]
    .filter(Boolean)
    .join(" ");
  const ending = options === "" ? "" : ` -- ${options}`;
  return [
    "",
    "Triplane is running.",
    "",
    `  GraphQL    http://${host}/graphql   (GraphiQL in a browser; SSE)`,
    `  WebSocket  ws://${host}/graphql     (graphql-transport-ws)`,
    `  Operators  http://${host}/healthz, /readyz, /metrics`,
    `  Data       ${database.kind === "embedded" ? `${database.folder} (embedded database, one process)` : "PostgreSQL of DATABASE_URL"}`,
    ...[...models].map(([name, model]) => `  Model      ${name}: ${model.name}`),
    `  Access     ${authentication.kind === "local" ? "no actors are configured: whoever reaches this address is the local administrator" : "actors with tokens"}`,
    ...notes.map((note) => `  Note       ${note}`),
    "",
    `Try, in a second terminal:  npm run demo${ending}    or    npm run chat${ending}`,
    "",
  ].join("\n");
}
