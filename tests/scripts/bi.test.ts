import pg from "pg";
import { expect, it } from "vitest";
import { ownerOf } from "../../src/db/bi/install.ts";
import { temporaryFolder } from "../support/app.ts";
import { administer, administrator, testDatabaseUrl } from "../support/database.ts";
import { runFile } from "../support/process.ts";

async function bi(args: readonly string[], env: Readonly<Record<string, string>>) {
  const { exited, output } = runFile("scripts/bi.ts", args, env);
  return { code: await exited, said: output() };
}

it("`npm run bi -- grant` prints the URL with which the reader connects", { timeout: 60_000 }, async () => {
  const url = await testDatabaseUrl();
  const env = { DATABASE_URL: `${url}?sslmode=disable&application_name=server` };
  const role = `bi_command_${process.pid}`;
  const granted = await bi(["grant", role, "--tenant", "acme"], env);
  const [, password, printed = ""] =
    new RegExp(`^role ${role}, password (\\S+) \\(shown once\\)\n(.*)$`, "m").exec(granted.said) ?? [];
  const { host, pathname } = new URL(url);
  expect([granted.code, printed], granted.said).toEqual([
    0,
    `postgresql://${role}:${password}@${host}${pathname}?sslmode=disable`,
  ]);
  const reader = new pg.Client({ connectionString: printed });
  await reader.connect();
  const { rows } = await reader.query(
    "SELECT current_user AS name, bi.tenant() AS tenant, (SELECT count(*) FROM bi.agent) AS agents",
  );
  await reader.end();
  expect(rows).toEqual([{ name: role, tenant: "acme", agents: "0" }]);
  expect(await bi(["revoke", role], env)).toEqual({ code: 0, said: `the reader ${role} is gone\n` });
  const owner = ownerOf(pathname.slice(1));
  await (await administrator(url)).query(`DROP OWNED BY "${owner}" CASCADE`);
  await administer(`DROP ROLE "${owner}"`);
});

it("`npm run bi` says that an embedded database has nothing to connect to, and names `npm run sql`", async () => {
  const env = { DATABASE_URL: "", TRIPLANE_DATA_DIR: await temporaryFolder() };
  expect(await bi(["grant", "metabase", "--tenant", "acme"], env)).toEqual({
    code: 1,
    said: "the embedded database has no logins, so there is nothing to connect to: ask it with `npm run sql`, or set DATABASE_URL to a PostgreSQL\n",
  });
});
