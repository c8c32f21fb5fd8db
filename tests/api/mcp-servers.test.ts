import { copyFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { definitionChange } from "../../src/agent/mcp/pins.ts";
import type { Logger } from "../../src/telemetry/log.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { hasNoBox } from "../support/box.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { ownServer, QUICK, referenceServer } from "../support/mcp.ts";
import { metric } from "../support/metrics.ts";
import { allowed, answerOf, appWith } from "../support/mcp-app.ts";
import { silentLogger } from "../support/silent-logger.ts";

describe("the reference servers of the registry", () => {
  it("filesystem: its tools have their schemas, and a call reads a file of its folder", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "note.txt"), "A note.\n");
    const path = join(folder, "note.txt");
    const { client, model } = await appWith(
      { files: referenceServer("filesystem", folder) },
      ["mcp__files__read_text_file", { path }],
      {
        template: allowed("files"),
      },
    );
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: expect.stringContaining("A note.") });
    const offered = model.calls[0]?.request.tools.find(({ name }) => name === "mcp__files__read_text_file");
    expect(JSON.stringify(offered?.inputSchema)).toContain('"path"');
  });

  it("everything: a tool that lists the environment shows no token of the configuration", async () => {
    const env = { API_TOKEN: "sk-live-0123456789abcdef", MODE: "production" };
    const { client } = await appWith({ all: { ...referenceServer("everything"), env } }, ["mcp__all__get-env", {}], {
      template: allowed("all"),
    });
    const call = await answerOf(client);
    expect(call?.output).toContain('"API_TOKEN": "[hidden]"');
    expect(call?.output).toContain('"MODE": "production"');
    expect(JSON.stringify(call)).not.toContain("sk-live");
  });

  it("everything: text, images and resources become a text, and progress an event", async () => {
    const { client, tools } = await appWith({ all: referenceServer("everything") }, ["mcp__all__get-tiny-image", {}], {
      template: allowed("all"),
    });
    expect([...tools.keys()].filter((name) => name.startsWith("mcp__all__"))).toContain("mcp__all__echo");
    expect(await answerOf(client)).toMatchObject({
      state: "COMPLETED",
      output: expect.stringMatching(/\[image image\/png, \d+ bytes\]/),
    });
  });
});

describe("the process of a server", () => {
  it("has PATH, HOME and its own variables alone, and its folder", async () => {
    const { client, app } = await appWith(
      { own: { ...ownServer("plain.mjs", JSON.stringify({ "tools/call": { echo: true } })), env: { TOKEN: "a-secret-token" } } },
      ["mcp__own__work", {}],
      { template: allowed("own") },
    );
    const call = await answerOf(client);
    const { env, cwd } = JSON.parse(call?.output ?? "{}") as { env: Record<string, string>; cwd: string };
    expect(Object.keys(env).toSorted()).toEqual(expect.arrayContaining(["HOME", "PATH", "TOKEN"]));
    expect(
      Object.keys(env).filter((name) => !["HOME", "PATH", "TOKEN", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"].includes(name)),
    ).toEqual([]);
    expect(cwd).toBe(app.workspace);
    // Tests are run by npm, too.
    const path = (env["PATH"] ?? "").split(delimiter);
    expect(path.filter((folder) => /node_modules[\\/]\.bin$|node-gyp-bin$/.test(folder))).toEqual([]);
    expect(path.at(-1)).toBe(dirname(process.execPath));
  });

  it("is started again after its end; a call during it fails, and says that its effect is unknown", async () => {
    const script = JSON.stringify({ "tools/call": ["exit"] });
    const { client, tools } = await appWith({ own: ownServer("plain.mjs", script) }, ["mcp__own__work", {}], {
      template: allowed("own"),
    });
    expect(await answerOf(client)).toMatchObject({
      state: "FAILED",
      error: {
        type: "EXECUTION_FAILED",
        message: expect.stringMatching(/did not answer this call .*not known if the call had an effect/),
      },
    });
    await expect.poll(() => tools.get("mcp__own__work")?.unavailable).toBeNull();
  });

  it("ends with its server's answer above 10 MB, which fails the call", async () => {
    const script = JSON.stringify({ "tools/call": [{ bytes: 100 * 1024 * 1024 }] });
    const { client } = await appWith({ own: ownServer("plain.mjs", script) }, ["mcp__own__work", {}], {
      template: allowed("own"),
    });
    expect(await answerOf(client)).toMatchObject({ state: "FAILED", error: { message: expect.stringContaining("larger than") } });
  });
});

describe.skipIf(hasNoBox)("a process in a box", () => {
  it("answers, and does not see the files of the machine outside of its folder", async () => {
    const outside = await temporaryFolder();
    await writeFile(join(outside, "secret.txt"), "A secret.");
    const script = JSON.stringify({ "tools/call": { read: join(outside, "secret.txt") } });
    const served = ownServer("plain.mjs", script);
    const folder = await temporaryFolder();
    const file = join(folder, "server.mjs");
    await copyFile(served.args[0] ?? "", file);
    const own = { command: "node", args: [file, script], cwd: folder, sandbox: "required" } as const;
    const { client } = await appWith({ own }, ["mcp__own__work", {}], {
      template: allowed("own"),
      overrides: { mcpTimes: { ...QUICK, connectMs: 20_000 } },
    });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: expect.stringContaining("ENOENT") });
  });
});

