import { createHash } from "node:crypto";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTool, type Tool } from "../../../src/agent/tools/tool.ts";
import type { ToolPreview } from "../../../src/agent/tools/tool-result.ts";
import type { TemplateConfig } from "../../../src/triplane.ts";
import { stateOf } from "../../../src/agent/workspace/known-files.ts";
import { visibleLines } from "../../../src/lib/escape-hidden.ts";
import { calls, callsWith, playedModel, says } from "../../support/models.ts";
import { ACTORS, approvalOf, ask, office } from "../../support/office.ts";

const FILES = { "a.txt": "one\ntwo\nthree\n", "locked/.env": "TOKEN=secret\n", "image.png": "\0\0", "locked/b.txt": "locked\n" };

/** The preview of a call as an approver sees it, in a workspace with FILES that nothing has changed. */
async function previewOf(tool: string, input: object, template: Partial<TemplateConfig> = {}, tools: readonly Tool[] = []) {
  const model = playedModel(
    () => calls("looks"),
    () => callsWith([tool, input]),
    () => says("Done."),
  );
  const { app, as } = await office(template, { model, config: { ...ACTORS, tools: [looks, ...tools] } });
  await mkdir(join(app.workspace, "locked"));
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(app.workspace, name), content);
  await symlink("a.txt", join(app.workspace, "link.txt"));
  const { approvalId } = await ask(as("anna"));
  for (const [name, content] of Object.entries(FILES)) expect(await readFile(join(app.workspace, name), "utf8")).toBe(content);
  return (await approvalOf(as("vera"), approvalId)).preview;
}

/** Lets the agent know the files whose contents may be shown. */
const looks = defineTool<Record<string, never>>({
  name: "looks",
  description: "Reads files.",
  readOnly: true,
  inputSchema: { type: "object", required: [], properties: {} },
  run: async (_input, { workspace, files }) => {
    for (const name of ["a.txt", "image.png"]) {
      await using file = await workspace.openForReading(name);
      const content = await file.readFile();
      const digest = createHash("sha256").update(content).digest("hex");
      files.read({ name, state: await stateOf(file), digest, content }, true);
    }
    return { output: "read", details: null };
  },
});

const edit = (path: string, old_string: string, new_string: string) => ({ path, old_string, new_string });

const DIFF = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";

/** An own tool whose preview is what the test says. */
const previewing = (preview: () => Promise<ToolPreview> | ToolPreview): Tool =>
  defineTool<Record<string, never>>({
    name: "own",
    description: "Changes something.",
    readOnly: false,
    inputSchema: { type: "object", required: [], properties: {} },
    preview,
    run: () => ({ output: "done", details: null }),
  });

