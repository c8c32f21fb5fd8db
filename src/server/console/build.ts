import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../lib/text.ts";
import type { Logger } from "../../telemetry/log.ts";
import { BUILD_SCRIPT, consoleFolder, ROOT } from "./sources.ts";

/** The console of this server: a folder of files, or the reason for its absence. */
export type ConsoleState =
  | { readonly kind: "built"; readonly folder: string }
  | { readonly kind: "building" }
  | { readonly kind: "unavailable"; readonly reason: string };

/** The console of a server that was started without one. */
export function noConsole(): ConsoleState {
  return { kind: "unavailable", reason: "This server was started without the console." };
}

/** The last lines of a failed build that the page and the log show. */
const SHOWN_CHARACTERS = 2_000;

/**
 * Builds the console in a child process if its sources have changed since the last build. `begin` is called after the server
 * is ready. The child has a low priority: agents come first.
 */
export class ConsoleBuild {
  readonly #closing = new AbortController();
  #state: ConsoleState = { kind: "building" };

  readonly state = (): ConsoleState => this.#state;

  begin(logger: Logger): void {
    if (!existsSync(join(ROOT, "console"))) {
      this.#state = { kind: "unavailable", reason: "This checkout has no console." };
      return;
    }
    built(this.#closing.signal).then(
      (folder) => (this.#state = { kind: "built", folder }),
      (error: unknown) => {
        this.#state = { kind: "unavailable", reason: messageOf(error) };
        if (!this.#closing.signal.aborted) logger.warn(`the console at /console could not be built: ${messageOf(error)}`);
      },
    );
  }

  close(): void {
    this.#closing.abort();
  }
}

async function built(signal: AbortSignal): Promise<string> {
  const folder = await consoleFolder();
  if (existsSync(folder)) return folder;
  if (!existsSync(join(ROOT, "node_modules/vite")))
    throw new Error("this install has no built console: run `npm run install:production` again");
  await runBuild(folder, signal);
  return folder;
}

function runBuild(folder: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BUILD_SCRIPT, folder], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"], signal });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-SHOWN_CHARACTERS)));
    child.once("spawn", () => lower(child.pid));
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(said.trim() || `its build ended with ${code}`))));
  });
}

function lower(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The build has ended already.
  }
}
