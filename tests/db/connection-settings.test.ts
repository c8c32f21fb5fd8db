import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { testDatabaseUrl } from "../support/database.ts";

/** The value of a startup message's parameter (PostgreSQL, "Message Formats"), and all others. */
function withoutOptions(startup: Buffer): { readonly options: string | null; readonly rest: Buffer } {
  const words = startup.subarray(8, -1).toString().split("\0").slice(0, -1);
  const at = words.findIndex((word, index) => index % 2 === 0 && word === "options");
  if (at < 0) return { options: null, rest: startup };
  const body = Buffer.from([...words.slice(0, at), ...words.slice(at + 2), ""].map((word) => `${word}\0`).join(""));
  const length = Buffer.alloc(4);
  length.writeInt32BE(8 + body.length);
  return { options: words[at + 1] ?? "", rest: Buffer.concat([length, startup.subarray(4, 8), body]) };
}

/** PostgreSQL's answer to who may not connect as they ask. */
function refusal(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.from("E\0\0\0\0");
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}

/** The URL of a pooler before a new database, which does so with the settings that a connection begins with, as PgBouncer does. */
async function behindPooler(does: "refuses them" | "leaves them out"): Promise<string> {
  const url = new URL(await testDatabaseUrl());
  const target = Number(url.port);
  const pooler = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    for (const socket of [client, server]) socket.on("error", () => {});
    client.once("data", (startup) => {
      const { options, rest } = withoutOptions(startup);
      if (options !== null && does === "refuses them") {
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
  url.port = String((pooler.address() as AddressInfo).port);
  return url.href;
}

describe("a database that would not have the settings of the server's connections is refused, with what to do", () => {
  it.each(["refuses them", "leaves them out"] as const)("a pooler that %s", async (does) => {
    const url = await behindPooler(does);
    await expect(openDatabase({ kind: "postgres", url, connections: 1 })).rejects.toThrow(/settings.*name PostgreSQL itself/);
  });

  it("a URL with options of its own", async () => {
    const url = `${await testDatabaseUrl()}?options=-c%20work_mem%3D8MB`;
    await expect(openDatabase({ kind: "postgres", url, connections: 1 })).rejects.toThrow(/settings.*leave them out/);
  });
});
