import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { fromBundle } from "../../trials/bundle.ts";
import { temporaryFolder } from "../support/app.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { startServerProcess } from "../support/server-process.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/sql.ts", import.meta.url));

type Ended = { readonly code: number | null; readonly out: string; readonly error: string };

/** Runs the command, with `given` on stdin. */
async function sql(folder: string, words: readonly string[], given = "", env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const { options, env: ofBundle } = await fromBundle();
  const child = spawn(process.execPath, [...options, SCRIPT, ...words], {
    env: { ...process.env, ...ofBundle, DATABASE_URL: "", TRIPLANE_DATA_DIR: folder, ...env },
  });
  child.stdin.end(given);
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, out, error };
}

async function graphql(url: string, query: string): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

const ENDLESS = [
  "SELECT count(*) FROM generate_series(1, 1000000000000)",
  "WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT count(*) FROM r",
  "SELECT pg_sleep(1000)",
];

it(
  "npm run sql answers where no server runs: a table, CSV, a statement on stdin; errors end with 1",
  { timeout: 240_000 },
  async () => {
    const folder = await embeddedFolder();
    const table = await sql(folder, ["SELECT 1 AS one, 'a' AS b"]);
    expect([table.code, table.out], table.error).toEqual([0, "one  b\n---  -\n  1  a\n"]);
    expect(table.error).toContain("Tenants of this database: none");
    const commented = await sql(folder, ["-- a comment\nSELECT 1 AS one"]);
    expect([commented.code, commented.out], commented.error).toEqual([0, "one\n---\n  1\n"]);
    const help = await sql(folder, ["--help"]);
    expect([help.code, help.out]).toEqual([0, expect.stringContaining("npm run --silent sql -- [--tenant")]);
    const csv = await sql(folder, ["--csv"], "-- on stdin\nSELECT -1 AS n, '=1' AS f;\n");
    expect([csv.code, csv.out]).toEqual([0, "n,f\r\n-1,'=1\r\n"]);
    const cut = await sql(folder, ["--csv", "SELECT * FROM generate_series(1, 20000) AS n"]);
    expect([cut.code, cut.out.split("\r\n").length]).toEqual([3, 10_002]);
    expect(cut.error).toContain("Cut after 10000 rows");
    const wrong = await sql(folder, ["SELECT nothing FROM bi.agent"]);
    expect([wrong.code, wrong.out]).toEqual([1, ""]);
    expect(wrong.error).toContain('column "nothing" does not exist, at line 1, column 8');
    expect(await readdir(join(folder, "copies"))).toEqual([]);
  },
);

it("npm run sql refuses what it cannot do, before anything is copied", { timeout: 240_000 }, async () => {
  const folder = await embeddedFolder();
  const refused = async (words: readonly string[], env: NodeJS.ProcessEnv = {}, of = folder): Promise<string> => {
    const { code, out, error } = await sql(of, words, "", env);
    expect([code, out]).toEqual([1, ""]);
    return error;
  };
  expect(await refused(["DROP TABLE agent"])).toContain("DROP cannot run here");
  expect(await refused(["SELECT", "1"])).toContain("one argument, in quotes");
  expect(await refused([])).toContain("there is no statement");
  expect(await refused(["--timeout", "61", "SELECT 1"])).toContain("60 at most");
  expect(await refused(["--rows", "SELECT 1"])).toContain("usage:");
  expect(await refused(["SELECT 1"], { DATABASE_URL: "postgresql://127.0.0.1/x" })).toContain("npm run bi -- grant");
  expect(await refused(["SELECT 1"], {}, await temporaryFolder())).toContain("start the server once");
  expect(await readdir(folder)).not.toContain("copies");
});

it(
  "npm run sql reads beside a server that goes on committing, also while a statement never ends",
  { timeout: 240_000 },
  async () => {
    const folder = await embeddedFolder();
    const { url } = await startServerProcess({ TRIPLANE_DATA_DIR: folder });
    const over = new AbortController();
    let commits = 0;
    const writing = (async () => {
      for (; !over.signal.aborted; commits += 1) {
        const made = await graphql(
          url,
          'mutation { createAgent(input: { templateId: "assistant" }) { agent { id } userErrors { code } } }',
        );
        expect(made).toMatchObject({ data: { createAgent: { userErrors: [] } } });
      }
    })();
    // Each event has the next position: a copy of no single moment would lack some. One without the newest log would lack agents.
    await expect.poll(() => commits).toBeGreaterThan(2);
    const counted = await sql(folder, [
      "--csv",
      `SELECT count(*) = max(position) AS whole, (SELECT count(*) FROM bi.agent) >= ${commits} AS newest FROM bi.event`,
    ]);
    expect([counted.code, counted.out], counted.error).toEqual([0, "whole,newest\r\nt,t\r\n"]);
    for (const statement of ENDLESS) {
      const before = commits;
      const ended = await sql(folder, ["--timeout", "1", statement]);
      expect([ended.code, ended.out], statement).toEqual([1, ""]);
      expect(ended.error).toContain("the statement was ended after 1 s");
      expect(commits).toBeGreaterThan(before);
    }
    over.abort();
    await writing;
    expect(await readdir(join(folder, "copies"))).toEqual([]);
  },
);
