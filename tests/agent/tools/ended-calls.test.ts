import { readFile, writeFile } from "node:fs/promises";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type StagedFile, Workspace } from "../../../src/agent/workspace/workspace.ts";
import { temporaryFolder } from "../../support/app.ts";
import { runTool } from "../../support/run-tool.ts";

describe("a file tool whose call has ended", () => {
  it("reads nothing, and leaves no failure behind that nobody hears", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "a.txt"), "one");
    const ended = AbortSignal.abort(new Error("the turn was interrupted"));
    await expect(runTool(folder, "fs_read", { path: "a.txt" }, { signal: ended })).rejects.toThrow("the turn was interrupted");
  });

  it.each(["a.txt", "new.txt"])("does not write %s, whose content it had staged, and leaves nothing beside it", async (path) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "a.txt"), "one");
    const call = new AbortController();
    const workspace = new (class extends Workspace {
      override async stageFile(...args: Parameters<Workspace["stageFile"]>): Promise<StagedFile> {
        const staged = await super.stageFile(...args);
        call.abort(new Error("the turn was interrupted"));
        return staged;
      }
    })(folder);
    const written = runTool(folder, "fs_write", { path, content: "late" }, { workspace, signal: call.signal });
    await expect(written).rejects.toThrow("the turn was interrupted");
    expect(readdirSync(folder)).toEqual(["a.txt"]);
    expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("one");
  });
});
