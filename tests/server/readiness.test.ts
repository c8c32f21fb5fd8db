import { describe, expect, it } from "vitest";
import type { Sql } from "../../src/db/sql.ts";
import { StorageUnavailable } from "../../src/db/storage-error.ts";
import { startTestApp } from "../support/app.ts";

describe("/readyz", () => {
  it("asks the database once for all who ask within a second", async () => {
    let asked = 0;
    const counting = (sql: Sql): Sql => ({
      ...sql,
      query: (statement, values) => {
        if (statement.name === "ready") asked += 1;
        return sql.query(statement, values);
      },
    });
    const app = await startTestApp({ overrides: { sql: counting } });
    const readiness = app.url.replace("/graphql", "/readyz");
    const began = performance.now();
    const answers = await Promise.all(Array.from({ length: 50 }, async () => (await fetch(readiness)).status));
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(asked).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / 1_000));
  });

  it("says that the database is away, and not its words, which may name users and hosts", async () => {
    const away = (sql: Sql): Sql => ({
      ...sql,
      query: (statement, values) =>
        statement.name === "ready"
          ? Promise.reject(new StorageUnavailable('password authentication failed for user "secret"'))
          : sql.query(statement, values),
    });
    const app = await startTestApp({ overrides: { sql: away } });
    const answer = await fetch(app.url.replace("/graphql", "/readyz"));
    expect([answer.status, await answer.text()]).toEqual([503, "the database does not answer: see the log of the server\n"]);
  });

  it("says within 2 s that the server is not ready, also if the database neither answers nor goes away", async () => {
    const frozen = (sql: Sql): Sql => ({
      ...sql,
      query: (statement, values) => (statement.name === "ready" ? new Promise<never>(() => {}) : sql.query(statement, values)),
    });
    const app = await startTestApp({ overrides: { sql: frozen } });
    const began = performance.now();
    const answer = await fetch(app.url.replace("/graphql", "/readyz"));
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining("has not answered for 1500 ms")]);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect((await fetch(app.url.replace("/graphql", "/healthz"))).status).toBe(200);
    expect((await fetch(app.url.replace("/graphql", "/metrics"))).status).toBe(200);
  });
});
