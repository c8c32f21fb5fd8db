import fc from "fast-check";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { queryPrepared } from "../../src/db/connections/prepared-query.ts";
import { testDatabaseUrl } from "../support/database.ts";

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: await testDatabaseUrl() });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const VALUES = fc.record({
  text: fc.option(fc.string({ unit: fc.constantFrom("a", '"', "\\", "{", "é", "😀", "\n", " ") })),
  whole: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  flag: fc.option(fc.boolean()),
  at: fc.option(fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })),
  texts: fc.option(fc.array(fc.option(fc.string({ unit: fc.constantFrom("a", '"', "\\", ",", "}", "NULL") })))),
  json: fc.option(fc.record({ a: fc.string({ unit: "grapheme-ascii" }), b: fc.integer() })),
  bytes: fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes))),
});
const ECHO =
  "SELECT $1::text AS text, $2::bigint AS whole, $3::boolean AS flag, $4::timestamptz AS at, $5::text[] AS texts, $6::json AS json, $7::bytea AS bytes, n FROM generate_series(1, 2) n";

describe("a prepared query", () => {
  it("sends values and reads rows as the driver's own does, also when it is not described any more", async () => {
    const client = await connected();
    await fc.assert(
      fc.asyncProperty(VALUES, async (given) => {
        const values = Object.values(given);
        const { rows } = await client.query(ECHO, values);
        expect(await queryPrepared(client, { name: "echo", text: ECHO }, values)).toEqual(rows);
      }),
    );
    const { rows } = await client.query("SELECT count(*)::int AS n FROM pg_prepared_statements WHERE name = 'echo'");
    expect(rows).toEqual([{ n: 1 }]);
  });

  it("answers no rows where there are none, and where a statement has no columns", async () => {
    const client = await connected();
    await client.query("CREATE TABLE kept (n int)");
    const insert = { name: "insert", text: "INSERT INTO kept VALUES ($1)" };
    const none = { name: "none", text: "SELECT n FROM kept WHERE n < $1" };
    for (let round = 0; round < 2; round += 1) {
      expect(await queryPrepared(client, insert, [round])).toEqual([]);
      expect(await queryPrepared(client, none, [0])).toEqual([]);
    }
    expect(await queryPrepared(client, none, [9])).toEqual([{ n: 0 }, { n: 1 }]);
  });

  it("that PostgreSQL refuses rejects with its code, and the connection goes on", async () => {
    const client = await connected();
    const divide = { name: "divide", text: "SELECT 1 / $1::int AS n" };
    await expect(queryPrepared(client, { name: "wrong", text: "SELEC 1" }, [])).rejects.toMatchObject({ code: "42601" });
    for (let round = 0; round < 2; round += 1) {
      await expect(queryPrepared(client, divide, [0])).rejects.toMatchObject({ code: "22012" });
      expect(await queryPrepared(client, divide, [1])).toEqual([{ n: 1 }]);
    }
    expect(await queryPrepared(client, { name: "wrong", text: "SELECT 1 AS n" }, [])).toEqual([{ n: 1 }]);
  });

  it("whose columns change is refused by PostgreSQL, and never read by the columns of before", async () => {
    const client = await connected();
    await client.query("CREATE TABLE changed (a int)");
    await client.query("INSERT INTO changed VALUES (1)");
    const all = { name: "all", text: "SELECT * FROM changed" };
    expect(await queryPrepared(client, all, [])).toEqual([{ a: 1 }]);
    await client.query("ALTER TABLE changed ADD b text DEFAULT 'x'");
    await expect(queryPrepared(client, all, [])).rejects.toMatchObject({ code: "0A000" });
  });

  it("that cannot be sent rejects before anything is sent: a value without a text, another text of its name", async () => {
    const client = await connected();
    const one = { name: "one", text: "SELECT $1::text AS text" };
    const round: { self?: object } = {};
    round.self = round;
    await expect(queryPrepared(client, one, [round])).rejects.toThrow("circular");
    expect(await queryPrepared(client, one, ["x"])).toEqual([{ text: "x" }]);
    await expect(queryPrepared(client, { name: "one", text: "SELECT 2" }, [])).rejects.toThrow("has another text");
    expect(await queryPrepared(client, one, ["y"])).toEqual([{ text: "y" }]);
  });

  it("rejects when a row cannot be read, and the connection goes on", async () => {
    const client = await connected();
    const read = pg.types.getTypeParser(pg.types.builtins.INET) as (text: string) => unknown;
    pg.types.setTypeParser(pg.types.builtins.INET, () => JSON.parse("{"));
    onTestFinished(() => pg.types.setTypeParser(pg.types.builtins.INET, read));
    const addresses = { name: "addresses", text: "SELECT $1::inet AS address FROM generate_series(1, 2)" };
    await expect(queryPrepared(client, addresses, ["127.0.0.1"])).rejects.toThrow(SyntaxError);
    expect(await queryPrepared(client, addresses, [null])).toEqual([{ address: null }, { address: null }]);
  });

  it("without a name is prepared each time", async () => {
    const client = await connected();
    for (const n of [1, 2, 1]) expect(await queryPrepared(client, { name: "", text: `SELECT ${n} AS n` }, [])).toEqual([{ n }]);
  });

  it("rejects when its time is up, and when its connection breaks", async () => {
    const late = await connected();
    const sleep = { name: "sleep", text: "SELECT pg_sleep($1)" };
    await expect(queryPrepared(late, sleep, [0.5], 50)).rejects.toThrow("Query read timeout");
    const [broken, other] = [await connected(), await connected()];
    const { rows } = await broken.query("SELECT pg_backend_pid() AS pid");
    const asked = expect(queryPrepared(broken, sleep, [20])).rejects.toThrow(/terminat/);
    await other.query("SELECT pg_terminate_backend($1)", [rows[0].pid]);
    await asked;
    await expect(queryPrepared(broken, sleep, [0])).rejects.toThrow();
  });
});