describe("the servers of a tenant", () => {
  it("are its own: other tenants have only the common ones", async () => {
    const server = ownServer("plain.mjs");
    const actors = [tokenActor("anna", ["user"], "acme"), tokenActor("otto", ["user"], "other")];
    const app = await startTestApp({
      config: {
        actors: actors.map(({ actor }) => actor),
        mcpServers: { common: server },
        tenants: { acme: { mcpServers: { own: server } }, other: {} },
      },
      overrides: { mcpTimes: QUICK },
    });
    const namesOf = (tenant: string) => [...app.services.of(tenant).tools.keys()].filter((name) => name.startsWith("mcp__"));
    expect(namesOf("acme")).toEqual(["mcp__common__work", "mcp__own__work"]);
    expect(namesOf("other")).toEqual(["mcp__common__work"]);
  });
});

describe("a server that is not there", () => {
  const gone = { gone: { command: "no-such-program-here" } };

  it("leaves the configuration valid: a call of any tool of it is refused with the reason, and it is tried again", async () => {
    const { client, tools, app } = await appWith(gone, ["mcp__gone__work", {}], { template: { tools: ["mcp__gone__*"] } });
    expect(await answerOf(client)).toMatchObject({
      state: "FAILED",
      error: {
        type: "DISABLED",
        message: expect.stringMatching(
          /^The tool mcp__gone__work is unavailable at present: the MCP server gone is not available: .*the command was not found.*There are no tools\.$/s,
        ),
      },
    });
    expect(tools.serverReason("gone")).toContain("the command was not found");
    // The model invents such names: no series is named so.
    expect(await metric(app.url, "triplane_tool_calls_total", { tool: "unknown", outcome: "disabled" })).toBe(1);
  });

  it("is not told to an agent that has none of its tools", async () => {
    const { client } = await appWith(gone, ["mcp__gone__work", {}], { template: { tools: [] } });
    expect(await answerOf(client)).toMatchObject({
      error: { type: "NOT_FOUND", message: 'There is no tool "mcp__gone__work". There are no tools.' },
    });
  });
});

describe("a server that is silent", () => {
  it("is named in the log when the start waits no longer, and a call of its tools is told so", async () => {
    const told: string[] = [];
    const logger: Logger = {
      ...silentLogger,
      tell: (event, message) => void (event === "mcp_server_away" && told.push(message)),
    };
    const { client } = await appWith({ slow: { command: "sleep", args: ["600"] } }, ["mcp__slow__work", {}], {
      overrides: { logger, mcpTimes: { ...QUICK, startMs: 20 } },
    });
    expect(told).toEqual(["MCP servers have not answered yet: slow"]);
    expect(await answerOf(client)).toMatchObject({
      error: { type: "DISABLED", message: expect.stringContaining("the MCP server slow has not answered yet") },
    });
  });
});

describe("a server that is away at the start of another server of Triplane", () => {
  it("has the tools that it had before, unavailable with the reason", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const first = await appWith({ own: ownServer("plain.mjs") }, ["mcp__own__work", {}], { template: allowed("own"), database });
    expect(await answerOf(first.client)).toMatchObject({ state: "COMPLETED" });
    await first.app.close();
    const second = await appWith({ own: { command: "no-such-program" } }, ["mcp__own__work", {}], {
      template: allowed("own"),
      database,
    });
    expect(await answerOf(second.client)).toMatchObject({
      state: "FAILED",
      error: {
        type: "DISABLED",
        message: expect.stringContaining("the MCP server own is not available: its process ended with 127"),
      },
    });
  });
});

