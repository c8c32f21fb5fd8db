import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect, createServer, type AddressInfo } from "node:net";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { emptyDatabaseUrl, testDatabaseUrl } from "../support/database.ts";
import { hasNoBox } from "../support/box.ts";
import { freePort } from "../support/free-port.ts";
import { runBundled, runFile } from "../support/process.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { startServerProcess } from "../support/server-process.ts";

/** A configuration that holds the event loop for as long as it may. */
async function holdingConfiguration(template: object = {}): Promise<string> {
  const config = join(await temporaryFolder(), "triplane.config.ts");
  const content = {
    models: { m: { provider: "scripted", script: { replies: [{ when: {}, say: ["x"] }] } } },
    templates: { assistant: { model: "m", systemPrompt: "x", ...template } },
  };
  await writeFile(config, `export default ${JSON.stringify(content)};\nsetInterval(() => {}, 60_000);\n`);
  return config;
}

/** What a server says that does not start. */
async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
  const server = await runBundled("src/main.ts", {
    PORT: "0",
    ANTHROPIC_API_KEY: "",
    DATABASE_URL: "",
    TRIPLANE_DATA_DIR: await temporaryFolder(),
    ...env,
  });
  expect(await server.exited, server.output()).toBe(1);
  return server.output();
}

describe("--version", () => {
  it("says the version of the server and of Node, and starts nothing", async () => {
    const server = runFile("src/main.ts", ["--version"], { PORT: "eighty" });
    expect(await server.exited).toBe(0);
    expect(server.output()).toMatch(/^Triplane \d+\.\d+\.\d+( \([0-9a-f]{12}\))?, Node \d+\.\d+\.\d+\n$/);
  });
});

it("a start whose PostgreSQL is late waits for it, and says so", async () => {
  const url = new URL(await testDatabaseUrl());
  const port = await freePort();
  const late = Object.assign(new URL(url), { port });
  const server = runFile("src/main.ts", [], {
    PORT: "0",
    ANTHROPIC_API_KEY: "",
    DATABASE_URL: late.href,
    TRIPLANE_DATA_DIR: await temporaryFolder(),
  });
  await server.says(/the start waits for the PostgreSQL of DATABASE_URL, which does not answer \(.*ECONNREFUSED/);
  const forwarder = createServer((socket) => {
    const through = connect(Number(url.port), url.hostname);
    socket.pipe(through).pipe(socket);
    for (const end of [socket, through]) end.on("error", () => through.destroy());
  });
  forwarder.listen(port, "127.0.0.1");
  onTestFinished(() => void forwarder.close());
  await server.says(/the PostgreSQL of DATABASE_URL answers, after \d+ s: the start continues/);
  await server.says("is running");
  expect(server.output().match(/the start waits/g)).toHaveLength(1);
}, 30_000);

describe("a start that cannot work says what to do", () => {
  it("a PostgreSQL that does not know who connects, or what", async () => {
    for (const mistake of [(url: URL) => (url.pathname = "/no_such_database"), (url: URL) => (url.username = "nobody")]) {
      const url = new URL(await testDatabaseUrl());
      url.password = "secret";
      mistake(url);
      const output = await refusal({ DATABASE_URL: url.href });
      expect(output).toMatch(/the PostgreSQL of DATABASE_URL does not answer .*check that it runs/);
      expect(output).not.toContain("secret");
    }
  });

  it("a wrong variable, without a stack", async () => {
    const output = await refusal({ PORT: "eighty" });
    expect(output).toContain("Triplane did not start: PORT must be a number");
    expect(output).not.toContain("    at ");
  });

  it.each([
    ["with a syntax error", "export default {\n  models: {}\n  templates: {},\n};", "3:3"],
    ["that fails while it is read", "export default {\n  models: nope(),\n};", "2:11"],
  ])("a configuration %s, with the line and the column", async (_name, content, place) => {
    const config = join(await temporaryFolder(), "triplane.config.ts");
    await writeFile(config, content);
    const output = await refusal({ TRIPLANE_CONFIG: config });
    expect(output).toContain(`${config} cannot be loaded: `);
    expect(output).toContain(`(${config}:${place})`);
  });

  it("a tool that there is not, also if the configuration holds the event loop", async () => {
    const config = await holdingConfiguration({ tools: ["no_such_tool"] });
    expect(await refusal({ TRIPLANE_CONFIG: config })).toContain("no_such_tool");
  });

  it.each(["embedded", "postgres"])("a data folder that cannot be written (%s)", async (kind) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "file"), "no folder");
    const database = kind === "embedded" ? {} : { DATABASE_URL: await testDatabaseUrl() };
    const output = await refusal({ ...database, TRIPLANE_DATA_DIR: join(folder, "file", "data") });
    expect(output).toContain("Triplane did not start: the data folder");
    expect(output).toContain("set TRIPLANE_DATA_DIR to a folder that can be written");
    expect(output).not.toContain("    at ");
  });

  it("a port in use", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void taken.close());
    const url = await emptyDatabaseUrl();
    const env = { PORT: String((taken.address() as AddressInfo).port), DATABASE_URL: url };
    expect(await refusal(env)).toMatch(/port \d+ is in use: .*set PORT/);
    // Nothing was migrated for it.
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'");
    await client.end();
    expect(rows).toEqual([]);
  });

  it("in the format of the log: as a line of JSON, or as text", async () => {
    const wrong = { TRIPLANE_CONFIG: "/no/such/triplane.config.ts" };
    const lines = (await refusal({ ...wrong, LOG_FORMAT: "json" })).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: "error", event: "start_failed", msg: expect.stringMatching(/^Triplane did not start: .*no\/such/) },
    ]);
    expect(await refusal({ ...wrong, LOG_FORMAT: "text" })).toMatch(/^Triplane did not start: .*no\/such/);
  });

  it("with an argument that it does not take", async () => {
    const server = runFile("src/main.ts", ["--port", "5000"], { PORT: "0" });
    expect(await server.exited).toBe(2);
    expect(server.output()).toMatch(/^Triplane takes no argument but --version, and not --port/);
  });
});

