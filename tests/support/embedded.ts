import { cp, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { temporaryFolder } from "./app.ts";

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
