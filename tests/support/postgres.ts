import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { openDatabase } from "../../src/db/database.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/consistent-type-definitions
  interface ProvidedContext {
    /** A PostgreSQL whose database `triplane_template` has the migrated schema. */
    postgresUrl: string;
  }
}

/** Starts one real PostgreSQL for the whole run; TEST_DATABASE_URL names another one instead. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["TEST_DATABASE_URL"];
  const started = given === undefined ? await startPostgres() : { url: given, stop: async () => {} };
  await makeTemplate(started.url);
  project.provide("postgresUrl", started.url);
  return started.stop;
}

/** Starts a new PostgreSQL on a free port, in a process that ends with this one. */
export async function startPostgres(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./postgres-process.ts", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
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

async function makeTemplate(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query("DROP DATABASE IF EXISTS triplane_template WITH (FORCE)");
  await admin.query("CREATE DATABASE triplane_template");
  await admin.end();
  const template = new URL(url);
  template.pathname = "/triplane_template";
  const database = await openDatabase({ kind: "postgres", url: template.href, connections: 1 });
  await database.makeFaster((problem) => {
    throw new Error(problem);
  });
  await database.close();
}
