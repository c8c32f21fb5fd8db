import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { openPools } from "../../src/db/connections/pool.ts";
import { forTenant } from "../../src/db/connections/reader-limits.ts";
import { sqlState, StorageUnavailable } from "../../src/db/storage-error.ts";
import { administrator, testDatabaseUrl } from "../support/database.ts";

/** A message of PostgreSQL (PostgreSQL, "Message Formats"). */
function message(code: string, body = ""): Buffer {
  const head = Buffer.alloc(5);
  head.write(code);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, Buffer.from(body, "latin1")]);
}

const STARTED = Buffer.concat([message("R", "\0\0\0\0"), message("Z", "I")]);
const DONE = Buffer.concat(
  ["3", "1", "2", "n"].map((code) => message(code)).concat(message("C", "SELECT 0\0"), message("Z", "I")),
);
const ENDED = message("E", "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0");

/** A server that answers as PostgreSQL does who connects, and who asks, each in one write; and the pools that lead to it. */
async function poolsOf(connected: readonly Buffer[], asked: readonly Buffer[]) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(Buffer.concat(connected));
      socket.on("data", () => socket.write(Buffer.concat(asked)));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const pools = openPools({ url: `postgres://x@127.0.0.1:${port}/x`, connections: 2, version: "1" });
  onTestFinished(async () => {
    server.close();
    await pools.end();
  });
  return pools;
}

const STATEMENT = { name: "nothing", text: "SELECT WHERE false" };

describe.each(["commits", "leases", "reads"] as const)("a connection of %s", (purpose) => {
  it("that ends in the moment in which it is made rejects its statement, and ends no process", async () => {
    const { [purpose]: sql } = await poolsOf([STARTED, ENDED], [DONE]);
    await expect(sql.query(STATEMENT, [])).rejects.toThrow(StorageUnavailable);
    expect(sql.outages.isSuspected).toBe(true);
  });

  it("that ends behind the last answer is reason enough to look whether the database is another", async () => {
    const { [purpose]: sql } = await poolsOf([STARTED], [DONE, ENDED]);
    const looked = Promise.withResolvers<void>();
    sql.outages.onReconnect(async () => looked.resolve());
    expect(await sql.query(STATEMENT, [])).toEqual([]);
    await looked.promise;
  });
});

it("an error of a statement says who asked", async () => {
  const { commits } = await poolsOf([STARTED], [message("E", "SERROR\0C42601\0Mwrong\0\0"), message("Z", "I")]);
  const asks = async (): Promise<unknown> => await commits.query(STATEMENT, []);
  const error = await asks().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "42601", stack: expect.stringContaining("asks") });
});

describe("what PostgreSQL answers about a statement", () => {
  const raise = (state: string) => ({
    name: `raise_${state}`,
    text: `DO $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${state}'; END $$`,
  });
  const PROCESS = { name: "process", text: "SELECT pg_backend_pid() AS process" } as const;

  async function poolsOfDatabase() {
    const url = await testDatabaseUrl();
    const pools = openPools({ url, connections: 1, version: "1" });
    onTestFinished(() => pools.end());
    return { url, pools };
  }

  it.each(["commits", "leases", "reads"] as const)("leaves the connections of %s", async (purpose) => {
    const { pools } = await poolsOfDatabase();
    const sql = pools[purpose];
    const processes = async (): Promise<ReadonlySet<unknown>> =>
      new Set(
        (await Promise.all([0, 1].map(() => sql.query(PROCESS, [])))).flat().map((row) => (row as { process: unknown }).process),
      );
    const before = await processes();
    for (const state of ["TP001", "TP002", "TP003", "TP005", "55P03", "40P01", "57014", "23505"])
      for (let times = 0; times < 13; times += 1) {
        const error = await sql.query(raise(state), []).catch((thrown: unknown) => thrown);
        expect(sqlState(error)).toBe(state);
      }
    expect(await processes()).toEqual(before);
  });

  it("leaves a connection whose statement waited too long for a lock", async () => {
    const { url, pools } = await poolsOfDatabase();
    const locker = await administrator(url);
    await locker.query("CREATE TABLE held ()");
    await locker.query("BEGIN; LOCK TABLE held");
    const before = await pools.commits.query(PROCESS, []);
    const error = await pools.commits.query({ name: "held", text: "TABLE held" }, []).catch((thrown: unknown) => thrown);
    expect(sqlState(error)).toBe("55P03");
    expect(await pools.commits.query(PROCESS, [])).toEqual(before);
    await locker.query("COMMIT");
    expect(await pools.commits.query({ name: "held", text: "TABLE held" }, [])).toEqual([]);
  });

  it("ends one whose prepared statement no longer fits its tables", async () => {
    const { url, pools } = await poolsOfDatabase();
    const other = await administrator(url);
    const all = { name: "all", text: "SELECT * FROM changed" };
    await other.query("CREATE TABLE changed (one integer)");
    expect(await pools.commits.query(all, [])).toEqual([]);
    await other.query("ALTER TABLE changed ADD COLUMN two integer");
    const error = await pools.commits.query(all, []).catch((thrown: unknown) => thrown);
    expect(sqlState(error)).toBe("0A000");
    expect(await pools.commits.query(all, [])).toEqual([]);
  });
});

it("a statement that waits for its tenant's turn is counted with those that wait for a connection", async () => {
  const pools = openPools({ url: await testDatabaseUrl(), connections: 3, version: "1" });
  onTestFinished(() => pools.end());
  const sleeps = { name: "sleeps", text: "SELECT pg_sleep(0.2)" };
  const asked = forTenant("crowded", () => Array.from({ length: 7 }, () => pools.commits.query(sleeps, [])));
  const waiting = () => pools.connections().find(({ pool }) => pool === "commits")?.waiting;
  expect(waiting()).toBe(5);
  await Promise.all(asked);
  expect(waiting()).toBe(0);
});
