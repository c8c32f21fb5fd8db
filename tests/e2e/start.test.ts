import { createServer, type AddressInfo } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { runFile } from "../support/process.ts";
import { startServerProcess } from "../support/server-process.ts";

/** What a server says that does not start. */
async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
  const server = runFile("src/main.ts", [], { PORT: "0", ANTHROPIC_API_KEY: "", DATABASE_URL: "", TRIPLANE_DATA_DIR: await temporaryFolder(), ...env });
  expect(await server.exited, server.output()).toBe(1);
  return server.output();
}

async function configFile(content: string): Promise<string> {
  const path = join(await temporaryFolder(), "triplane.config.ts");
  await writeFile(path, content);
  return path;
}

describe("a start that cannot work says what to do", () => {
  it.each([
    ["PORT", { PORT: "eighty" }, /PORT must be a number from 0 to 65535/],
    ["PORT", { PORT: "70000" }, /PORT must be a number/],
    ["DATABASE_URL", { DATABASE_URL: "mysql://secret@host/db" }, /DATABASE_URL must be a URL of the form postgresql:/],
    ["ANTHROPIC_BASE_URL", { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "nowhere" }, /ANTHROPIC_BASE_URL must be an http or https URL/],
    ["TRIPLANE_CONFIG", { TRIPLANE_CONFIG: "/nowhere/config.ts" }, /no configuration file \/nowhere\/config\.ts: set TRIPLANE_CONFIG/],
    ["HOST without actors", { HOST: "0.0.0.0" }, /nobody is configured who may connect/],
  ])("%s", async (_name, env, message) => {
    const output = await refusal(env);
    expect(output).toMatch(message);
    expect(output).not.toContain("secret");
    expect(output).not.toContain("    at ");
  });

  it("a PostgreSQL that is gone", async () => {
    const output = await refusal({ DATABASE_URL: "postgresql://user:secret@127.0.0.1:1/db" });
    expect(output).toMatch(/the PostgreSQL of DATABASE_URL does not answer .*check that it runs/);
    expect(output).not.toContain("secret");
  });

  it("a port in use", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void taken.close());
    expect(await refusal({ PORT: String((taken.address() as AddressInfo).port) })).toMatch(/port \d+ is in use: .*set PORT/);
  });

  it.each([
    ["a field that does not exist", "export default { models: {}, templates: {}, modles: {} }", /has no field "modles"/],
    ["no models", "export default { templates: {} }", /must have required property 'models'/],
    ["a wrong type", 'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x", maxSteps: "many" } } }', /templates\.t\.maxSteps must be integer/],
    ["an unknown model", 'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "n", systemPrompt: "x" } } }', /templates\.t\.model: there is no model "n": the models are m/],
    ["an unknown tool", 'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x", permission: { denyTools: ["rm"] } } } }', /templates\.t\.permission\.denyTools\.0: there is no tool "rm"/],
    ["a script with a wrong field", 'export default { models: { m: { provider: "scripted", script: { replies: [{ wehn: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x" } } }', /models\.m.*replies\/0/],
    ["a model without a key", 'export default { models: { m: { provider: "anthropic", model: "claude" } }, templates: { t: { model: "m", systemPrompt: "x" } } }', /models\.m needs ANTHROPIC_API_KEY/],
    ["a syntax error", "export default {", /cannot be loaded/],
    ["a token hash that is none", 'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x" } }, actors: [{ id: "a", tokenHash: "plain", tenant: "t", roles: ["admin"] }] }', /actors\.0\.tokenHash must match/],
    ["actors without workspace roots", `export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x" } }, actors: [{ id: "a", tokenHash: "${"0".repeat(64)}", tenant: "t", roles: ["admin"] }] }`, /workspaceRoots is required/],
  ])("a configuration with %s", async (_name, content, message) => {
    expect(await refusal({ TRIPLANE_CONFIG: await configFile(content) })).toMatch(message);
  });
});

describe("a start that works", () => {
  it("says where it listens, where the data lies, which model answers and what to try", async () => {
    const folder = await temporaryFolder();
    const server = await startServerProcess({ TRIPLANE_DATA_DIR: folder });
    await server.says("npm run demo");
    expect(server.output()).toContain(`${folder} (embedded database, one process)`);
    expect(server.output()).toContain("ANTHROPIC_API_KEY is not set: a scripted model stands in");
    expect(server.output()).toContain("the local administrator");
  });

  it("with a key uses Claude, and never says the key", async () => {
    const server = await startServerProcess({ TRIPLANE_DATA_DIR: await temporaryFolder(), ANTHROPIC_API_KEY: "sk-secret-key" });
    await server.says("npm run demo");
    expect(server.output()).toContain("anthropic claude-");
    expect(server.output()).not.toContain("sk-secret-key");
  });
});
