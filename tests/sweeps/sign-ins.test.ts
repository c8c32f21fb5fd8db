import { expect, it, onTestFinished } from "vitest";
import { NO_SKEW } from "../../src/db/database-clock.ts";
import { RemovalSweep } from "../../src/sweeps/removal.ts";
import { OLD_ACCESS_TOKENS, OLD_SESSIONS } from "../../src/sweeps/sign-ins.ts";
import { setPolicyTime } from "../support/clock.ts";
import { testDatabase } from "../support/database.ts";
import { silentLogger } from "../support/silent-logger.ts";

it("sessions go 30 days after their last use, access tokens 400 days after their expiry", async () => {
  const { sql } = await testDatabase();
  const run = (text: string) => sql.query<{ ids: string }, []>({ name: "", text }, []);
  for (const day of [0, 1])
    await run(`INSERT INTO session (id, tenant, actor_id, actor_kind, hash, token_hash, created_at, last_used_at)
      VALUES ('s${day}', 't', 'anna', 'USER', 's${day}', 'h', now(), now() + interval '${day} day')`);
  for (const day of [0, 1])
    await run(`INSERT INTO access_token (id, tenant, actor_id, actor_kind, name, hash, roles, created_at, expires_at)
      VALUES ('t${day}', 't', 'anna', 'USER', 'n', 't${day}', '{user}', now(), now() + interval '${day} day')`);
  const [sessions, tokens] = [OLD_SESSIONS, OLD_ACCESS_TOKENS].map((removal) => {
    const sweep = new RemovalSweep({ sql, logger: silentLogger, clockSkew: () => NO_SKEW }, removal);
    onTestFinished(() => sweep.close());
    return sweep;
  });
  await setPolicyTime(sql, "statement_timestamp() + interval '29 days'");
  expect([await sessions?.tidy(), await tokens?.tidy()]).toEqual([0, 0]);
  await setPolicyTime(sql, "statement_timestamp() + interval '30.5 days'");
  expect([await sessions?.tidy(), await tokens?.tidy()]).toEqual([1, 0]);
  await setPolicyTime(sql, "statement_timestamp() + interval '400.5 days'");
  expect([await sessions?.tidy(), await tokens?.tidy()]).toEqual([1, 1]);
  expect(await run("SELECT (SELECT string_agg(id, ',') FROM access_token) AS ids")).toEqual([{ ids: "t1" }]);
});
