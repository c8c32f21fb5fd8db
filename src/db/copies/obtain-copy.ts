import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isLoopback } from "../../lib/addresses.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { errorCode, withCause } from "../../lib/text.ts";
import { DataFolderInUse, lockFolder, toldAddress } from "../lock-file.ts";
import { copyFolder, CopyRefused } from "./folder-copy.ts";
import { COPIES, newCopyFolder, removeCopy, removeOldCopies } from "./private-copies.ts";

/** The path at which a server answers requests for a copy. */
export const COPIES_PATH = "/database-copies";

/** The time that a server or another command may take to say its address or to release the folder, in ms. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 100;

/** The time in which a server makes a copy, in ms. */
const COPYING_MS = 60_000;

/** `tenant` is the one to ask about: a server makes a copy for its administrators only. */
type CopyRequest = {
  readonly dataFolder: string;
  readonly tenant: string;
  readonly token: string | null;
  readonly signal: AbortSignal;
};

/**
 * The folder of a new copy of the embedded database, which the caller removes. If no server runs, it is made here, under the
 * lock of the data folder; otherwise the server makes it. Rejects with CopyRefused, or with the errors of the lock.
 */
export async function obtainCopy(request: CopyRequest): Promise<string> {
  const { dataFolder, signal } = request;
  const database = join(dataFolder, "pglite");
  await access(join(database, "PG_VERSION")).catch((error: unknown) => {
    throw new CopyRefused(
      `there is no embedded database to read in ${dataFolder} (${errorCode(error) ?? "unknown"}): start the server once, or set TRIPLANE_DATA_DIR to its folder`,
    );
  });
  for (const until = performance.now() + PATIENCE_MS; ;) {
    try {
      return await copyLocked(dataFolder, database);
    } catch (error) {
      if (!(error instanceof DataFolderInUse)) throw error;
      const address = await toldAddress(dataFolder);
      const folder = address === null ? null : await askServer(address, request);
      if (folder !== null) return folder;
      if (performance.now() > until) throw error;
    }
    await delay(PAUSE_MS, undefined, { signal });
  }
}

async function copyLocked(dataFolder: string, database: string): Promise<string> {
  const unlock = await lockFolder(dataFolder, "`npm run sql`, process");
  try {
    await removeOldCopies(dataFolder);
    const folder = await newCopyFolder(dataFolder);
    try {
      await copyFolder(database, join(folder, "pglite"));
      return folder;
    } catch (error) {
      await removeCopy(folder);
      throw error;
    }
  } finally {
    await unlock();
  }
}

/** The folder of the copy that the server made; null if it listens no more. */
async function askServer(address: string, { dataFolder, tenant, token, signal }: CopyRequest): Promise<string | null> {
  if (!isLoopback(new URL(address).hostname))
    throw new CopyRefused(
      `the server listens on ${address} only, and copies are for this machine: stop it for the statement, or let it listen on 127.0.0.1 or 0.0.0.0 (HOST)`,
    );
  const response = await fetch(new URL(`${COPIES_PATH}?${new URLSearchParams({ tenant })}`, address), {
    method: "POST",
    headers: { "content-type": "application/json", ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(COPYING_MS)]),
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    if (withCause(error).includes("ECONNREFUSED")) return null;
    throw new CopyRefused(`the server at ${address} made no copy (${withCause(error)}): see its log`);
  });
  if (response === null) return null;
  const { copy, message } = await bodyOf(response);
  if (typeof copy !== "string" || !/^copy-\w+$/.test(copy))
    throw new CopyRefused(
      typeof message === "string"
        ? `the server at ${address} made no copy: ${message}`
        : `the server at ${address} made no copy (status ${response.status}): is it a Triplane of this version?`,
    );
  const folder = join(dataFolder, COPIES, copy);
  await access(join(folder, "pglite"), constants.R_OK | constants.W_OK).catch((error: unknown) => {
    throw new CopyRefused(
      `the copy of the server at ${address} cannot be read at ${folder} (${errorCode(error) ?? "unknown"}): run the command as the user of the server, on its machine`,
    );
  });
  return folder;
}

async function bodyOf(response: Response): Promise<JsonObject> {
  const body: unknown = await response.json().catch(() => null);
  return isJsonObject(body) ? body : {};
}
