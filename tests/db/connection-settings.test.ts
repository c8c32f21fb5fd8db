import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase, type Database } from "../../src/db/database.ts";
import { administrator, emptyDatabaseUrl, setOnDatabase, testDatabaseUrl } from "../support/database.ts";

describe("a DATABASE_URL that the driver cannot read (invariant 11)", () => {
  it.each([
    ["a certificate that is not there", "postgresql://user:secret@127.0.0.1:1/db?sslrootcert=/wrong/path", "/wrong/path"],
    ["a password with a % of its own", "postgresql://user:secret%ff@127.0.0.1:1/db", "write special characters"],
  ])("%s: says what to do, and no password", async (_name, url, said) => {
    const refusal: unknown = await openDatabase({ kind: "postgres", url, connections: 1 }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: "DatabaseUnavailable", message: expect.stringContaining(said) });
    expect(String(refusal)).not.toContain("secret");
  });
});

/** A startup message (PostgreSQL, "Message Formats") without its `options`, and whether it had any. */
function withoutOptions(startup: Buffer): { readonly hadOptions: boolean; readonly rest: Buffer } {
  const words = startup.subarray(8, -1).toString().split("\0").slice(0, -1);
  const at = words.findIndex((word, index) => index % 2 === 0 && word === "options");
  if (at < 0) return { hadOptions: false, rest: startup };
  const body = Buffer.from([...words.slice(0, at), ...words.slice(at + 2), ""].map((word) => `${word}\0`).join(""));
  const length = Buffer.alloc(4);
  length.writeInt32BE(8 + body.length);
  return { hadOptions: true, rest: Buffer.concat([length, startup.subarray(4, 8), body]) };
}

/** PostgreSQL's answer to who may not connect as they ask. */
function refusal(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.from("E\0\0\0\0");
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}

/** The URL of a new database without any table, and that of a pooler before it, which treats settings as PgBouncer does. */
async function pooledDatabase(does: "refuses them" | "drops them"): Promise<{ readonly url: string; readonly pooled: string }> {
  const url = new URL(await emptyDatabaseUrl());
  const target = Number(url.port);
  const pooler = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    for (const socket of [client, server]) socket.on("error", () => {});
    client.once("data", (startup) => {
      const { hadOptions, rest } = withoutOptions(startup);
      if (hadOptions && does === "refuses them") {
        server.destroy();
        return void client.end(refusal("unsupported startup parameter: options"));
      }
      server.write(rest);
      client.pipe(server).pipe(client);
    });
  });
  pooler.listen(0, "127.0.0.1");
  await once(pooler, "listening");
  onTestFinished(() => void pooler.close());
  const pooled = new URL(url);
  pooled.port = String((pooler.address() as AddressInfo).port);
  return { url: url.href, pooled: pooled.href };
}

const opened = (url: string): Promise<unknown> => openDatabase({ kind: "postgres", url, connections: 1 });

describe("a database that would not have the settings of the server's connections is refused, with what to do", () => {
  it.each([
    ["refuses them", "unsupported startup parameter: options"],
    ["drops them", "lock_timeout, .*enable_seqscan, statement_timeout"],
  ] as const)("a pooler that %s, and nothing is migrated", async (does, problem) => {
    const { url, pooled } = await pooledDatabase(does);
    await expect(opened(pooled)).rejects.toThrow(new RegExp(`${problem}.*give PostgreSQL's own host and port`));
    const { rows } = await (await administrator(url)).query("SELECT to_regclass('_prisma_migrations')::text AS migrations");
    expect(rows).toEqual([{ migrations: null }]);
  });

  it("a pooler that drops them, though the database has some of them by itself", async () => {
    const { url, pooled } = await pooledDatabase("drops them");
    await setOnDatabase(url, { lock_timeout: "'2s'" });
    await expect(opened(pooled)).rejects.toThrow(
      /\((?!.*lock_timeout).*idle_in_transaction_session_timeout, .*give PostgreSQL's own host/,
    );
  });

  it.each([
    ["options", "-c work_mem=8MB", "lock_timeout"],
    ["statement_timeout", "60000", "statement_timeout"],
  ])("a URL with %s of its own", async (name, value, lost) => {
    const url = `${await testDatabaseUrl()}?${name}=${encodeURIComponent(value)}`;
    await expect(opened(url)).rejects.toThrow(new RegExp(`\\(.*${lost}.*remove them`));
  });
});

describe("the connections of a server have settings of their own, whatever the database says", () => {
  const openedWith = async (settings: Readonly<Record<string, string>>): Promise<Database> => {
    const url = await testDatabaseUrl();
    await setOnDatabase(url, settings);
    const database = await openDatabase({ kind: "postgres", url, connections: 1 });
    onTestFinished(() => database.close());
    return database;
  };

  it.each(["sql", "leases", "reads"] as const)("compile no statement: %s", async (of) => {
    const database = await openedWith({ jit: "on" });
    const compiles = { name: "compiles", text: "SELECT current_setting('jit') AS jit" };
    expect(await database[of].query(compiles, [])).toEqual([{ jit: "off" }]);
  });

  it.each(["sql", "leases"] as const)("that write have no bound, which would end each try: %s", async (of) => {
    const database = await openedWith({ statement_timeout: "'60s'" });
    const bound = { name: "bound", text: "SELECT current_setting('statement_timeout') AS bound" };
    expect(await database[of].query(bound, [])).toEqual([{ bound: "0" }]);
  });
});