describe("the tools that a silent server had before", () => {
  const database = async () => ({ kind: "postgres", url: await testDatabaseUrl(), connections: 3 }) as const;
  const silent = { command: "sleep", args: ["600"] };
  const atOnce = { mcpTimes: { ...QUICK, startMs: 20 } };

  it("are there from the start, unavailable since it has not answered yet", async () => {
    const same = await database();
    const first = await appWith({ own: ownServer("plain.mjs") }, ["mcp__own__work", {}], {
      template: allowed("own"),
      database: same,
    });
    await answerOf(first.client);
    await first.app.close();
    const { tools } = await appWith({ own: silent }, ["mcp__own__work", {}], { database: same, overrides: atOnce });
    await expect.poll(() => tools.get("mcp__own__work")?.unavailable).toBe("the MCP server own has not answered yet");
  });

  it("are known to the tenant alone that accepted them, also if the server is everybody's now", async () => {
    const tenants = ["acme", "other"];
    const actors = tenants.map((tenant) => tokenActor(`anna-${tenant}`, ["user"], tenant).actor);
    const same = await database();
    const first = await startTestApp({
      database: same,
      config: { actors, tenants: { acme: { mcpServers: { own: ownServer("plain.mjs") } }, other: {} } },
      overrides: { mcpTimes: QUICK },
    });
    const { sql, tools } = first.services.of("acme");
    for (const tool of tools.values()) await definitionChange({ sql, tools }, tool, "acme");
    await first.close();
    const second = await startTestApp({
      database: same,
      config: { actors, mcpServers: { own: silent }, tenants: { acme: {}, other: {} } },
      overrides: atOnce,
    });
    const has = (tenant: string) => second.services.of(tenant).tools.has("mcp__own__work");
    await expect.poll(() => has("acme")).toBe(true);
    expect(["other", "a tenant without settings"].filter(has)).toEqual([]);
  });

  it("are not known to tenants without settings by a tenant that the configuration has no more (invariant 12)", async () => {
    const actorOf = (tenant: string) => tokenActor(`anna-${tenant}`, ["user"], tenant).actor;
    const same = await database();
    const mcpServers = { own: ownServer("plain.mjs") };
    const first = await startTestApp({
      database: same,
      config: { actors: ["acme", "named"].map(actorOf), tenants: { acme: { mcpServers }, named: { mcpServers } } },
      overrides: { mcpTimes: QUICK },
    });
    for (const tenant of ["acme", "named"]) {
      const { sql, tools } = first.services.of(tenant);
      for (const tool of tools.values()) await definitionChange({ sql, tools }, tool, tenant);
    }
    await first.close();
    const knownBy = async (...tenants: string[]): Promise<string[]> => {
      const app = await startTestApp({
        database: same,
        config: { actors: [...tenants, "named"].map(actorOf), mcpServers: { own: silent }, tenants: { named: {} } },
        overrides: atOnce,
      });
      const has = (tenant: string) => app.services.of(tenant).tools.has("mcp__own__work");
      // Tenants with settings come last.
      await expect.poll(() => has("named")).toBe(true);
      const known = tenants.filter(has);
      await app.close();
      return known;
    };
    expect(await knownBy("other")).toEqual([]);
    expect(await knownBy("acme", "other")).toEqual([]);
    expect(await knownBy("acme")).toEqual(["acme"]);
  });
});

describe("the gate", () => {
  it("asks for a tool of a server in mode auto, unless a rule allows it", async () => {
    const { client } = await appWith({ own: ownServer("plain.mjs") }, ["mcp__own__work", {}], {
      template: { permission: { mode: "auto" } },
    });
    const { id } = await client.createAgent();
    await client.send(id, "go");
    await client.until(id, "PERMISSION_REQUIRED");
    const [pending] = (await client.agent(id)).pendingApprovals;
    expect(pending?.reason).toContain("mcp__own__work is a tool of an MCP server, and no rule allows it");
  });
});
