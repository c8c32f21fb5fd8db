import { describe, expect, it } from "vitest";
import { mcpServersOf, type McpServerConfig, type McpServerConfigs } from "../../src/config/mcp-servers.ts";

const read = (configs: McpServerConfigs, variables: NodeJS.ProcessEnv = {}) =>
  mcpServersOf("config.ts", "/srv", configs, {}, variables);

const wayOf = (config: McpServerConfig, variables?: NodeJS.ProcessEnv) => read({ it: config }, variables).servers[0]?.server.way;

describe("the entry of an MCP server", () => {
  it.each([
    [
      "a command",
      { command: "x", args: ["a"] },
      { kind: "stdio", command: "x", args: ["a"], env: {}, cwd: "/srv", sandbox: "none" },
    ],
    ["a folder", { command: "x", cwd: "sub" }, { cwd: "/srv/sub" }],
    ["an address", { url: "https://example.com/mcp" }, { kind: "any", url: "https://example.com/mcp", headers: {} }],
    ["another product's names", { type: "sse", serverUrl: "http://a.example/sse" }, { kind: "sse", url: "http://a.example/sse" }],
    ["its name of Streamable HTTP", { type: "streamable-http", url: "http://a.example/" }, { kind: "http" }],
    ["a type of a command", { type: "stdio", command: "x" }, { kind: "stdio" }],
  ])("may be %s", (_what, config, way) => {
    expect(wayOf(config)).toMatchObject(way);
  });

  it("takes environment variables, with defaults", () => {
    const env = { A: "${TOKEN}", B: "${env:TOKEN}", C: "${NONE:-some}", D: "$TOKEN" };
    expect(wayOf({ command: "x", env }, { TOKEN: "t" })).toMatchObject({ env: { A: "t", B: "t", C: "some", D: "$TOKEN" } });
  });

  it.each([
    ["neither", {}, /mcpServers\.it has neither a command nor a url/],
    ["a misspelled field", { comand: "x" }, /it\.comand is no setting \(did you mean command\?\)$/],
    ["another field", { program: "x" }, /it has neither a command nor a url: give one of them \(no setting: program\)$/],
    [
      "an unknown type",
      { type: "websocket", url: "ws://a.example" },
      /it\.type is "websocket", which is not supported: .*http, sse/,
    ],
    ["an unknown type of an http address", { type: "ws", url: "http://a.example" }, /it\.type is "ws", which is not supported/],
    ["both", { command: "x", url: "http://a.example" }, /has a command and a url/],
    ["an address of another kind", { url: "file:///etc/passwd" }, /it\.url must be an http or https URL/],
    ["a password in the address", { url: "http://a:b@c.example" }, /must not have a name or password/],
    ["a transport that does not fit", { command: "x", transport: "http" }, /it\.transport is http, and a command speaks stdio/],
    [
      "an unset variable",
      { command: "x", env: { A: "${TOKEN}" } },
      /it\.env\.A names the environment variable TOKEN, which is not set/,
    ],
    ["a question of another product", { command: "x", args: ["${input:key}"] }, /it\.args\.0 has \$\{input:key\}/],
    ["an impossible header", { url: "http://a.example", headers: { A: "b\nc" } }, /it\.headers have a name or value/],
  ])("is refused with %s", (_what, config, problem) => {
    expect(() => read({ it: config as McpServerConfig })).toThrow(problem);
  });

  it.each(["a__b", "a_", "_a", "a b", "a".repeat(33), "a.b"])("is not named %s", (name) => {
    expect(() => read({ [name]: { command: "x" } })).toThrow(/must be named by 1 to 32/);
  });

  it.each([
    ["sandBox", "sandbox"],
    ["exclud", "exclude"],
    ["readOnlyTool", "readOnlyTools"],
    ["toolTimeoutMS", "toolTimeoutMs"],
    ["URL", "url"],
    ["arg", "args"],
    ["commnad", "command"],
    ["serverURL", "serverUrl"],
  ])("is refused with the misspelt setting %s", (field, meant) => {
    const problem = `mcpServers.it.${field} is no setting (did you mean ${meant}?)`;
    expect(() => read({ it: { command: "x", [field]: "x" } })).toThrow(problem);
  });

  it.each(["autoApprove", "alwaysAllow", "trust", "timeout", "description", "enabled", "name", "id", "tools", "icon", "note"])(
    "may have the field %s of another product, with a note",
    (field) => {
      expect(read({ it: { command: "x", [field]: "x" } }).notes).toEqual([
        expect.stringContaining(`mcpServers.it.${field} has no effect here.`),
      ]);
    },
  );

  it("has a note if its command has its arguments in it", () => {
    expect(read({ it: { command: "node x.js", args: ["--all"] } }).notes).toEqual([
      `mcpServers.it.command is the name of one program, and there is none named "node x.js": write command "node" and args ["x.js","--all"].`,
    ]);
    expect(read({ it: { command: "node", args: ["x y.js"] } }).notes).toEqual([]);
  });

  it("is not a whole block of another product", () => {
    const block = { mcpServers: { files: { command: "x" } } };
    expect(() => read(block)).toThrow(/mcpServers\.mcpServers is a whole block: write its servers directly in mcpServers/);
    expect(read({ mcpServers: { command: "x" } }).servers).toHaveLength(1);
  });

  it("is left out if it is disabled; at most 16 are processes; a tenant's is not named as a common one", () => {
    expect(read({ it: { command: "x", disabled: true } }).servers).toEqual([]);
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`s${index}`, { command: "x" }]));
    expect(() => read(many)).toThrow(/start 17 processes: at most 16/);
    const common = { it: { command: "x" } };
    expect(() => mcpServersOf("c", "/", common, { acme: { mcpServers: common } }, {})).toThrow(
      /tenants\.acme\.mcpServers\.it is named as one/,
    );
    const { servers } = mcpServersOf("c", "/", common, { acme: { mcpServers: { own: { command: "x" } } } }, {});
    expect(servers.map(({ tenant, server }) => [tenant, server.name])).toEqual([
      [null, "it"],
      ["acme", "own"],
    ]);
  });

  it.each([
    ["npx", ["-y", "server"], true],
    ["npx", ["-y", "@scope/server@latest"], true],
    ["npx", ["-y", "@scope/server@1.2.3", "/folder"], false],
    ["npx", ["--package=server", "run"], true],
    ["/usr/bin/npx", ["-p", "server@1.0.0", "run"], false],
    ["uvx", ["mcp-server-git"], true],
    ["uvx", ["--from", "mcp-server-git==1.0.0", "git"], false],
    ["pnpm", ["dlx", "server"], true],
    ["uv", ["tool", "run", "server"], true],
    ["npm", ["run", "start"], false],
    ["node", ["server.js"], false],
    ["npx", ["./local"], false],
  ])("%s %j is warned of: %s", (command, args, isWarned) => {
    expect(read({ it: { command, args } }).notes.length).toBe(isWarned ? 1 : 0);
  });
});