it.each(["SIGTERM", "SIGHUP"] as const)(
  "%s to a server closes it in order, also if the configuration holds the event loop",
  async (signal) => {
    const env = { DATABASE_URL: await testDatabaseUrl(), TRIPLANE_DATA_DIR: await temporaryFolder() };
    const server = await startServerProcess({ ...env, TRIPLANE_CONFIG: await holdingConfiguration() });
    server.child.kill(signal);
    expect(await server.exited, server.output()).toBe(0);
    expect(server.output()).toContain("Closing.");
  },
);

describe("a start that works", () => {
  it("says where it listens, where the data lies, which model answers and what to try", async () => {
    const folder = await temporaryFolder();
    const server = await startServerProcess({ TRIPLANE_DATA_DIR: folder });
    await server.says("npm run demo");
    expect(server.output()).toContain(`${folder} (embedded database, one process)`);
    expect(server.output()).toContain("ANTHROPIC_API_KEY is not set: a scripted model stands in");
    expect(server.output()).toContain("the local administrator");
    expect(server.output()).toMatch(
      hasNoBox
        ? /Sandbox +engineer has presets\.askAll, without a box, since none can be made here: it asks/
        : /Sandbox +engineer has presets\.workspace, in a box: .* run without asking/,
    );
    expect(server.output()).not.toContain("they are asked about, as with presets.askAll");
  });

  it("with a key uses Claude, and never says the key", async () => {
    const server = await startServerProcess({ TRIPLANE_DATA_DIR: await embeddedFolder(), ANTHROPIC_API_KEY: "sk-secret-key" });
    await server.says("npm run demo");
    expect(server.output()).toContain("anthropic claude-");
    expect(server.output()).not.toContain("sk-secret-key");
  });
});
