import type pg from "pg";
import { median } from "../tests/support/median.ts";

const INSERTS = 1_000;

/** The time of one INSERT of one row with its commit, in ms, on a connection on which nothing else is done. */
export async function insertion(client: pg.Client): Promise<number> {
  await client.query("CREATE TABLE IF NOT EXISTS inserted (text text NOT NULL)");
  const times: number[] = [];
  for (let index = 0; index < INSERTS; index += 1) {
    const started = performance.now();
    await client.query({ name: "insert", text: "INSERT INTO inserted VALUES ($1)", values: ["x".repeat(1_000)] });
    times.push(performance.now() - started);
  }
  await client.query("TRUNCATE inserted");
  return median(times);
}
