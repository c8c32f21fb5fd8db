import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Workspace, PathRefused } from "../../../src/agent/workspace/workspace.ts";
import { temporaryFolder } from "../../support/app.ts";
import { runTool } from "../../support/run-tool.ts";

/** Puts the link in the folder's place and back, as fast as the system can, until it is killed. */
const SWAPS = `
const { existsSync, renameSync, rmSync } = require("node:fs");
const [folder, link] = process.argv.slice(1);
const away = folder + ".away";
console.log("swaps");
for (;;) {
  try {
    // A tool that writes may have made the folder meanwhile.
    if (existsSync(away)) { rmSync(folder, { recursive: true, force: true }); renameSync(away, folder); }
    renameSync(folder, away); renameSync(link, folder);
    renameSync(folder, link); renameSync(away, folder);
  } catch {}
}`;

/** A workspace whose folder `docs` becomes a link to another folder and back, all the time. */
async function swapping(target: "outside" | "inside") {
  const base = await temporaryFolder();
  const root = join(base, "workspace");
  const elsewhere = target === "outside" ? join(base, "outside") : join(root, "closed");
  for (const folder of [join(root, "docs"), elsewhere]) await mkdir(folder, { recursive: true });
  await writeFile(join(root, "docs", "file.txt"), "in docs");
  await writeFile(join(elsewhere, "file.txt"), "ELSEWHERE");
  await symlink(elsewhere, join(root, "link"));
  const child = spawn(process.execPath, ["-e", SWAPS, join(root, "docs"), join(root, "link")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  await once(child.stdout, "data");
  return { root, elsewhere };
}

/** Does some work so often that a look at the wrong moment would be found, and counts what was done and what was refused. */
async function tried(times: number, work: () => Promise<unknown>): Promise<{ done: number; refused: number }> {
  let [done, refused] = [0, 0];
  for (let time = 0; time < times; time += 1) {
    try {
      await work();
      done += 1;
    } catch (error) {
      refused += 1;
      if (!(error instanceof PathRefused)) expect(error).toHaveProperty("message");
    }
  }
  return { done, refused };
}

describe("a folder that something swaps for a link while tools run (invariant 14)", () => {
  it("is never left by what opens a file for reading: 0 escapes", { timeout: 30_000 }, async () => {
    const { root } = await swapping("outside");
    const workspace = new Workspace(root);
    const seen = new Set<string>();
    const counts = await tried(4_000, async () => {
      const file = await workspace.openForReading("docs/file.txt");
      try {
        seen.add(await file.readFile("utf8"));
      } finally {
        await file.close();
      }
    });
    expect([...seen]).toEqual(["in docs"]);
    expect(counts.done).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
  });

  it("is never left by a write, an edit, a search or a list: 0 escapes", { timeout: 30_000 }, async () => {
    const { root, elsewhere } = await swapping("outside");
    const said: string[] = [];
    await tried(400, async () => {
      await runTool(root, "fs_read", { path: "docs/file.txt" });
      await runTool(root, "fs_write", { path: "docs/file.txt", content: "in docs" });
    });
    await tried(300, async () =>
      runTool(root, "fs_edit", { path: "docs/file.txt", old_string: "in docs", new_string: "in docs" }),
    );
    await tried(200, async () => runTool(root, "fs_write", { path: "docs/new.txt", content: "new" }));
    await tried(300, async () => {
      said.push((await runTool(root, "fs_grep", { pattern: "E", path: "docs/**" })).output);
    });
    expect(said.join("\n")).not.toContain("ELSEWHERE");
    expect(await readFile(join(elsewhere, "file.txt"), "utf8")).toBe("ELSEWHERE");
    expect(await readFile(join(elsewhere, "new.txt"), "utf8").catch(() => null)).toBeNull();
  });

  it("does not lead a call to a file of the workspace for which it was not judged", { timeout: 30_000 }, async () => {
    const { root, elsewhere } = await swapping("inside");
    const workspace = new Workspace(root, () => null, [], new Map([["docs/file.txt", "docs/file.txt"]]));
    const said: string[] = [];
    await tried(1_000, async () => {
      said.push((await runTool(root, "fs_read", { path: "./docs/file.txt" }, { workspace })).output);
    });
    await tried(300, async () => workspace.replaceFile("docs/file.txt", "in docs"));
    await tried(300, async () => {
      said.push((await runTool(root, "fs_grep", { pattern: "E", path: "docs/**" }, { workspace })).output);
    });
    expect(said.length).toBeGreaterThan(0);
    expect(said.join("\n")).not.toContain("ELSEWHERE");
    expect(await readFile(join(elsewhere, "file.txt"), "utf8")).toBe("ELSEWHERE");
  });
});
