import pg from "pg";
import { start } from "./processes.ts";
import type { TrialRun } from "./trial.ts";

/** The version that the connections of trials say, besides those of servers: newer than any. */
export const TRIAL_VERSION = "99999999999999";

/** A PostgreSQL of the trial's own, that can be stopped as by a power cut, and started again on the same port. */
export type TrialPostgres = {
  readonly url: string;
  halt(): Promise<void>;
  start(): Promise<void>;
  /** Makes a standby that follows it, for which it is stopped for a moment. Gives the standby's URL. */
  standby(): Promise<string>;
  /** From now on the standby is the one that is halted, or that a standby follows. */
  switch(): Promise<void>;
};

/** Starts a new PostgreSQL with its usual durability. */
export async function startPostgres(): Promise<TrialPostgres> {
  const postgres = await start("tests/support/postgres-process.ts", /postgresql:\S+/);
  const order = async (word: string, answer: RegExp): Promise<string> => {
    const answered = postgres.says(answer);
    postgres.tell(word);
    return answered;
  };
  return {
    url: postgres.said,
    halt: async () => void (await order("halt", /^halted$/)),
    start: async () => void (await order("start", /^started$/)),
    standby: async () => {
      const url = new URL(postgres.said);
      url.port = (await order("standby", /^standby \d+$/)).replace("standby ", "");
      return url.href;
    },
    switch: async () => void (await order("switch", /^switched$/)),
  };
}

/** The rows of a statement, by a connection of its own. */
export async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as unknown[];
  } finally {
    await client.end();
  }
}

/** The last position of the one log of a trial; 0 for none. */
export async function lastPosition(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ last: number }>("SELECT coalesce(max(position), 0)::float8 AS last FROM event");
  return rows[0]?.last ?? 0;
}

/** Checks that the one log of a trial has no gap. Gives how many events it has. */
export async function checkGapless(url: string, fail: TrialRun["fail"]): Promise<number> {
  const [row] = await query(url, "SELECT coalesce(max(position), 0)::int AS last, count(*)::int AS events FROM event");
  const { last, events } = row as { last: number; events: number };
  if (last !== events) fail(`the log has ${events} events and ends at ${last}`);
  return events;
}
