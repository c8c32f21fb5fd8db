import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtTerminal, runFile } from "../support/process.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { assistantScript } from "../support/assistant.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { REACH, REACHING } from "../support/hosts.ts";
import { exampleWorkspace, startServerProcess } from "../support/server-process.ts";

describe("npm run demo", () => {
  it("works through the example with --yes and --no, and its answer follows the files", async () => {
    const workspace = await exampleWorkspace();
    const server = await startTestApp({ script: await assistantScript(), config: { workspaceRoots: [workspace] } });
    const run = async (...args: string[]) => {
      const demo = runFile("examples/demo/demo.ts", ["--url", server.url, "--workspace", workspace, ...args]);
      demo.child.stdin?.end();
      return { code: await demo.exited, output: demo.output() };
    };

    const allowed = await run("--yes", "--monitor");
    expect(allowed.code, allowed.output).toBe(0);
    expect(allowed.output).toMatch(/^Watch it at http:\/\/127\.0\.0\.1:\d+\/console\/agents\/\S+$/m);
    expect(allowed.output).toMatch(/\[fs_grep\] COMPLETED in [\d.]+ ms/);
    expect(allowed.output).toContain("→ allowed");
    expect(allowed.output).toContain("The list has 3 todos");
    expect(allowed.output).toContain("STATE_CHANGED WORKING → READY");

    const denied = await run("--no");
    expect(denied.code, denied.output).toBe(0);
    expect(denied.output).toContain("I could not save the list");
    expect(denied.output).not.toContain("STATE_CHANGED");

    await rm(join(workspace, "src"), { recursive: true });
    await writeFile(join(workspace, "only.py"), "# TODO: water the plants\n");
    const changed = await run("--yes");
    expect(changed.output).toContain("The list has 1 todos:\n  1. water the plants (only.py:1)");

    const other = await run("--message", "read only.py");
    expect(other.output).toContain("water the plants");

    const unasked = await run();
    expect(unasked.code).toBe(1);
    expect(unasked.output).toContain("give --yes or --no");
  }, 60_000);

  it("asks which hosts may be reached, as it asks which calls may run", async () => {
    const server = await startTestApp({ script: REACHING, config: { tools: [REACH] } });
    const run = async (answer: string) => {
      const place = ["--workspace", server.workspace, "--message", "reach a.example:443"];
      const demo = runFile("examples/demo/demo.ts", ["--url", server.url, ...place, answer]);
      return { code: await demo.exited, output: demo.output() };
    };
    const allowed = await run("--yes");
    expect(allowed.code, allowed.output).toBe(0);
    expect(allowed.output).toContain("May a.example:443 be reached?");
    expect(allowed.output).toContain("→ allowed");
    const denied = await run("--no");
    expect(denied.code, denied.output).toBe(0);
    expect(denied.output).toContain("→ denied");
  }, 60_000);

  it("ends with a clear message if it cannot work", async () => {
    const run = async (...args: string[]) => {
      const demo = runFile("examples/demo/demo.ts", args);
      return { code: await demo.exited, output: demo.output() };
    };
    expect(await run("--url", "http://127.0.0.1:1/graphql")).toMatchObject({
      code: 1,
      output: expect.stringContaining("start one with `npm start`"),
    });
    expect(await run("--yes", "--no")).toMatchObject({ code: 1, output: expect.stringContaining("not both") });
    expect(await run("--colour")).toMatchObject({ code: 1, output: expect.stringContaining("--colour") });
    expect(await run("--help")).toMatchObject({ code: 0, output: expect.stringContaining("--workspace DIR") });
    const server = await startTestApp();
    expect(await run("--url", server.url, "--workspace", "/nowhere", "--yes")).toMatchObject({
      code: 1,
      output: expect.stringContaining("not a folder"),
    });
  }, 60_000);
});

/** The configuration of the project, with its folders where a test may use them. */
async function projectServer(): Promise<string> {
  const { url } = await startServerProcess({ DATABASE_URL: await testDatabaseUrl(), TRIPLANE_DATA_DIR: await temporaryFolder() });
  return url;
}

describe("npm run demo -- --team", () => {
  it("shows a lead with three workers, and asks in one inbox about the one that writes", async () => {
    const url = await projectServer();
    const run = async (answer: string) => {
      const demo = runFile("examples/demo/demo.ts", ["--url", url, "--team", answer]);
      return { code: await demo.exited, output: demo.output() };
    };
    const allowed = await run("--yes");
    expect(allowed.code, allowed.output).toBe(0);
    for (const task of ["look for TODOs", "read the README", "write the notes"])
      expect(allowed.output).toContain(`${task}: worker begins`);
    expect(allowed.output).toContain('The agent for "write the notes" asks:\nMay mcp__files__write_file run?');
    expect(allowed.output).toContain("The times of the harbour are shown in UTC.");
    expect(allowed.output).toMatch(/look for TODOs: \[fs_grep\] COMPLETED in [\d.]+ ms/);
    expect(allowed.output).toMatch(/read the README: \[mcp__files__read_text_file\] COMPLETED in [\d.]+ ms/);
    expect(allowed.output).toMatch(/write the notes: \[mcp__files__write_file\] COMPLETED in [\d.]+ ms/);
    expect(allowed.output).toContain("look for TODOs: done. There are 3 TODOs:\n  src/harbour.ts, line 4");
    expect(allowed.output).toContain("read the README: done. The README begins with this title: Tide table");
    expect(allowed.output).toContain("write the notes: done. The notes are written. The folder has NOTES.md README.md");
    expect(allowed.output).toContain("All three have answered.");
    expect(allowed.output.match(/asks:\nMay/g)).toHaveLength(1);
    const denied = await run("--no");
    expect(denied.code, denied.output).toBe(0);
    expect(denied.output).toContain("I could not write the notes");
  }, 60_000);

  it("lets the person at the terminal decide, and stops without one", async () => {
    const url = await projectServer();
    const demo = runAtTerminal("examples/demo/demo.ts", ["--url", url, "--team"]);
    await demo.says("Allow? [y/n]");
    demo.child.stdin?.write("y\n");
    await demo.says("write the notes: done. The notes are written.");
    expect(await demo.exited, demo.output()).toBe(0);
    const unasked = runFile("examples/demo/demo.ts", ["--url", url, "--team"]);
    unasked.child.stdin?.end();
    expect(await unasked.exited).toBe(1);
    expect(unasked.output()).toContain("give --yes or --no");
    const both = runFile("examples/demo/demo.ts", ["--url", url, "--team", "--message", "x"]);
    expect(await both.exited).toBe(1);
    expect(both.output()).toContain("give --team without");
  }, 60_000);
});
