import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { presets } from "../../src/triplane.ts";
import { bashApp } from "../support/bash.ts";
import { hasNoBox } from "../support/box.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { ofType } from "../support/client.ts";
import { runFile } from "../support/process.ts";
import { ownTool } from "../support/tools.ts";
import { startServerProcess } from "../support/server-process.ts";

const run = promisify(execFile);

const PROJECT = {
  "add.mjs": "export const add = (one, other) => one - other;\n",
  "README.md": "# Sums\n\nThis adds. It has a bug.\n",
  "add.test.mjs":
    'import { equal } from "node:assert/strict";\nimport { test } from "node:test";\nimport { add } from "./add.mjs";\n\ntest("adds", () => equal(add(1, 2), 3));\n',
};

/** A repository with one commit. */
async function repository(folder: string): Promise<(...args: readonly string[]) => Promise<string>> {
  const git = async (...args: readonly string[]): Promise<string> => (await run("git", args, { cwd: folder })).stdout;
  await git("init", "-q", "-b", "main");
  await git("config", "user.name", "Engineer");
  await git("config", "user.email", "engineer@example.com");
  for (const [name, content] of Object.entries(PROJECT)) await writeFile(join(folder, name), content);
  // The folder of a server's own files lies in the workspace of a test.
  await writeFile(join(folder, ".git/info/exclude"), ".data\n");
  await git("add", "-A");
  await git("commit", "-q", "-m", "A sum");
  return git;
}

describe.skipIf(hasNoBox)("an engineer with presets.workspace", () => {
  it("reads, edits two files, runs the tests in the box and commits in a real repository, without a question; the diff is what was asked for", async () => {
    const edits = [
      { path: "add.mjs", old_string: "one - other", new_string: "one + other" },
      { path: "README.md", old_string: " It has a bug.", new_string: "" },
    ];
    const { app, client, agentId } = await bashApp(
      [
        ["bash_run", { command: "git status --short && ls && node --test" }],
        ["fs_read", { path: "add.mjs" }],
        ["fs_read", { path: "README.md" }],
        ["fs_multi_edit", { edits }],
        ["bash_run", { command: "node --test && git add -A && git commit -qm 'The sum adds' && git log --oneline | wc -l" }],
      ],
      { template: { sandbox: "required", permission: presets.workspace, toolTimeoutMs: 600_000 } },
    );
    const git = await repository(app.workspace);
    const events = await client.turn(agentId, "mend the sum");
    expect(ofType(events, "PermissionRequired")).toEqual([]);
    const { toolCalls } = await client.agent(agentId);
    expect(toolCalls.nodes.map(({ name, state }) => `${name} ${state}`)).toEqual(
      ["bash_run", "fs_read", "fs_read", "fs_multi_edit", "bash_run"].map((name) => `${name} COMPLETED`),
    );
    expect(toolCalls.nodes[0]?.output).toMatch(/fail 1\n/);
    expect(toolCalls.nodes[4]?.output).toMatch(/pass 1\n[\s\S]*\n2\n\[exit code 0/);
    expect(await git("status", "--short")).toBe("");
    const diff = await git("diff", "HEAD~1", "--unified=0");
    expect(diff.split("\n").filter((line) => /^[+-][^+-]/.test(line))).toEqual([
      "-This adds. It has a bug.",
      "+This adds.",
      "-export const add = (one, other) => one - other;",
      "+export const add = (one, other) => one + other;",
    ]);
  });

  it("is asked about for what lies beyond the box: a file with secrets, and an own tool that changes something", async () => {
    const { app, client, agentId } = await bashApp(
      [
        ["fs_read", { path: "keys/.env" }],
        ["sends", {}],
      ],
      {
        template: { sandbox: "required", permission: presets.workspace },
        config: { tools: [ownTool("sends", () => ({ output: "sent", details: null }), false)] },
      },
    );
    await mkdir(join(app.workspace, "keys"));
    await writeFile(join(app.workspace, "keys/.env"), "KEY=1\n");
    await client.send(agentId, "go");
    const reasons: unknown[] = [];
    for await (const page of client.timeline({ agentId, since: "0", until: "DONE" }))
      for (const { request } of ofType(page.events, "PermissionRequired")) {
        reasons.push(request.reason);
        await client.decide({ approvalId: request.approvalId, decision: "DENY" });
      }
    expect(reasons).toEqual([expect.stringContaining("mostly holds secrets"), expect.stringContaining("mode default asks")]);
  });
});

describe("npm run demo with the project's own configuration", () => {
  it("also shows an engineer who edits a copy of the example and runs its tests", async () => {
    const server = await startServerProcess({ TRIPLANE_DATA_DIR: await embeddedFolder() });
    const demo = runFile("examples/demo/demo.ts", ["--url", server.url, "--yes"]);
    demo.child.stdin?.end();
    expect(await demo.exited, demo.output()).toBe(0);
    expect(demo.output()).toMatch(
      /\[fs_edit\] COMPLETED[\s\S]*\[bash_run\] \{"command":"node --test"\}[\s\S]*pass: 2\n\s*fail: 0/,
    );
    const questions = demo.output().match(/May \w+ run\?/g);
    expect(questions).toEqual(
      hasNoBox ? ["May todo_write run?", "May fs_edit run?", "May bash_run run?"] : ["May todo_write run?"],
    );
  }, 60_000);
});
