import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { errorCode, messageOf } from "../lib/text.ts";
import { growingWait } from "../lib/time.ts";
import type { Logger } from "../telemetry/log.ts";
import { connectionName } from "./connected-servers.ts";
import { ownSqlState } from "./storage-error.ts";

/** In ms: the waits between two checks of a late database, and the time between two log lines. */
const FIRST_WAIT_MS = 250;
const LAST_WAIT_MS = 5_000;
const TELL_MS = 60_000;
const CONNECT_MS = 5_000;

const LATE_STATES: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "53300"]);
const LATE_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT",
]);

/** The name of the checking connection. PostgreSQL may list it a moment longer: migrations do not wait for its end. */
export const LOOKING = connectionName("start", "migration");

/**
 * Resolves when PostgreSQL accepts connections, or refuses them for a reason that waiting does not change, such as a
 * wrong password. The next connection then reports that. Logs immediately, and each minute, that it is late.
 */
export async function untilPostgresAnswers(url: string, logger: Pick<Logger, "tell">): Promise<void> {
  let told = -Infinity;
  const began = performance.now();
  for (let tries = 1; ; tries += 1) {
    const problem = await lateness(url);
    if (problem === null) break;
    if (performance.now() - told >= TELL_MS) {
      told = performance.now();
      logger.tell(
        "outage",
        `the start waits for the PostgreSQL of DATABASE_URL, which does not answer (${problem}): it is asked again until it does`,
      );
    }
    await delay(growingWait(tries, FIRST_WAIT_MS, LAST_WAIT_MS));
  }
  if (told === -Infinity) return;
  const durationMs = Math.round(performance.now() - began);
  const what = `the PostgreSQL of DATABASE_URL answers, after ${Math.round(durationMs / 1_000)} s: the start continues`;
  logger.tell("outage", what, { durationMs });
}

/** Why a connection cannot be opened yet; null if it can, or if waiting would not help. */
async function lateness(url: string): Promise<string | null> {
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, application_name: LOOKING });
  } catch {
    // Opening the database reports a wrong URL.
    return null;
  }
  client.on("error", () => {});
  try {
    await client.connect();
    return null;
  } catch (error) {
    return isLate(error) ? messageOf(error) : null;
  } finally {
    await client.end().catch(() => {});
  }
}

function isLate(error: unknown): boolean {
  const state = ownSqlState(error);
  if (state !== undefined) return LATE_STATES.has(state);
  const code = errorCode(error);
  if (code !== null) return LATE_CODES.has(code);
  return error instanceof Error && /^(timeout expired|Connection terminated)/.test(error.message);
}
