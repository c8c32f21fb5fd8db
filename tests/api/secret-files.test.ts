import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { agentWorkspace } from "../../src/agent/policy/agent-policy.ts";
import { isSecretPath } from "../../src/agent/workspace/secret-files.ts";
import { Workspace } from "../../src/agent/workspace/workspace.ts";
import { CreateAgentDocument } from "../generated/documents.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";

type Permission = NonNullable<NonNullable<TestAppOptions["template"]>["permission"]>;

/** Runs one call in a workspace with files that hold secrets, and gives what became of it. */
async function outcomeOf(tool: string, input: object, permission: Permission) {
  const app = await startTestApp({
    script: {
      replies: [
        { when: { result: tool }, say: ["done"] },
        { when: {}, call: [{ tool, input: input as never }] },
      ],
    },
    template: { permission },
  });
  for (const folder of ["app", "keys", ".git/modules/a"]) await mkdir(join(app.workspace, folder), { recursive: true });
  for (const file of ["app/.env", "keys/server.pem", "notes.txt", ".git/config", ".git/modules/a/config"])
    await writeFile(join(app.workspace, file), "TOKEN=1\n");
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "go");
  const pages = client.timeline({ agentId: agent.id, since: "0" });
  for await (const { events } of pages) {
    const asked = ofType(events, "PermissionRequired")[0];
    if (asked !== undefined) return { state: "ASKED", output: asked.request.reason };
    const ended = ofType(events, "ToolEnd")[0];
    if (ended !== undefined) return { state: ended.call.state, output: ended.call.output ?? "" };
  }
  throw new Error("the stream ended");
}

describe("files with secrets", () => {
  it.each([
    ["mode auto asks", { mode: "auto" }, "ASKED"],
    ["a rule for the tool does not allow them", { mode: "approval", allow: ["fs_read"] }, "ASKED"],
    ["autoAllowTools does not either", { mode: "approval", autoAllowTools: ["fs_read"] }, "ASKED"],
    ["a rule that names the path does", { mode: "approval", allow: ["fs_read(path:app/.env)"] }, "COMPLETED"],
    ["mode deny denies", { mode: "deny" }, "DENIED"],
    ["a deny rule denies", { mode: "auto", deny: ["fs_read(path:app/.env)"] }, "DENIED"],
  ] as const)("%s", async (_name, permission, state) => {
    expect((await outcomeOf("fs_read", { path: "app/.env" }, permission as Permission)).state).toBe(state);
  });

  it("searches leave them out, and say so", async () => {
    const grep = await outcomeOf("fs_grep", { pattern: "TOKEN" }, { mode: "auto" });
    expect(grep.output).toContain("notes.txt:1");
    expect(grep.output).not.toContain("server.pem");
    expect(grep.output).toContain("left out");
    const glob = await outcomeOf("fs_glob", { pattern: "**/*", dot: true }, { mode: "auto" });
    expect(glob.output).not.toMatch(/\.env|server\.pem/);
    expect(glob.output).toContain("left out: 2 files or folders that mostly hold secrets");
    expect((await outcomeOf("fs_grep", { pattern: "TOKEN", path: "app/.env" }, { mode: "auto" })).state).toBe("ASKED");
  });

  it("are known by their names", () => {
    for (const path of [
      ".env",
      "a/.env.local",
      "x.pem",
      "b/c.KEY",
      "id_rsa",
      "id_ed25519.pub",
      ".npmrc",
      ".netrc",
      ".aws/config",
      "credentials.json",
    ])
      expect(isSecretPath(path), path).toBe(true);
    for (const path of [".env.example", "environment.ts", "monkey", "keys.md", "id_card.txt", "src/credential.ts"])
      expect(isSecretPath(path), path).toBe(false);
  });
});

describe("what is the server's own", () => {
  it("is closed to tools wherever it lies, but for a workspace of an agent's own below it", async () => {
    const root = fileURLToPath(new URL("../..", import.meta.url));
    const app = await startTestApp({ config: { defaultWorkspace: undefined as never } });
    const { closedFolders, ownWorkspaces } = app.services;
    const whole = new Workspace(root.replace(/\/$/, ""), () => null, closedFolders);
    for (const path of ["src/app.ts", "package.json", ".env", "prisma/schema.prisma"])
      expect(() => whole.resolve(path), path).toThrow(/server's own/);
    expect(whole.resolve("examples/workspace")).toContain("examples");
    const client = connect(app.url);
    const agent = await client.createAgent();
    const { data } = await client.post<{ agent: { workspace: string } }>({ query: `{ agent(id: "${agent.id}") { workspace } }` });
    expect(data?.agent.workspace.startsWith(ownWorkspaces)).toBe(true);
    await client.turn(agent.id, "hi");
  });
});

describe("the server's own folders", () => {
  it("are no workspaces, even if a root contains them", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    for (const path of [".data", ".data/outputs", ".data/workspaces", ".data/workspaces/other"]) {
      await mkdir(join(app.workspace, path), { recursive: true });
      const input = { templateId: "assistant", workspace: join(app.workspace, path) };
      expect((await client.get(CreateAgentDocument, { input })).createAgent.userErrors).toMatchObject([
        { code: "INVALID", field: ["workspace"], message: expect.stringContaining("is the server's own") },
      ]);
    }
  });

  it("stay closed to an agent that has one of before; an agent's own folder below the data is open", () => {
    const places = { closedFolders: ["/data", "/data/outputs", "/app/src"], ownWorkspaces: "/data/workspaces" };
    const isClosed = (root: string): boolean => agentWorkspace(places, root).isClosed(root);
    expect(isClosed("/data/outputs")).toBe(true);
    expect(isClosed("/data")).toBe(true);
    expect(isClosed("/data/workspaces/one")).toBe(false);
    expect(isClosed("/app/src/examples")).toBe(false);
    expect(isClosed("/elsewhere")).toBe(false);
  });

  it("lets no search come upon the configuration of a repository, by whatever pattern", async () => {
    for (const path of [
      ".git/*",
      ".git/**",
      ".git/conf*",
      ".git/{config,x}",
      "**/.git/config",
      ".git/con[f]ig",
      ".git/modules/*/config",
    ])
      expect((await outcomeOf("fs_grep", { pattern: "TOKEN", path }, { mode: "auto" })).output, path).not.toContain("TOKEN=1");
  });
});
