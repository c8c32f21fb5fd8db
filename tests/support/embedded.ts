import { cp, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { inject, onTestFinished } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { copyInitialised, initialisedFolder, openEmbeddedDatabase } from "../../src/db/initialised.ts";
import { temporaryFolder } from "./app.ts";

/** A new embedded database without any table, closed when the test ends. initdb takes seconds: it is a copy of what an install makes. */
export async function emptyEmbedded(): Promise<PGlite> {
  const folder = join(await temporaryFolder(), "pglite");
  await copyInitialised(await initialisedFolder(), folder, console.error);
  const client = await openEmbeddedDatabase(folder);
  onTestFinished(() => client.close());
  return client;
}

let made: Promise<string> | null = null;

/** A data folder with an empty embedded database, removed when the test ends. To make a database takes seconds: it is a copy of one. */
export async function embeddedFolder(): Promise<string> {
  made ??= make().catch((error: unknown) => {
    made = null;
    throw error;
  });
  const folder = await temporaryFolder();
  await cp(await made, folder, { recursive: true });
  return folder;
}

async function make(): Promise<string> {
  const folder = await mkdtemp(join(inject("runFolder"), "embedded-"));
  const database = await openDatabase({ kind: "embedded", folder });
  await database.close();
  return folder;
}
