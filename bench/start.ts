import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { initialisedFolder, makeInitialised } from "../src/db/initialised.ts";
import { median } from "../tests/support/median.ts";
import type { Figure } from "./figure.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ROUNDS = 5;
const POLL_MS = 10;
/** A server is left alone for so long before its memory is read. */
const SETTLED_MS = 2_000;
/** The queries with which GraphiQL's walk and a console begin. */
const QUERIES = [
  "{ templates { id } viewer { actor { id } } }",
  "{ agents(first: 20) { nodes { id state title messages(last: 1) { nodes { id text } } } } }",
  "{ approvals(first: 20) { nodes { id reason toolCall { name } agent { id } } } }",
];

/** Times of a start in ms, and memory of the server's process in MB, as the system has it. */
type Start = { readonly readyMs: number; readonly reopenedMb: number; readonly queriedMb: number };

/** Starting by `npm start` on the embedded database, from the command to /readyz: a first start, and reopening. Needs Linux. */
export async function start(): Promise<Figure[]> {
  // As an install leaves them: the folder that is copied, the bundle, and what was compiled of it.
  await makeInitialised(await initialisedFolder());
  await inNewFolder(async (folder) => void (await started(folder)));
  return inNewFolder(async (folder) => {
    const first = await started(folder);
    const again: Start[] = [];
    for (let round = 0; round < ROUNDS; round += 1) again.push(await started(folder));
    return [
      figure("first start", first.readyMs, "ms"),
      figure("start", median(again.map(({ readyMs }) => readyMs)), "ms"),
      figure("start, memory", median(again.map(({ reopenedMb }) => reopenedMb)), "MB"),
      figure("start, memory after queries", median(again.map(({ queriedMb }) => queriedMb)), "MB"),
    ];
  });
}

async function inNewFolder<Value>(work: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = await mkdtemp(join(tmpdir(), "triplane-start-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts a server on the data of the folder, asks it a little, and ends it. */
async function started(folder: string): Promise<Start> {
  const port = await freePort();
  const { TRIPLANE_CONFIG: _, DATABASE_URL: __, NODE_COMPILE_CACHE: ___, ...inherited } = process.env;
  const began = performance.now();
  const child = spawn("npm", ["start"], {
    cwd: ROOT,
    env: { ...inherited, PORT: String(port), TRIPLANE_DATA_DIR: folder, ANTHROPIC_API_KEY: "" },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  while (!(await isReady(url))) {
    if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}: run it to see why`);
    await delay(POLL_MS);
  }
  const readyMs = performance.now() - began;
  const server = Number(/\d+/.exec(await readFile(join(folder, "triplane.owner"), "utf8"))?.[0]);
  await delay(SETTLED_MS);
  const reopenedMb = await memoryMb(server);
  for (const query of QUERIES) await ask(url, query);
  await delay(SETTLED_MS);
  const queriedMb = await memoryMb(server);
  process.kill(server, "SIGTERM");
  await ended;
  return { readyMs, reopenedMb, queriedMb };
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
}

async function ask(url: string, query: string): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  const answer = await response.text();
  if (!answer.startsWith('{"data"')) throw new Error(`${query} is answered by ${answer}`);
}

/** The resident memory of a process (proc(5), VmRSS). */
async function memoryMb(pid: number): Promise<number> {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function figure(name: string, value: number, unit: string): Figure {
  return { name, value, unit, baseline: null, ratio: null };
}
