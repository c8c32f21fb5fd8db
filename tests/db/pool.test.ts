import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { openPools } from "../../src/db/pool.ts";
import { StorageUnavailable } from "../../src/db/storage-error.ts";

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
