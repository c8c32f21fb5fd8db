import { access, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ScriptCall } from "../../src/agent/models/script.ts";
import type { PermissionSource } from "../../src/agent/policy/permission-source.ts";
import { defineTool } from "../../src/agent/tools/tool.ts";
import type { Json } from "../../src/lib/json.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";

/** An own tool that declares its paths, and one that does not. */
const show = defineTool<{ files: string[] }>({
  name: "show",
  description: "Shows files.",
  readOnly: true,
  paths: { files: "read" },
  inputSchema: { type: "object", required: ["files"], properties: { files: { type: "array", items: { type: "string" } } } },
  run: async ({ files }, { workspace }) => ({
    output: (await Promise.all(files.map((file) => content(workspace, file)))).join("\n"),
    details: null,
  }),
});
const peek = defineTool<{ name: string }>({
  name: "peek",
  description: "Shows a file, without saying that its parameter is a path.",
  readOnly: true,
  inputSchema: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
  run: async ({ name }, { workspace }) => ({ output: await content(workspace, name), details: null }),
});

async function content(
  workspace: { openForReading(path: string): Promise<{ readFile(encoding: "utf8"): Promise<string>; close(): Promise<void> }> },
  path: string,
) {
  const file = await workspace.openForReading(path);
  try {
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

const RULES: PermissionSource = {
  mode: "auto",
  deny: ["fs_read(path:/.private)", "fs_*(path:secrets)", "fs_write(path:locked.txt)", "todo_*"],
};

/** A call that tries to reach something, and how it is seen that it did. */
type Attempt = ScriptCall & { readonly sees?: RegExp; readonly writes?: string };

const read = (path: string, more: Record<string, Json> = {}): Attempt => ({
  tool: "fs_read",
  input: { path, ...more },
  sees: /TOP SECRET/,
});
const grep = (input: Record<string, Json>): Attempt => ({
  tool: "fs_grep",
  input: { pattern: "TOP SECRET", ...input },
  sees: /: .*TOP SECRET/,
});
const glob = (input: Record<string, Json>, sees: RegExp): Attempt => ({ tool: "fs_glob", input, sees });
const write = (path: string, writes: string): Attempt => ({
  tool: "fs_write",
  input: { path, content: "written by the agent" },
  writes,
});

/** An edit that gives a file the text that `write` gives it; one of several also edits a file that is open to all. */
const edit = (tool: "fs_edit" | "fs_multi_edit", of: { path: string; old_string: string }, writes: string): Attempt => {
  const closed = { ...of, new_string: "written by the agent", replace_all: true };
  const open = { path: "docs/readme.md", old_string: "Welcome", new_string: "Welcome, all" };
  return {
    tool,
    input: tool === "fs_edit" ? closed : { edits: [{ ...open, new_string: `${open.new_string} ${writes}` }, closed] },
    writes,
  };
};

const ATTEMPTS: readonly Attempt[] = [
  ...[
    ".private",
    "./.private",
    ".//.private",
    "config/../.private",
    "config/./../.private",
    "docs/../config/../.private",
    "link.txt",
    "./link.txt",
    "config/../link.txt",
  ].map((path) => read(path)),
  ...["chain.txt", "here/.private", "here/here/.private", "here/link.txt", "config/up/.private"].map((path) => read(path)),
  ...[{ limit: 1 }, { offset: 1 }, { offset: 1, limit: 1 }].map((more) => read(".private", more)),
  ...[
    "secrets/key.txt",
    "./secrets/key.txt",
    "linked/key.txt",
    "linked/../secrets/key.txt",
    "secrets/deep/note.txt",
    "linked/deep/note.txt",
    "here/secrets/key.txt",
    "config/secrets/own.txt",
  ].map((path) => read(path)),
  ...[".private", ".*", ".pr?vate", ".[p]rivate", "{.private,docs/*}", "**/.private"].map((path) => grep({ path })),
  ...[
    "secrets/key.txt",
    "secrets/*.txt",
    "secrets/**",
    "s*/**",
    "{secrets,docs}/**",
    "**/key.txt",
    "secrets/deep/*",
    "[s]ecrets/*",
    "**/*",
  ].map((path) => grep({ path })),
  grep({}),
  grep({ pattern: "top secret", case_sensitive: false }),
  grep({ pattern: "TOP.SECRET", regex: true }),
  grep({ path: "secrets/**", max_results: 1 }),
  glob({ pattern: ".private" }, /\.private/),
  glob({ pattern: "*", dot: true }, /\.private/),
  glob({ pattern: ".p*" }, /\.private/),
  glob({ pattern: "l*.txt" }, /^link\.txt$/m),
  glob({ pattern: "chain*" }, /chain\.txt/),
  glob({ pattern: "**/*" }, /secrets\/key\.txt/),
  glob({ pattern: "secrets/*" }, /key\.txt/),
  glob({ pattern: "*", cwd: "secrets" }, /key\.txt/),
  glob({ pattern: "*", cwd: "./secrets" }, /key\.txt/),
  glob({ pattern: "*", cwd: "linked" }, /key\.txt/),
  glob({ pattern: "*", cwd: "config/../secrets" }, /key\.txt/),
  glob({ pattern: "*", cwd: "secrets/deep" }, /note\.txt/),
  glob({ pattern: "secrets/**", cwd: "here" }, /key\.txt/),
  write("secrets/new.txt", "secrets/new.txt"),
  write("linked/newer.txt", "secrets/newer.txt"),
  write("secrets/made/newest.txt", "secrets/made/newest.txt"),
  write("locked.txt", "locked.txt"),
  write("./locked.txt", "locked.txt"),
  write("docs/../locked.txt", "locked.txt"),
  write("locked-link.txt", "locked.txt"),
  { tool: "show", input: { files: [".private"] }, sees: /TOP SECRET/ },
  { tool: "show", input: { files: ["docs/readme.md", "link.txt"] }, sees: /TOP SECRET/ },
  { tool: "show", input: { files: ["linked/key.txt"] }, sees: /TOP SECRET/ },
  { tool: "peek", input: { name: ".private" }, sees: /TOP SECRET/ },
  { tool: "peek", input: { name: "chain.txt" }, sees: /TOP SECRET/ },
  { tool: "peek", input: { name: "linked/deep/note.txt" }, sees: /TOP SECRET/ },
  { tool: "todo_write", input: { todos: [] }, sees: /list/ },
  { tool: "todo_read", input: {}, sees: /list|No/ },
  edit("fs_edit", { path: "linked/key.txt", old_string: "TOP SECRET key" }, "secrets/key.txt"),
  edit("fs_multi_edit", { path: "here/secrets/deep/note.txt", old_string: "TOP SECRET note" }, "secrets/deep/note.txt"),
  // Last, since it is also what others read.
  write("link.txt", ".private"),
  write(".private", ".private"),
];

/** What is not closed by RULES goes on working beside them. */
const HARMLESS: readonly Attempt[] = [
  { tool: "fs_read", input: { path: "locked.txt" }, sees: /may be read/ },
  { tool: "fs_read", input: { path: "config/.private" }, sees: /another file/ },
  { tool: "fs_read", input: { path: "docs/readme.md" }, sees: /Welcome/ },
  { tool: "fs_grep", input: { pattern: "Welcome" }, sees: /docs\/readme\.md:1/ },
  { tool: "fs_glob", input: { pattern: "**/*.md" }, sees: /docs\/readme\.md/ },
  { tool: "show", input: { files: ["docs/readme.md"] }, sees: /Welcome/ },
  { tool: "fs_write", input: { path: "docs/new.md", content: "written by the agent" }, writes: "docs/new.md" },
];

async function fill(workspace: string): Promise<void> {
  for (const folder of ["config/secrets", "docs", "secrets/deep"]) await mkdir(join(workspace, folder), { recursive: true });
  const files = {
    ".private": "TOP SECRET of the root",
    "config/.private": "another file",
    "config/secrets/own.txt": "TOP SECRET of config",
    "docs/readme.md": "Welcome",
    "locked.txt": "may be read",
    "secrets/key.txt": "TOP SECRET key",
    "secrets/deep/note.txt": "TOP SECRET note",
  };
  for (const [path, text] of Object.entries(files)) await writeFile(join(workspace, path), text);
  const links = {
    "link.txt": ".private",
    "chain.txt": "link.txt",
    linked: "secrets",
    here: ".",
    "config/up": "..",
    "locked-link.txt": "locked.txt",
  };
  for (const [path, target] of Object.entries(links)) await symlink(target, join(workspace, path));
}

/** The reads before the attempts: an agent writes no file that it has not read. */
const READ_FIRST: readonly Attempt[] = ["docs/readme.md", "locked.txt", "secrets/key.txt", ".private"].map((path) => read(path));

/** Lets an agent make all attempts in one turn, and says which of them reached what they tried to reach. */
async function attempt(attempts: readonly Attempt[], permission: PermissionSource) {
  const calls = [...READ_FIRST, ...attempts].map(({ tool, input = {} }) => ({ tool, input }));
  const script = {
    replies: [
      { when: { user: "go" }, call: calls },
      { when: {}, say: ["Done."] },
    ],
  };
  const app = await startTestApp({ script, template: { permission }, config: { tools: [show, peek] } });
  await fill(app.workspace);
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.turn(agent.id, "go");
  return { app, client, agent, reached: await reached(app, client, agent.id, attempts) };
}

async function reached(app: TestApp, client: TestClient, agentId: string, attempts: readonly Attempt[]): Promise<string[]> {
  const { toolCalls } = await client.agent(agentId);
  const calls = toolCalls.nodes.slice(READ_FIRST.length);
  expect(calls).toHaveLength(attempts.length);
  const found: string[] = [];
  for (const [index, { tool, input, sees, writes }] of attempts.entries()) {
    const output = calls[index]?.output ?? "";
    const isWritten = writes !== undefined && (await textOf(join(app.workspace, writes))) === "written by the agent";
    const isDone = calls[index]?.state === "COMPLETED";
    if ((sees !== undefined && isDone && sees.test(output)) || (isWritten && isDone))
      found.push(`${tool} ${JSON.stringify(input)}`);
  }
  return found;
}

async function textOf(path: string): Promise<string | null> {
  return access(path).then(
    () => readFile(path, "utf8"),
    () => null,
  );
}

describe("a denied file is denied however it is reached", () => {
  it(`${ATTEMPTS.length} attempts fail with the rules, and each of them succeeds without`, async () => {
    expect(ATTEMPTS.length).toBeGreaterThanOrEqual(60);
    const names = ATTEMPTS.map(({ tool, input }) => `${tool} ${JSON.stringify(input)}`);
    expect((await attempt(ATTEMPTS, { mode: "auto" })).reached).toEqual(names);
    const denied = await attempt(ATTEMPTS, RULES);
    expect(denied.reached).toEqual([]);
    expect(await readFile(join(denied.app.workspace, ".private"), "utf8")).toBe("TOP SECRET of the root");
  });

  it("what the rules do not speak of goes on working", async () => {
    expect((await attempt(HARMLESS, RULES)).reached).toHaveLength(HARMLESS.length);
  });
});
