import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { LOOKING, untilPostgresAnswers } from "../../src/db/late-postgres.ts";
import { emptyDatabaseUrl } from "../support/database.ts";

it("the connection by which a start looks for its PostgreSQL holds no migration up, though PostgreSQL still shows it", async () => {
  const url = await emptyDatabaseUrl();
  const told: string[] = [];
  await untilPostgresAnswers(url, { tell: (_event, message) => void told.push(message) });
  expect(told).toEqual([]);
  const shown = new pg.Client({ connectionString: url, application_name: LOOKING });
  await shown.connect();
  onTestFinished(() => shown.end());
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  await database.close();
});
