import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { errorCode } from "../lib/error-code.ts";
import { growingWait } from "../lib/growing-wait.ts";
import { messageOf } from "../lib/text.ts";
import type { Logger } from "../telemetry/log.ts";
import { connectionName } from "./connected-servers.ts";
import { sqlState } from "./error-class.ts";

/** The waits between two looks at a database that is late, and between two lines about it, in ms. */
const FIRST_WAIT_MS = 250;
const LAST_WAIT_MS = 5_000;
const TELL_MS = 60_000;
/** The time that a connection may take to open, in ms. */
const CONNECT_MS = 5_000;

/** PostgreSQL starts, stops, or has no connection left (PostgreSQL, appendix A). */
const LATE_STATES: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "53300"]);
/** Nobody listens, no way leads there, or the name is not known yet; a socket of the machine is not there. */
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

/** The name of the connection that looks. PostgreSQL may show it a moment longer than it lives: no migration waits for its end. */
export const LOOKING = connectionName("start", "migration");

/**
 * Resolves when the PostgreSQL of a URL takes connections, or refuses one for a reason that waiting does not mend, such as a wrong
 * password: who connects next is told that. It is logged at once, and each minute, that it is late.
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
  const what = `the PostgreSQL of DATABASE_URL answers, after ${Math.round(durationMs / 1_000)} s: the start goes on`;
  logger.tell("outage", what, { durationMs });
}

/** Why a connection cannot be opened yet, in words; null if it can, or if waiting would not mend it. */
async function lateness(url: string): Promise<string | null> {
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, application_name: LOOKING });
  } catch {
    // Who opens the database says what is wrong with the URL.
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
  const state = sqlState(error);
  if (state !== undefined) return LATE_STATES.has(state);
  const code = errorCode(error);
  if (code !== null) return LATE_CODES.has(code);
  return error instanceof Error && /^(timeout expired|Connection terminated)/.test(error.message);
}
