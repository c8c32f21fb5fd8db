import { startPostgres } from "../tests/support/postgres.ts";

/** Runs `measure` on a new PostgreSQL of its own; TEST_DATABASE_URL names another one. */
export async function withPostgres(measure: (url: string) => Promise<void>): Promise<void> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined) return measure(given);
  const started = await startPostgres();
  try {
    await measure(started.url);
  } finally {
    await started.stop();
  }
}
