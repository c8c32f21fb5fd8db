import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigurationError } from "../../src/config/configuration-error.ts";
import { readEnvironment, variableNotes } from "../../src/config/environment.ts";
import { loadSettings } from "../../src/config/settings.ts";
import { builtinTools } from "../../src/triplane.ts";
import { temporaryFolder } from "../support/app.ts";

/** Why the settings cannot be made of these variables. */
async function refusal(variables: Readonly<Record<string, string>>): Promise<string> {
  try {
    await loadSettings(readEnvironment(variables));
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  throw new Error("the settings were accepted");
}

async function configFile(content: string): Promise<string> {
  const path = join(await temporaryFolder(), "triplane.config.ts");
  await writeFile(path, content);
  return path;
}

describe("settings that cannot work say what to do", () => {
  it.each([
    ["PORT", { PORT: "eighty" }, /PORT must be a number from 0 to 65535/],
    ["PORT", { PORT: "70000" }, /PORT must be a number/],
    ["DATABASE_URL", { DATABASE_URL: "mysql://secret@host/db" }, /DATABASE_URL must be a URL of the form postgresql:/],
    [
      "ANTHROPIC_BASE_URL",
      { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "nowhere" },
      /ANTHROPIC_BASE_URL must be an http or https URL/,
    ],
    ["a key as OPENAI_BASE_URL", { OPENAI_BASE_URL: "sk-secret" }, /^OPENAI_BASE_URL must be an http or https URL$/],
    ["a key as ANTHROPIC_BASE_URL", { ANTHROPIC_BASE_URL: "sk-secret" }, /^ANTHROPIC_BASE_URL must be an http or https URL$/],
    ["a URL without a host", { OPENAI_BASE_URL: "http://" }, /^OPENAI_BASE_URL must be an http or https URL$/],
    ["a key as PORT", { PORT: "sk-secret" }, /^PORT must be a number from 0 to 65535$/],
    ["ANTHROPIC_API_KEY", { ANTHROPIC_API_KEY: "sk-a\n# b" }, /^ANTHROPIC_API_KEY has a line break, [^#]*: give the key alone$/],
    ["OPENAI_API_KEY", { OPENAI_API_KEY: "sk-ä" }, /^OPENAI_API_KEY has a line break, a space or another character/],
    [
      "TRIPLANE_CONFIG",
      { TRIPLANE_CONFIG: "/nowhere/config.ts" },
      /no configuration file \/nowhere\/config\.ts: set TRIPLANE_CONFIG/,
    ],
    ["HOST without actors", { HOST: "0.0.0.0" }, /nobody is configured who may connect/],
    [
      "TRIPLANE_CONFIG",
      { TRIPLANE_CONFIG: "/tmp" },
      /\/tmp is a folder: set TRIPLANE_CONFIG to the path of the configuration's file/,
    ],
  ])("%s", async (_name, env, message) => {
    const output = await refusal(env);
    expect(output).toMatch(message);
    expect(output).not.toContain("secret");
  });

  it.each([
    ["a field that does not exist", "export default { models: {}, templates: {}, modles: {} }", /has no field "modles"/],
    ["no models", "export default { templates: {} }", /must have required property 'models'/],
    [
      "a wrong type",
      'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x", maxSteps: "many" } } }',
      /templates\.t\.maxSteps must be integer/,
    ],
    [
      "an unknown model",
      'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "n", systemPrompt: "x" } } }',
      /templates\.t\.model: there is no model "n": the models are m/,
    ],
    [
      "an unknown tool",
      'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x", permission: { denyTools: ["rm"] } } } }',
      /templates\.t\.permission\.denyTools\.0: there is no tool "rm"/,
    ],
    [
      "a mode that is named as a built-in one is",
      'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, permissionModes: { auto: () => "deny" }, templates: { t: { model: "m", systemPrompt: "x", permission: { mode: "auto" } } } }',
      /permissionModes\.auto is named as a built-in mode is .*rename it/,
    ],
    [
      "an MCP server with a space in its name",
      'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x" } }, mcpServers: { "git hub": { command: "x" } } }',
      /mcpServers\.git hub must be named by 1 to 32 letters, digits and -, with single _ between them/,
    ],
    [
      "a script with a wrong field",
      'export default { models: { m: { provider: "scripted", script: { replies: [{ wehn: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x" } } }',
      /models\.m: .*replies\.0 has no field "wehn" \(did you mean when\?\): the fields are call, fail, find, say, stop, think, when/,
    ],
    [
      "a model without a key",
      'export default { models: { m: { provider: "anthropic", model: "claude" } }, templates: { t: { model: "m", systemPrompt: "x" } } }',
      /models\.m needs ANTHROPIC_API_KEY/,
    ],
    ["a syntax error", "export default {", /cannot be loaded/],
    [
      "a root that is a file",
      'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x" } }, workspaceRoots: ["triplane.config.ts"] }',
      /workspaceRoots\.0: .*triplane\.config\.ts is a file: name a folder$/,
    ],
    [
      "an empty secret, as of a variable that is not set",
      'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x" } }, webhooks: { w: { url: "https://example.org", secret: "" } } }',
      /webhooks\.w\.secret must be whsec_ and at least 24 bytes/,
    ],
    [
      "a budget of thinking that is too small",
      'export default { models: { m: { provider: "anthropic", model: "c", thinking: { budgetTokens: 100 } } }, templates: { t: { model: "m", systemPrompt: "x" } } }',
      /: models\.m\.thinking must be "adaptive" or \{ budgetTokens \} of at least 1024$/,
    ],
    [
      "one actor twice, with other roles",
      `export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x" } }, workspaceRoots: ["."], actors: [{ id: "a", tokenHash: "${"0".repeat(64)}", tenant: "t", roles: ["user"] }, { id: "a", tokenHash: "${"1".repeat(64)}", tenant: "t", roles: ["admin"] }] }`,
      /actors\.1 is a of t as another one is, and differs in more than the token/,
    ],
    ["nothing exported", "export const config = {};", /exports nothing: write `export default defineConfig/],
    [
      "a field that is spelt wrongly",
      'export default { models: { m: { provider: "scripted", script: "s" } }, templates: { t: { model: "m", systemPrompt: "x", maxStep: 5 } } }',
      /templates\.t has no field "maxStep" \(did you mean maxSteps\?\): the fields are .*maxSteps/,
    ],
    [
      "a name that cannot be one",
      'export default { models: { m: { provider: "scripted", script: "s" } }, templates: { "my counter": { model: "m", systemPrompt: "x" } } }',
      /: templates: the name "my counter" must be 1 to 64 letters, digits, _ or -$/,
    ],
    [
      "a model without a provider",
      'export default { models: { m: { model: "x" } }, templates: { t: { model: "m", systemPrompt: "x" } } }',
      /: models\.m\.provider must be one of anthropic, openai, scripted$/,
    ],
    [
      "a tool that is none",
      'export default { models: { m: { provider: "scripted", script: "s" } }, templates: { t: { model: "m", systemPrompt: "x" } }, tools: [{ name: "x" }] }',
      /: tools\.0 is no tool: make it with defineTool$/,
    ],
    [
      "a number out of its bounds",
      'export default { models: { m: { provider: "scripted", script: "s" } }, templates: { t: { model: "m", systemPrompt: "x", maxSteps: 0 } }, retention: { eventsDays: 0 } }',
      /templates\.t\.maxSteps must be at least 1, not 0\n.*: retention\.eventsDays must be a number of days, at least an hour/,
    ],
    [
      "times that no database and no timer holds",
      `const script = { pace: { characters: 1, delayMs: 1e12 }, replies: [{ when: {}, say: ["x"] }] };
       export default { models: { m: { provider: "scripted", script } }, templates: { t: { model: "m", systemPrompt: "x", approvalExpiresMs: Number.MAX_SAFE_INTEGER } }, retention: { eventsDays: 1e9 } }`,
      /templates\.t\.approvalExpiresMs must be at most 315360000000, not \d+\n.*: retention\.eventsDays must be a number of days, .* at most 36,500/,
    ],
    [
      "a pace that no timer holds",
      'export default { models: { m: { provider: "scripted", script: { pace: { characters: 1, delayMs: 1e12 }, replies: [{ when: {}, say: ["x"] }] } } }, templates: { t: { model: "m", systemPrompt: "x" } } }',
      /pace\.delayMs must be at most 3600000/,
    ],
    [
      "a token hash that is none",
      'export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x" } }, actors: [{ id: "a", tokenHash: "plain", tenant: "t", roles: ["admin"] }] }',
      /actors\.0\.tokenHash must match/,
    ],
    [
      "actors without workspace roots",
      `export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x" } }, actors: [{ id: "a", tokenHash: "${"0".repeat(64)}", tenant: "t", roles: ["admin"] }] }`,
      /workspaceRoots is required/,
    ],
  ])("a configuration with %s", async (_name, content, message) => {
    expect(await refusal({ TRIPLANE_CONFIG: await configFile(content) })).toMatch(message);
  });
});

describe("settings", () => {
  it("of an actor with two tokens are accepted, and a quorum that nobody can reach is a note", async () => {
    const actor = (hash: string) => `{ id: "a", tokenHash: "${hash.repeat(64)}", tenant: "t", roles: ["admin", "user"] }`;
    const config = await configFile(
      `export default { models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } }, templates: { t: { model: "m", systemPrompt: "x", approvalQuorum: 2 } }, workspaceRoots: ["."], actors: [${actor("0")}, ${actor("1")}] }`,
    );
    const { notes } = await loadSettings(readEnvironment({ TRIPLANE_CONFIG: config }));
    expect(notes).toEqual([expect.stringContaining("templates.t asks for 2 who allow a call, and no tenant has more than 1")]);
    for (const [HOST, warning] of [
      ["localhost", []],
      ["::1", []],
      ["0.0.0.0", [expect.stringContaining("HOST=0.0.0.0: whoever is on the network between reads tokens")]],
      ["::", [expect.stringContaining("HOST=::")]],
    ] as const)
      expect((await loadSettings(readEnvironment({ TRIPLANE_CONFIG: config, HOST }))).notes.slice(0, -1)).toEqual(warning);
  });

  it("read secrets from files that variables name, and say what is wrong with one without a word of its content", async () => {
    const folder = await temporaryFolder();
    const file = async (name: string, content: string): Promise<string> => {
      await writeFile(join(folder, name), content);
      return join(folder, name);
    };
    const files = {
      DATABASE_URL_FILE: await file("url", "postgres://u:secret@h/d\n"),
      ANTHROPIC_API_KEY_FILE: await file("key", "  sk-one\r\n"),
      OPENAI_API_KEY_FILE: await file("other", "sk-two"),
    };
    expect(readEnvironment(files)).toMatchObject({
      database: { url: "postgres://u:secret@h/d" },
      anthropic: { apiKey: "sk-one" },
      openai: { apiKey: "sk-two" },
    });
    const refusals: readonly [Record<string, string>, string][] = [
      [{ ...files, DATABASE_URL: "postgres://h/d" }, "DATABASE_URL and DATABASE_URL_FILE are both set: give one of them"],
      [{ OPENAI_API_KEY_FILE: join(folder, "none") }, `OPENAI_API_KEY_FILE: ${join(folder, "none")} cannot be read (ENOENT)`],
      [{ OPENAI_API_KEY_FILE: folder }, `OPENAI_API_KEY_FILE: ${folder} cannot be read (EISDIR)`],
      [{ OPENAI_API_KEY_FILE: await file("empty", "\n") }, `OPENAI_API_KEY_FILE: ${join(folder, "empty")} is empty`],
      [
        { OPENAI_API_KEY_FILE: await file("lines", "sk-secret\nsk-other") },
        "OPENAI_API_KEY has a line break, a space or another character that no key has: give the key alone",
      ],
    ];
    for (const [variables, message] of refusals)
      expect(() => readEnvironment(variables)).toThrow(new ConfigurationError(message));
  });

  it("name variables of ours that nobody reads", () => {
    const notes = variableNotes({ TRIPLANE_DATADIR: "x", TRIPLANE_NONSENSE: "y", TRIPLANE_CONFIG: "z", OTHER: "w" });
    expect(notes).toEqual([
      "the variable TRIPLANE_DATADIR is not known (did you mean TRIPLANE_DATA_DIR?): nothing reads it",
      "the variable TRIPLANE_NONSENSE is not known: nothing reads it",
    ]);
  });

  it("take what is absent or empty from the documented defaults", () => {
    expect(readEnvironment({ PORT: "", HOST: " " })).toMatchObject({
      port: 4000,
      host: "127.0.0.1",
      database: { kind: "embedded", folder: expect.stringMatching(/data$/) },
      anthropic: null,
    });
    expect(readEnvironment({ DATABASE_URL: "postgres://h/d" }).database).toMatchObject({
      kind: "postgres",
      url: "postgres://h/d",
    });
  });

  it("of the project's own configuration are accepted, and say that a script stands in for Claude", async () => {
    const settings = await loadSettings(readEnvironment({}));
    expect([...settings.tenants.everybody.templates.keys()]).toEqual(["assistant", "engineer", "lead", "worker"]);
    expect(settings.notes).toEqual([expect.stringContaining("ANTHROPIC_API_KEY is not set")]);
    expect([...settings.tenants.everybody.tools.keys()]).toEqual([
      "fs_read",
      "fs_write",
      "fs_edit",
      "fs_multi_edit",
      "fs_glob",
      "fs_grep",
      "bash_run",
      "bash_logs",
      "bash_kill",
      "todo_read",
      "todo_write",
      "memory",
      "read_output",
      "task_run",
      "ask_user",
    ]);
    const { assistant, worker } = Object.fromEntries(settings.tenants.everybody.templates);
    expect([...builtinTools, "memory", "task_run", "ask_user"]).toEqual([...settings.tenants.everybody.tools.keys()]);
    expect(assistant?.tools).toEqual(builtinTools);
    expect(worker?.tools).toEqual([...builtinTools, "mcp__files__*"]);
  });
});
