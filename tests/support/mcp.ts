import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { MCP_TIMES } from "../../src/mcp-servers.ts";
import type { McpTimes } from "../../src/agent/mcp/connection.ts";
import type { StoredVerdict } from "../../src/agent/mcp/verdicts.ts";

const require = createRequire(import.meta.url);

/** The command of a reference server of the registry, which is installed. */
export function referenceServer(name: "everything" | "filesystem", ...args: readonly string[]) {
  const folder = dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`));
  return { command: process.execPath, args: [join(folder, "dist", "index.js"), ...args] };
}

/** The command of a server of the tests' own, by its file in `tests/support/mcp-servers`. */
export function ownServer(file: string, ...args: readonly string[]) {
  return { command: process.execPath, args: [fileURLToPath(new URL(`./mcp-servers/${file}`, import.meta.url)), ...args] };
}

/** The same as in production, but without waiting long. */
export const QUICK: McpTimes = {
  ...MCP_TIMES,
  firstMs: 20,
  lastMs: 50,
  changedMs: 20,
  wait: async (ms, signal) => {
    await delay(ms, undefined, { signal, ref: false }).catch(() => {});
  },
};

/** No row with the generation that a server speaks. */
export const NO_VERDICT: StoredVerdict = { read: async () => null, write: async () => {}, forget: async () => {} };

/** No other server of Triplane asks for tasks of processes. */
export const NO_PROCESSES = { begin: () => "process", end: async () => {} };

/** No processes of this server of Triplane. */
export const HOLDS_NONE = { ids: [], goneMs: 15_000 };