describe("what a call would change", () => {
  it.each([
    ["fs_edit", edit("a.txt", "two", "2"), [{ path: "a.txt", diff: DIFF }]],
    ["fs_edit", edit("link.txt", "two", "2"), [{ path: "a.txt", diff: DIFF }]],
    ["fs_multi_edit", { edits: [edit("a.txt", "two", "x"), edit("a.txt", "x", "2")] }, [{ path: "a.txt", diff: DIFF }]],
    ["fs_write", { path: "a.txt", content: "one\n2\nthree\n" }, [{ path: "a.txt", diff: DIFF }]],
    [
      "fs_write",
      { path: "new/a.txt", content: "one\n" },
      [{ path: "new/a.txt", diff: "--- /dev/null\n+++ b/new/a.txt\n@@ -0,0 +1,1 @@\n+one\n" }],
    ],
    ["fs_write", { path: "image.png", content: "one\n" }, [{ path: "image.png", diff: null }]],
  ])("is shown to those who decide as a diff, before anything is changed: %s %j", async (tool, input, files) => {
    expect(await previewOf(tool, input)).toEqual({ files, problem: null });
  });

  it.each([
    ["fs_edit", edit("locked/b.txt", "four", "4"), "locked/b.txt exists, and you have not read it"],
    ["fs_edit", edit("gone.txt", "four", "4"), "gone.txt does not exist"],
    [
      "fs_multi_edit",
      { edits: [edit("gone.txt", "two", "2"), edit("image.png", "a", "b")] },
      "edits[1] (image.png): image.png is not a text file",
    ],
  ])("is told with the reason if it cannot be made, and the agent may not know why: %s %j", async (tool, input, problem) => {
    const asking = { permission: { mode: "approval", allow: ["looks"] } } as const;
    expect(await previewOf(tool, input, asking)).toEqual({ files: [], problem: expect.stringContaining(problem) });
  });

  it("never shows a file with secrets, nor one that may not be read by the time it is opened", async () => {
    for (const input of [edit("locked/.env", "TOKEN", "KEY"), edit("locked/.env", "TOKENS", "KEY")]) {
      const preview = await previewOf("fs_edit", input);
      expect(preview).toEqual({ files: [], problem: "a file that mostly holds secrets is not shown" });
    }
    const reaching = defineTool<{ name: string }>({
      name: "reaching",
      description: "Shows a file, without saying that its parameter is a path.",
      readOnly: false,
      inputSchema: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
      preview: async ({ name }, { workspace }) => {
        const file = await workspace.openForReading(name);
        await using _closed = { [Symbol.asyncDispose]: () => file.close() };
        return { files: [{ path: name, diff: await file.readFile("utf8") }] };
      },
      run: () => ({ output: "done", details: null }),
    });
    const denying = { permission: { mode: "approval", allow: ["looks"], deny: ["fs_read(path:locked)"] } } as const;
    const denied = await previewOf("reaching", { name: "locked/b.txt" }, denying, [reaching]);
    expect(denied).toEqual({
      files: [],
      problem: expect.stringContaining("locked/b.txt is not permitted: the rule fs_read(path:locked)"),
    });
  });

  it("of own tools is bounded in bytes and time, and whatever they answer or throw is said", async () => {
    const own = (preview: () => Promise<ToolPreview> | ToolPreview) => previewOf("own", {}, {}, [previewing(preview)]);
    const large = "+x\n".repeat(40_000);
    expect(
      await own(() => ({
        files: [
          { path: "a", diff: large },
          { path: "b", diff: large },
          { path: "c", diff: "+c\n" },
        ],
      })),
    ).toEqual({
      files: [
        { path: "a", diff: large },
        { path: "b", diff: null },
        { path: "c", diff: "+c\n" },
      ],
      problem: null,
    });
    const many = Array.from({ length: 101 }, (_, index) => ({ path: String(index), diff: null }));
    expect(await own(() => ({ files: many }))).toMatchObject({
      files: { length: 100 },
      problem: "only the first 100 files are shown",
    });
    expect(await own(() => "nothing" as unknown as ToolPreview)).toEqual({
      files: [],
      problem: "the tool's preview names no files",
    });
    expect(await own(() => Promise.reject(new Error("not today")))).toEqual({ files: [], problem: "not today" });
    expect(await own(() => new Promise(() => {}))).toEqual({
      files: [],
      problem: expect.stringContaining("aborted due to timeout"),
    });
  });

  it("is null for tools that cannot say it", async () => {
    expect(await previewOf("todo_write", { todos: [] })).toBeNull();
  });

  it("hides nothing from those who read it, and keeps how code is laid out", async () => {
    const content = "\tif (a)\n        b\u202e\r\n";
    const preview = await previewOf("fs_write", { path: "c.txt", content });
    expect(preview?.files[0]?.diff).toContain("+\tif (a)\n+        b\\u202e\\u000d\n");
    expect(visibleLines(`-${" ".repeat(50)}x    y`)).toBe(`-${" ".repeat(39)}${"\\u0020".repeat(11)}x${"\\u0020".repeat(4)}y`);
  });
});
