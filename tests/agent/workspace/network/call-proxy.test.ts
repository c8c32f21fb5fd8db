import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { targetOf, type HostDecision, type Network } from "../../../../src/agent/workspace/network/reach.ts";
import { opened, proxyOf, says } from "../../../support/network-proxy.ts";
import { NEAR, PUBLIC, publicNetwork } from "../../../support/public-network.ts";

async function asks(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
) {
  const { body = "", ...rest } = options;
  const asked = request({ port, path, agent: false, ...rest });
  asked.end(body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
}

const ALL: HostDecision = () => true;
const NAMED: HostDecision = (host, port) => host === "example.org" && port !== 22;

describe("the proxy of a call", () => {
  it("passes a request on to the resolved address, as it is but for what is of one connection", async () => {
    const { network, asked, connections } = await publicNetwork();
    const { port } = await proxyOf(NAMED, network);
    const headers = { host: "other.example", "proxy-authorization": "Basic x", "x-a": "1", connection: "x-own", "x-own": "1" };
    const answer = await asks(port, "http://EXAMPLE.org./path?q=1", { method: "POST", headers, body: "hello" });
    expect(answer).toMatchObject({ status: 200, text: "hello", headers: { "x-from": "the server" } });
    expect(answer.headers).not.toHaveProperty("x-inner");
    expect(asked[0]).toMatchObject({ method: "POST", url: "/path?q=1", headers: { host: "example.org.", "x-a": "1" } });
    expect(asked[0]?.headers).not.toHaveProperty("proxy-authorization");
    expect(asked[0]?.headers).not.toHaveProperty("x-own");
    expect(connections).toEqual([`${PUBLIC}:80`]);
  });

  it("joins connections for CONNECT, also with what was sent too early", async () => {
    const { network, connections } = await publicNetwork();
    const { port } = await proxyOf(NAMED, network);
    const said = await says(
      port,
      "CONNECT example.org:443 HTTP/1.1\r\n\r\nGET /inner HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    );
    expect(said).toMatch(/^HTTP\/1.1 200 Connection established\r\n\r\nHTTP\/1.1 200 OK/);
    expect(connections).toEqual([`${PUBLIC}:443`]);
  });

  it("refuses at once what is not allowed, says so, and remembers it once", async () => {
    const { network, connections } = await publicNetwork();
    const throws: HostDecision = () => {
      throw new Error("broken");
    };
    for (const decide of [NAMED, throws]) {
      const { proxy, port } = await proxyOf(decide, network);
      expect(await asks(port, "http://evil.example/")).toMatchObject({
        status: 403,
        text: expect.stringContaining("evil.example:80 is not among"),
      });
      expect(await says(port, "CONNECT evil.example:443 HTTP/1.1\r\n\r\n")).toMatch(
        /^HTTP\/1.1 403 Forbidden: evil.example:443 is not among/,
      );
      await says(port, "CONNECT evil.example:443 HTTP/1.1\r\n\r\n");
      await says(port, "CONNECT example.org:22 HTTP/1.1\r\n\r\n");
      expect(proxy.notes.map((note) => note.split(" ")[0])).toEqual(["evil.example:80", "evil.example:443", "example.org:22"]);
    }
    expect(connections).toEqual([]);
  });

  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "192.168.0.1",
    "::1",
    "fe80::1",
    "fd00::1",
    "::ffff:127.0.0.1",
    "0.0.0.0",
    "168.63.129.16",
    NEAR,
  ])("never reaches %s, by whatever name, nor after a name changed its address", async (address) => {
    let isPublic = true;
    const { network, connections } = await publicNetwork(() => [isPublic ? PUBLIC : address]);
    const { proxy, port } = await proxyOf(ALL, network);
    expect((await asks(port, "http://changes.example/")).status).toBe(200);
    isPublic = false;
    expect(await asks(port, "http://changes.example/")).toMatchObject({
      status: 403,
      text: expect.stringContaining("private network"),
    });
    const literal = address.includes(":") ? `[${address}]` : address;
    const never = /403 .*:443 leads into a private network or to this machine, which programs never reach and nobody can allow/;
    for (const decide of [ALL, NAMED])
      expect(await says((await proxyOf(decide, network)).port, `CONNECT ${literal}:443 HTTP/1.1\r\n\r\n`)).toMatch(never);
    expect(connections).toEqual([`${PUBLIC}:80`]);
    expect(proxy.notes).toHaveLength(1);
  });

  it("answers what is no request to a proxy, an unknown name and a host that does not answer, and goes on", async () => {
    const broken: Network = {
      lookup: async (name) => {
        if (name === "gone.example") throw new Error("ENOTFOUND");
        return [PUBLIC];
      },
      connect: () => connect({ host: "127.0.0.1", port: 1 }),
      isNear: () => false,
    };
    const { port, proxy } = await proxyOf(ALL, broken);
    for (const path of ["/", "https://example.org/", "ftp://example.org/"]) expect((await asks(port, path)).status).toBe(400);
    for (const line of [
      "CONNECT example.org HTTP/1.1",
      "CONNECT a:0 HTTP/1.1",
      "CONNECT a:99999 HTTP/1.1",
      "CONNECT b@d:1 HTTP/1.1",
    ])
      expect(await says(port, `${line}\r\n\r\n`)).toContain("400");
    expect(proxy.notes).toEqual([]);
    expect(await asks(port, "http://gone.example/")).toMatchObject({
      status: 502,
      text: "gone.example has no address (ENOTFOUND)\n",
    });
    expect(await asks(port, "http://example.org/")).toMatchObject({
      status: 502,
      text: "allowed, but nothing answered at example.org:80 (ECONNREFUSED)\n",
    });
    for (let count = 0; count < 2; count += 1)
      expect(await says(port, "CONNECT example.org:443 HTTP/1.1\r\n\r\n")).toContain(
        "502 Bad Gateway: allowed, but nothing answered at example.org:443 (ECONNREFUSED)",
      );
    expect(await says(port, `GET http://example.org/ HTTP/1.1\r\nx: ${"y".repeat(20_000)}\r\n\r\n`)).not.toContain("200");
    expect(proxy.notes).toEqual([
      "allowed, but gone.example has no address (ENOTFOUND)",
      "allowed, but nothing answered at example.org:80 (ECONNREFUSED)",
      "allowed, but nothing answered at example.org:443 (ECONNREFUSED)",
    ]);
  });

  it("names a bounded number of hosts that did not answer, and none that answered later", async () => {
    const { network } = await publicNetwork();
    let isUp = false;
    const flaky: Network = {
      ...network,
      lookup: async () => [PUBLIC],
      connect: (address, port) => (isUp ? network.connect(address, port) : connect({ host: "127.0.0.1", port: 1 })),
    };
    const { port, proxy } = await proxyOf(ALL, flaky);
    for (let count = 0; count < 25; count += 1) await asks(port, `http://host${count}.example/`);
    await says(port, "CONNECT host0.example:443 HTTP/1.1\r\n\r\n");
    expect(proxy.notes).toHaveLength(20);
    isUp = true;
    await asks(port, "http://host3.example/");
    expect(proxy.notes).toHaveLength(19);
    expect(proxy.notes.join()).not.toContain("host3.example");
  });

  it("says nothing of a host for whose answer the program did not wait", async () => {
    const outside: Socket[] = [];
    const silent: Network = {
      isNear: () => false,
      lookup: async () => [PUBLIC],
      connect: () => {
        const socket = Object.assign(new Socket(), { connecting: true });
        outside.push(socket);
        return socket;
      },
    };
    const { port, proxy } = await proxyOf(ALL, silent);
    for (const line of ["GET http://example.org/", "CONNECT example.org:443"]) {
      const socket = await opened(port);
      const before = outside.length;
      socket.write(`${line} HTTP/1.1\r\nhost: example.org\r\n\r\n`);
      await expect.poll(() => outside.length).toBe(before + 1);
      socket.destroy();
      await expect.poll(() => outside.at(-1)?.closed).toBe(true);
    }
    expect(proxy.notes).toEqual([]);
  });

  it("takes a bounded number of connections, and ends all of them with the call", async () => {
    const { network } = await publicNetwork();
    const { port, proxy } = await proxyOf(ALL, network);
    const held = await Promise.all(Array.from({ length: 64 }, () => opened(port)));
    expect(await says(port, "CONNECT example.org:443 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1.1 503/);
    const ends = held.map((socket) => once(socket.resume(), "close"));
    proxy.close();
    await Promise.all(ends);
    await expect(opened(port)).rejects.toThrow("ECONNREFUSED");
  });
});

describe("a target", () => {
  it("has one form", () => {
    expect(targetOf("EXAMPLE.org.:443")).toEqual({ host: "example.org", port: 443 });
    expect(targetOf("[::1]:80")).toEqual({ host: "::1", port: 80 });
    for (const text of ["", ":443", "a", "a:b", "a:1:2", "u@h:1", "a\r\nb:1", `${"a".repeat(255)}:1`])
      expect(targetOf(text), text).toBe(null);
  });
});
