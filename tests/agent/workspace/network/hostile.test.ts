import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { HostDecision, Network } from "../../../../src/agent/workspace/network/reach.ts";
import { opened, proxyOf, says } from "../../../support/network-proxy.ts";
import { PUBLIC } from "../../../support/public-network.ts";

const ALL: HostDecision = () => true;
const GET = "GET http://example.org/ HTTP/1.1\r\nhost: example.org\r\n";

/** A network whose every address is a server of the test's own, which writes what it is told to, and keeps what it hears. */
async function hostileNetwork(answer: string | null, lookup: Network["lookup"] = async () => [PUBLIC]) {
  const heard: string[] = [];
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket)).on("error", () => {});
    socket.on("data", (data) => {
      heard.push(String(data));
      if (answer !== null && heard.join("").includes("\r\n\r\n")) socket.end(answer);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const network: Network = {
    lookup,
    connect: () => {
      connections += 1;
      return connect({ host: "127.0.0.1", port });
    },
    isNear: () => false,
  };
  return { network, heard, open, connections: () => connections };
}

describe("a server that the proxy asks", () => {
  it.each(["099 Odd", "000 Odd", "101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade"])(
    "may answer %s, and the program hears that there is no answer",
    async (line) => {
      const { network } = await hostileNetwork(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\n\r\n`);
      const { port } = await proxyOf(ALL, network);
      expect(await says(port, `${GET}connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 502/);
    },
  );
});

describe("a program that the proxy serves", () => {
  it.each([
    ["chunks", "transfer-encoding: chunked", (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
    ["a length that `connection` names", "connection: content-length\r\ncontent-length: 32", (body: string) => body],
  ])("hides no second request in the body of one with %s", async (_name, header, framed) => {
    const inner = "GET /inner HTTP/1.1\r\nhost: x\r\n\r\n";
    const { network, heard } = await hostileNetwork("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    const { port } = await proxyOf(ALL, network);
    const socket = await opened(port);
    socket.resume().write(`${GET}${header}\r\n\r\n${framed(inner)}`);
    await expect.poll(() => heard.join("")).toContain("/inner");
    const [head = "", body = ""] = heard.join("").split(/\r\n\r\n(.*)/s);
    expect(head).toMatch(/transfer-encoding: chunked|content-length: 32/i);
    expect(body.startsWith("GET")).toBe(!/transfer-encoding/i.test(head));
    socket.destroy();
  });

  it("that does not wait for an answer opens no second connection, and is closed", async () => {
    const { network, connections } = await hostileNetwork(null);
    const { port } = await proxyOf(ALL, network);
    const socket = connect({ host: "127.0.0.1", port });
    socket.on("error", () => {});
    const closed = once(socket, "close");
    socket.resume().write(`${GET}\r\n`.repeat(1_000));
    await closed;
    expect(connections()).toBeLessThanOrEqual(1);
  });

  it("that leaves while its host is looked for, or whose call ends meanwhile, leaves no connection behind", async () => {
    const found = Promise.withResolvers<readonly string[]>();
    let decisions = 0;
    const { network, connections } = await hostileNetwork(null, () => found.promise);
    const { port, proxy, connections: served } = await proxyOf(() => (decisions += 1) > 0, network);
    const asks = async (lines: string): Promise<Socket> => {
      const before = decisions;
      const socket = await opened(port);
      socket.on("error", () => {}).resume();
      socket.write(lines);
      await expect.poll(() => decisions).toBe(before + 1);
      return socket;
    };
    (await asks(`${GET}content-length: 9\r\n\r\n`)).destroy();
    (await asks("CONNECT example.org:443 HTTP/1.1\r\n\r\n")).destroy();
    await expect.poll(served).toBe(0);
    const stays = await asks(`${GET}\r\n`);
    proxy.close();
    await once(stays, "close");
    found.resolve([PUBLIC]);
    await new Promise(setImmediate);
    expect(connections()).toBe(0);
  });

  it("asks for a bounded number of hosts at a time, also if it leaves at once", async () => {
    const { network } = await hostileNetwork(null, () => new Promise(() => {}));
    let decisions = 0;
    const { port, connections } = await proxyOf(() => (decisions += 1) > 0, network);
    for (let asked = 1; asked <= 64; asked += 1) {
      const socket = await opened(port);
      socket.write(`${GET}\r\n`);
      await expect.poll(() => decisions, { interval: 1 }).toBe(asked);
      socket.destroy();
    }
    await expect.poll(connections).toBe(0);
    expect(await says(port, `${GET}connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 503/);
    expect(decisions).toBe(64);
  });

  it("has one name looked up at a time, and none once its call has ended", async () => {
    const looked: string[] = [];
    const answers = [Promise.withResolvers<readonly string[]>(), Promise.withResolvers<readonly string[]>()];
    const { network } = await hostileNetwork(null, async (name) => (await answers[looked.push(name) - 1]?.promise) ?? []);
    let decisions = 0;
    const { port, proxy } = await proxyOf(() => (decisions += 1) > 0, network);
    for (const name of ["a", "b", "c"]) {
      const before: number = decisions;
      (await opened(port)).on("error", () => {}).write(`CONNECT ${name}.example:443 HTTP/1.1\r\n\r\n`);
      await expect.poll(() => decisions).toBe(before + 1);
    }
    await expect.poll(() => looked).toEqual(["a.example"]);
    answers[0]?.resolve([PUBLIC]);
    await expect.poll(() => looked).toEqual(["a.example", "b.example"]);
    proxy.close();
    answers[1]?.resolve([PUBLIC]);
    await new Promise(setImmediate);
    expect(looked).toHaveLength(2);
  });

  it("holds a bounded number of connections, also of those that it was told are too many", async () => {
    const { network } = await hostileNetwork(null);
    const { port, connections, proxy } = await proxyOf(ALL, network);
    let ended = 0;
    const sockets = Array.from({ length: 300 }, () => {
      const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
      return socket
        .on("error", () => {})
        .once("end", () => (ended += 1))
        .resume();
    });
    await expect.poll(() => ended).toBe(300 - 64);
    expect(await connections()).toBeLessThanOrEqual(128);
    proxy.close();
    await expect.poll(connections).toBe(0);
    for (const socket of sockets) socket.destroy();
  });
});
