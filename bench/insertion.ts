import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { median } from "../tests/support/median.ts";

const INSERTS = 1_000;
/** What waits between two INSERTs is cold by then: the connection, both processes, the disk. */
const PACE_MS = 40;

/** The time of one INSERT of one row with its commit, in ms, on a connection on which nothing else is done. */
export async function insertion(client: pg.Client): Promise<number> {
  return medianOf(client, INSERTS, null);
}

/** The same with a pause between any two of them, as between the tokens and the pages that are compared with it. */
export async function pacedInsertion(client: pg.Client, inserts: number): Promise<number> {
  return medianOf(client, inserts, PACE_MS);
}

async function medianOf(client: pg.Client, inserts: number, paceMs: number | null): Promise<number> {
  const times = await insertTimes(client, inserts, paceMs);
  await client.query("TRUNCATE inserted");
  return median(times);
}

/** The times of so many INSERTs in ms, with a pause before each or without. The rows stay. */
export async function insertTimes(client: pg.Client, inserts: number, paceMs: number | null): Promise<number[]> {
  await client.query("CREATE TABLE IF NOT EXISTS inserted (text text NOT NULL)");
  const times: number[] = [];
  for (let index = 0; index < inserts; index += 1) {
    if (paceMs !== null) await delay(paceMs);
    const started = performance.now();
    await client.query({ name: "insert", text: "INSERT INTO inserted VALUES ($1)", values: ["x".repeat(1_000)] });
    times.push(performance.now() - started);
  }
  return times;
}
