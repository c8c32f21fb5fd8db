import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { tokenActor } from "../support/actors.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { stillClock } from "../support/clock.ts";
import { connect } from "../support/client.ts";
import { freePort } from "../support/free-port.ts";
import { ownServer, QUICK, referenceServer } from "../support/mcp.ts";
import { appWith } from "../support/mcp-app.ts";
import { httpServer } from "../support/mcp-http.ts";
import { metric } from "../support/metrics.ts";

const QUERY = `{ mcpServers {
  name isCommon transport state reason since nextTryAt toolCount info { generation protocolVersion name version }
} }`;

type Shown = {
  readonly name: string;
  readonly isCommon: boolean;
  readonly transport: string | null;
  readonly state: string;
  readonly reason: string | null;
  readonly since: string | null;
  readonly nextTryAt: string | null;
  readonly toolCount: number;
  readonly info: Record<string, string | null> | null;
};

async function serversOf(client: ReturnType<typeof connect>): Promise<readonly Shown[]> {
  return (await client.post<{ mcpServers: Shown[] }>({ query: QUERY })).data?.mcpServers ?? [];
}

const NO_CALL = ["mcp__own__work", {}] as const;

describe("mcpServers", () => {
  it("shows a connected server with its protocol, and one that is left out", async () => {
    const { client, app } = await appWith({ own: ownServer("plain.mjs"), out: { command: "x", disabled: true } }, NO_CALL);
    expect(await serversOf(client)).toEqual(
      [
        {
          name: "out",
          isCommon: true,
          transport: "STDIO",
          state: "DISABLED",
          reason: null,
          since: null,
          nextTryAt: null,
          toolCount: 0,
          info: null,
        },
        {
          name: "own",
          isCommon: true,
          transport: "STDIO",
          state: "CONNECTED",
          reason: null,
          since: expect.any(String),
          nextTryAt: null,
          toolCount: 1,
          info: { generation: "LEGACY", protocolVersion: "2025-06-18", name: "plain", version: "1" },
        },
      ].toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    );
    expect(await metric(app.url, "triplane_mcp_servers", { state: "connected" })).toBe(1);
    expect(await metric(app.url, "triplane_mcp_servers", { state: "disabled" })).toBe(1);
  });

  it("says why a server is away, since when, and when it is tried again; no secret is in it", async () => {
    const { url } = await httpServer(() => (response) => response.writeHead(401).end());
    const away = { url: `${url}?key=secret-of-the-address`, headers: { Authorization: "Bearer secret-of-the-header" } };
    const { client } = await appWith({ away }, NO_CALL, {
      overrides: { mcpTimes: { ...QUICK, firstMs: 300_000, lastMs: 300_000 } },
    });
    const [shown] = await serversOf(client);
    expect(shown).toMatchObject({
      transport: null,
      state: "AWAY",
      reason: expect.stringContaining("does not accept the headers"),
      info: null,
    });
    const waitMs = new Date(shown?.nextTryAt ?? 0).getTime() - new Date(shown?.since ?? 0).getTime();
    expect(waitMs).toBeGreaterThan(200_000);
    expect(waitMs).toBeLessThanOrEqual(360_000);
    expect(JSON.stringify(shown)).not.toMatch(/secret-of|127\.0\.0\.1/);
  });

  it("says at once that a process has ended, though no call is made, and that it is back", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "pid");
    const command = {
      command: "sh",
      args: ["-c", `echo $$ > ${file}; exec "$0" "$@"`, process.execPath, ...ownServer("plain.mjs").args],
    };
    const slow = { ...QUICK, firstMs: 1_000, lastMs: 1_000 };
    const { client } = await appWith({ own: command }, NO_CALL, { overrides: { mcpTimes: slow } });
    expect((await serversOf(client))[0]).toMatchObject({ state: "CONNECTED" });
    process.kill(Number(await readFile(file, "utf8")), "SIGKILL");
    await expect
      .poll(async () => (await serversOf(client))[0])
      .toMatchObject({ state: "AWAY", reason: expect.stringContaining("SIGKILL"), info: null, toolCount: 1 });
    await expect.poll(async () => (await serversOf(client))[0], { timeout: 5_000 }).toMatchObject({ state: "CONNECTED" });
  });

  it("says for how long a process that starts has not answered", async () => {
    const mute = { command: process.execPath, args: ["-e", "process.stdin.resume()"] };
    const clock = stillClock();
    const { client } = await appWith({ mute }, NO_CALL, { overrides: { clock, mcpTimes: { ...QUICK, startMs: 20 } } });
    clock.passMs(5_000);
    expect((await serversOf(client))[0]).toMatchObject({
      state: "STARTING",
      reason: "no answer to the handshake (initialize) for 5 s; after 60 s it is AWAY",
      nextTryAt: null,
    });
  });

  it("says at once that a server at an address has ended, though no call is made", async () => {
    const port = await freePort();
    const { command, args } = referenceServer("everything", "streamableHttp");
    const child = spawn(command, args, { env: { ...process.env, PORT: String(port) }, stdio: ["ignore", "ignore", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stderr, "data");
    const slow = { ...QUICK, changedMs: 1_000, firstMs: 300_000, lastMs: 300_000 };
    const { client } = await appWith({ all: { url: `http://127.0.0.1:${port}/mcp` } }, NO_CALL, {
      overrides: { mcpTimes: slow },
    });
    expect((await serversOf(client))[0]).toMatchObject({ state: "CONNECTED" });
    child.kill("SIGKILL");
    await expect
      .poll(async () => (await serversOf(client))[0], { timeout: 5_000 })
      .toMatchObject({ state: "AWAY", reason: expect.stringContaining("ECONNREFUSED"), info: null });
  });

  it("is tried again at once for an administrator; others, and other tenants, cannot", async () => {
    let isUp = false;
    const { url, arrived } = await httpServer(() => (isUp ? null : (response) => response.writeHead(503).end()));
    const actors = [
      tokenActor("adam", ["admin"], "acme"),
      tokenActor("anna", ["user", "approver"], "acme"),
      tokenActor("otto", ["admin"], "other"),
    ];
    const app = await startTestApp({
      config: {
        actors: actors.map(({ actor }) => actor),
        tenants: { acme: { mcpServers: { own: { url, transport: "http" }, out: { command: "x", disabled: true } } }, other: {} },
      },
      overrides: { mcpTimes: { ...QUICK, firstMs: 300_000, lastMs: 300_000 } },
    });
    const adam = connect(app.url, "adam-token");
    const retry = async (client: ReturnType<typeof connect>, name = "own") => {
      const query = `mutation { retryMcpServer(input: { name: "${name}" }) { server { name state nextTryAt } userErrors { code field } } }`;
      return (await client.post<{ retryMcpServer: { server: Shown | null; userErrors: object[] } }>({ query })).data
        ?.retryMcpServer;
    };
    const failed = (code: string, field: string[] | null) => ({ server: null, userErrors: [{ code, field }] });
    await expect.poll(async () => (await serversOf(adam))[1]).toMatchObject({ state: "AWAY" });
    expect(await retry(connect(app.url, "anna-token"))).toEqual(failed("FORBIDDEN", null));
    expect(await retry(connect(app.url, "otto-token"))).toEqual(failed("NOT_FOUND", ["name"]));
    expect(await retry(adam, "none")).toEqual(failed("NOT_FOUND", ["name"]));
    expect(await retry(adam, "out")).toEqual(failed("INVALID", ["name"]));
    const before = arrived.length;
    const answer = await retry(adam);
    expect(answer).toMatchObject({ server: { name: "own", state: "AWAY" }, userErrors: [] });
    expect(new Date(answer?.server?.nextTryAt ?? 0).getTime()).toBeLessThan(Date.now() + 60_000);
    await expect.poll(() => arrived.length).toBeGreaterThan(before);
    isUp = true;
    // The failed try may still be under way.
    await expect.poll(async () => (await retry(adam))?.server).toMatchObject({ state: "CONNECTED", nextTryAt: null });
  });

  it("is CONNECTED only once its list was read", async () => {
    const script = JSON.stringify({ "tools/list": { error: { code: -32_603, message: "no list" } } });
    const { client } = await appWith({ own: ownServer("plain.mjs", script) }, NO_CALL);
    expect((await serversOf(client))[0]).toMatchObject({
      state: "AWAY",
      reason: expect.stringContaining("no list"),
      toolCount: 0,
    });
  });

  it("keeps the time since which a server is away over further tries, until it answers", async () => {
    let isUp = false;
    const { url, arrived } = await httpServer(() => (isUp ? null : (response) => response.writeHead(503).end()));
    const { client } = await appWith({ own: { url, transport: "http" } }, NO_CALL);
    const [first] = await serversOf(client);
    const before = arrived.length;
    await expect.poll(() => arrived.length).toBeGreaterThan(before + 4);
    expect((await serversOf(client))[0]).toMatchObject({ state: "AWAY", since: first?.since });
    isUp = true;
    await expect
      .poll(async () => (await serversOf(client))[0])
      .toMatchObject({ state: "CONNECTED", transport: "HTTP", toolCount: 1 });
  });

  it("shows what a server says of itself without invisible characters, and cut", async () => {
    const serverInfo = { name: `a\u200Bb${"x".repeat(10_000)}`, version: "1\u0007\u202E2" };
    const initialize = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
    const { client } = await appWith({ own: ownServer("plain.mjs", JSON.stringify({ initialize })) }, NO_CALL);
    const info = (await serversOf(client))[0]?.info;
    expect(info?.["name"]).toMatch(/^abx+$/);
    expect(info?.["name"]?.length).toBeLessThanOrEqual(200);
    expect(info?.["version"]).toBe("12");
  });

  it("shows a tenant its own servers and the common ones, and none of another (invariant 12)", async () => {
    const actors = [tokenActor("anna", ["user"], "acme"), tokenActor("otto", ["user"], "other")];
    const app = await startTestApp({
      config: {
        actors: actors.map(({ actor }) => actor),
        mcpServers: { common: ownServer("plain.mjs") },
        tenants: {
          acme: { mcpServers: { own: ownServer("plain.mjs"), out: { url: "http://a.example", disabled: true } } },
          other: {},
        },
      },
      overrides: { mcpTimes: QUICK },
    });
    const namesOf = async (who: string) =>
      (await serversOf(connect(app.url, `${who}-token`))).map(({ name, isCommon }) => [name, isCommon]);
    expect(await namesOf("anna")).toEqual([
      ["common", true],
      ["out", false],
      ["own", false],
    ]);
    expect(await namesOf("otto")).toEqual([["common", true]]);
  });
});
