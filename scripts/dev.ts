import { fork, type ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import { watch } from "chokidar";

/**
 * `npm run dev`: runs the server from its sources, and again when a file changes that it has read: a module, the configuration, a
 * script. Files are followed by their names, so that editors may put new ones in their places. A server that ended by itself is
 * started by the next change.
 */
const MAIN = resolve(import.meta.dirname, "../src/main.ts");
const REPORTER = new URL("report-modules.mjs", import.meta.url).href;
/** What an editor changes at once makes one start, in ms. */
const TOGETHER_MS = 100;

const watcher = watch([], { ignoreInitial: true });
let server: ChildProcess | null = null;
let isEnding = false;
let restart: NodeJS.Timeout | null = null;
let isRestarting = false;

watcher.on("all", (_event, path) => {
  if (isEnding) return;
  clearTimeout(restart ?? undefined);
  restart = setTimeout(() => void startAgain(path), TOGETHER_MS);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => {
    isEnding = true;
    if (server === null) process.exit();
    server.kill(signal);
  });
start();

function start(): void {
  const child = fork(MAIN, process.argv.slice(2), { execArgv: ["--import", REPORTER] });
  server = child;
  child.on("message", (message) => watcher.add((message as { readonly read: readonly string[] }).read as string[]));
  child.on("exit", (code) => {
    if (server === child) server = null;
    if (isEnding) process.exit(code ?? 1);
    if (server === null && restart === null) console.error("The server has ended. It is started again when a file changes.");
  });
}

async function startAgain(path: string): Promise<void> {
  // What changes while the old one closes is read by the new one.
  if (isRestarting) return;
  isRestarting = true;
  console.error(`${path} has changed: starting again.`);
  const old = server;
  if (old !== null) {
    const ended = new Promise((resolved) => old.once("exit", resolved));
    old.kill("SIGTERM");
    await ended;
  }
  restart = null;
  isRestarting = false;
  start();
}
