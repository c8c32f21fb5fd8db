import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { openDatabase } from "../../src/db/database.ts";
import { NO_OBSERVER } from "../../src/db/observer.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/consistent-type-definitions
  interface ProvidedContext {
    /** A PostgreSQL whose database `triplane_template` has the migrated schema. */
    postgresUrl: string;
    /** A folder that is removed when the run ends. */
    runFolder: string;
  }
}

/** Starts one real PostgreSQL for the whole run; TEST_DATABASE_URL names another one instead. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["TEST_DATABASE_URL"];
  const folder = await quickFolder();
  const runFolder = await mkdtemp(join(folder, "triplane-run-"));
  const started = given === undefined ? await startPostgres(folder) : { url: given, stop: async () => {} };
  if (given === undefined) await hurry(started.url);
  await makeTemplate(started.url);
  project.provide("postgresUrl", started.url);
  project.provide("runFolder", runFolder);
  return async () => {
    await started.stop();
    await rm(runFolder, { recursive: true });
  };
}

/** Starts a new PostgreSQL on a free port, in a process that ends with this one, with its data in a new folder of `folder`. */
export async function startPostgres(
  folder: string = tmpdir(),
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const program = fileURLToPath(new URL("./postgres-process.ts", import.meta.url));
  const child = spawn(process.execPath, [program, folder], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [url] = (await Promise.race([once(createInterface({ input: child.stdout }), "line"), exited])) as [string | number];
  if (typeof url !== "string") throw new Error("PostgreSQL did not start: what it said stands above");
  return {
    url,
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

const MEMORY = "/dev/shm";
const ROOM_BYTES = 3 * 1024 ** 3;

/**
 * Memory, if the system has a folder of it with room, or else the folder for temporary files. Each test makes and drops a
 * database of some 400 files, and ext4 looks past every file that was removed of late for each new one: 0.4 s a test.
 */
async function quickFolder(): Promise<string> {
  const room = await statfs(MEMORY).catch(() => null);
  return room !== null && room.bavail * room.bsize >= ROOM_BYTES ? MEMORY : tmpdir();
}

/** Each test has a database of its own, and nothing ends this PostgreSQL before the tests end: what a crash leaves is for the trials. */
async function hurry(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  for (const setting of ["fsync", "synchronous_commit", "full_page_writes", "autovacuum"])
    await admin.query(`ALTER SYSTEM SET ${setting} = off`);
  await admin.query("SELECT pg_reload_conf()");
  // To compare a password, PostgreSQL hashes it as often as this, 4,096 times otherwise, for each connection.
  await admin.query("SET scram_iterations = 1");
  await admin.query("ALTER ROLE postgres PASSWORD 'postgres'");
  await admin.end();
}

async function makeTemplate(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query("DROP DATABASE IF EXISTS triplane_template WITH (FORCE)");
  await admin.query("CREATE DATABASE triplane_template");
  await admin.end();
  const template = new URL(url);
  template.pathname = "/triplane_template";
  const problems: string[] = [];
  const observer = { ...NO_OBSERVER, tell: (problem: string) => void problems.push(problem) };
  const database = await openDatabase({ kind: "postgres", url: template.href, connections: 1 }, observer);
  // That it keeps nothing safely is told when it is opened.
  problems.length = 0;
  await database.makeFaster();
  await database.close();
  if (problems.length > 0) throw new Error(problems.join("; "));
}
