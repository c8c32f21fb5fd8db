import { cpSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { PGlite } from "@electric-sql/pglite";
import { errorCode, messageOf } from "../lib/text.ts";

/** The folders that were initialised at install, by the version of the database whose initdb made them. */
const INITIALISED = new URL("../../.triplane/initialised/", import.meta.url);

/** The settings of an embedded database, which hold from each start on. One process: the usual 128 MB of buffers would be most of its memory. */
const EMBEDDED_SETTINGS = [...PGlite.defaultStartParams, "-c", "shared_buffers=16MB", "-c", "max_connections=8"];

/**
 * Opens the embedded database in a folder. V8 compiles it once, and not again what runs often: its largest function alone takes
 * 2.5 s and 600 MB the second time, in each process and right after the start (docs/adr/0022). Rejects if the folder is no
 * database that opens.
 */
export async function openEmbeddedDatabase(folder: string): Promise<PGlite> {
  setFlagsFromString("--no-wasm-tier-up");
  setFlagsFromString("--no-wasm-dynamic-tiering");
  return PGlite.create({ dataDir: folder, startParams: EMBEDDED_SETTINGS });
}

/** The place of the folder that `makeInitialised` makes for the installed version of the database. */
export async function initialisedFolder(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve("@electric-sql/pglite");
  const { version } = JSON.parse(await readFile(join(dirname(entry), "../package.json"), "utf8")) as { readonly version: string };
  return join(fileURLToPath(INITIALISED), `pglite-${version}`);
}

/**
 * Makes `folder` as initdb leaves it, which takes seconds, for `copyInitialised`. It has no tables: each database applies
 * the migrations itself, since the first makes a secret that no two databases may share. Folders of other versions, which
 * lie beside it, go.
 */
export async function makeInitialised(folder: string): Promise<void> {
  const place = dirname(folder);
  await mkdir(place, { recursive: true });
  if (await isThere(folder)) return;
  const making = await mkdtemp(join(place, "making-"));
  try {
    const database = await openEmbeddedDatabase(join(making, "pglite"));
    await database.close();
    await moveWhole(join(making, "pglite"), folder);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  const others = (await readdir(place)).filter((name) => name.startsWith("pglite-") && name !== basename(folder));
  for (const name of others) await rm(join(place, name), { recursive: true, force: true });
}

/**
 * Copies the initialised folder to where a new database shall lie, so that initdb need not run. Nothing is done if there is
 * a database in `folder`, or no initialised folder; `tell` hears of one that cannot be copied. `folder` has a whole copy or
 * none whenever the process or the machine dies: the copy is made beside it, is on the disk, and is renamed.
 */
export async function copyInitialised(initialised: string, folder: string, tell: (message: string) => void): Promise<void> {
  const copy = `${folder}.new`;
  // What was begun by a process that died.
  await rm(copy, { recursive: true, force: true });
  if ((await isThere(folder)) && (await readdir(folder)).length > 0) return;
  try {
    if (!(await isThere(initialised))) return;
    // Half the time of the asynchronous one, and nobody is served yet.
    cpSync(initialised, copy, { recursive: true });
    // Some systems do not rename onto an empty folder.
    if (await isThere(folder)) await rmdir(folder);
    await moveWhole(copy, folder);
  } catch (error) {
    tell(`${initialised} could not be copied (${messageOf(error)}): the database is made anew, which takes seconds longer`);
    await rm(copy, { recursive: true, force: true });
  }
}

/** A process may have no more than 1,024 files open on some systems. */
const OPEN_FILES = 64;

/** Renames a folder once all that it has is on the disk. */
async function moveWhole(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => ({ path: join(entry.parentPath, entry.name), isFolder: entry.isDirectory() }));
  for (let done = 0; done < paths.length; done += OPEN_FILES)
    await Promise.all(paths.slice(done, done + OPEN_FILES).map(({ path, isFolder }) => onDisk(path, isFolder)));
  await onDisk(from, true);
  await rename(from, to);
  await onDisk(dirname(to), true);
}

async function onDisk(path: string, isFolder: boolean): Promise<void> {
  // Windows writes folders by itself, and lets nobody ask for it.
  if (isFolder && process.platform === "win32") return;
  const file = await open(path, process.platform === "win32" ? "r+" : "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function isThere(folder: string): Promise<boolean> {
  try {
    await readdir(folder);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
