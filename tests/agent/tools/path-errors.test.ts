import { mkdir, symlink, writeFile } from "node:fs/promises";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../src/agent/calls/hooks.ts";
import { unopened } from "../../../src/agent/tools/fs/file-problem.ts";
import { Workspace } from "../../../src/agent/workspace/workspace.ts";
import { temporaryFolder } from "../../support/app.ts";
import { runTool } from "../../support/run-tool.ts";

const EDIT = { old_string: "a", new_string: "b" };

const INPUTS = {
  fs_read: (path: string) => ({ path }),
  fs_edit: (path: string) => ({ path, ...EDIT }),
  fs_multi_edit: (path: string) => ({ edits: [{ path, ...EDIT }] }),
  fs_write: (path: string) => ({ path, content: "a" }),
};
const TOOLS = Object.keys(INPUTS) as readonly (keyof typeof INPUTS)[];
const LONG = "x".repeat(300);

/** The message of a tool for a path, as the model reads it, without the place among several edits. */
async function messageFor(tool: keyof typeof INPUTS, path: string): Promise<string> {
  const folder = realpathSync(await temporaryFolder());
  await mkdir(join(folder, "sub"));
  await writeFile(join(folder, "file.txt"), "a");
  await symlink("loop", join(folder, "loop"));
  await symlink("gone", join(folder, "astray"));
  const error: unknown = await runTool(folder, tool, INPUTS[tool](path)).catch((thrown: unknown) => thrown);
  return failureOf(error, folder)
    .message.replace("no file was changed, since not all edits can be made:\n", "")
    .replace(`edits[0] (${path}): `, "");
}

describe("a path that leads to no file is told in one sentence, the same by each tool", () => {
  it.each([
    ["that is a folder", "sub", "sub is not a file: list folders with fs_glob"],
    ["through a file", "file.txt/a", "file.txt/a has something in its path that is no folder"],
    ["that is a link to itself", "loop", "loop has a link in its path that leads back to itself"],
    ["through a link to itself", "loop/a", "loop/a has a link in its path that leads back to itself"],
    ["with too long a name", LONG, `${LONG} has a name that is too long for the system`],
    ["that is a link to nothing", "astray", "astray is a link that leads nowhere"],
  ])("%s", async (_name, path, message) => {
    for (const tool of TOOLS) expect(await messageFor(tool, path), tool).toBe(message);
  });

  it("that does not exist: with the tools that find files and make them; fs_write makes it", async () => {
    const message = "sub/no.js does not exist: fs_glob finds files, and fs_write makes new ones";
    for (const tool of TOOLS.filter((name) => name !== "fs_write"))
      expect(await messageFor(tool, "sub/no.js"), tool).toBe(message);
    const folder = await temporaryFolder();
    expect((await runTool(folder, "fs_write", INPUTS.fs_write("sub/no.js"))).output).toBe("Wrote sub/no.js (1 line, 1 byte).");
  });

  it("that the server has no right to open", () => {
    const error = Object.assign(new Error("EACCES: permission denied, open '/w/a.txt'"), { code: "EACCES", path: "/w/a.txt" });
    expect(failureOf(unopened("a.txt", error), "/w")).toEqual({
      message: "a.txt may not be opened by the server",
      cause: { code: "EACCES", path: "a.txt" },
    });
  });

  it("and an error of another kind stays what it is", () => {
    const other = new Error("the pipe burst");
    expect(unopened("a.txt", other)).toBe(other);
  });

  it("names no place of the server's disk", async () => {
    const folder = realpathSync(await temporaryFolder());
    await writeFile(join(folder, "file.txt"), "a");
    expect(() => new Workspace(folder).resolve("file.txt/a")).toThrow(
      /^file\.txt\/a has something in its path that is no folder$/,
    );
  });
});
