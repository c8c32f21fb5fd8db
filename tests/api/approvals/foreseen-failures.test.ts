import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TemplateConfig, TriplaneConfig } from "../../../src/triplane.ts";
import type { ModelEvent } from "../../../src/agent/models/model.ts";
import { callsWith, playedModel, says } from "../../support/models.ts";
import { ACTORS, approvalOf, office } from "../../support/office.ts";
import { ofType } from "../../support/client.ts";

type Made = readonly [name: string, input: object];

const read = (path: string): Made => ["fs_read", { path }];
const write = (path: string, content: string): Made => ["fs_write", { path, content }];
const edit = (path: string, old_string: string, new_string: string): Made => ["fs_edit", { path, old_string, new_string }];

const bash = (command: string, cwd: string): Made => ["bash_run", { command, cwd }];

const TEXT = "one\ntwo\ntwo\n";

/** A server whose model makes the calls of one list in each step. The workspace has `a.txt` with TEXT. */
async function serverWith(
  steps: readonly (readonly Made[])[],
  template: Partial<TemplateConfig> = {},
  config: Partial<TriplaneConfig> = {},
) {
  const players = steps.map((made) => (): AsyncIterable<ModelEvent> => callsWith(...made));
  const { app, as } = await office(template, {
    model: playedModel(...players, () => says("Done.")),
    config: { ...ACTORS, ...config },
  });
  await writeFile(join(app.workspace, "a.txt"), TEXT);
  const anna = as("anna");
  const agent = (await anna.createAgent()).id;
  const calls = async () => (await anna.agent(agent)).toolCalls.nodes;
  return { app, as, anna, agent, calls };
}

/** The calls of a turn about which nobody is asked. */
async function unasked(steps: readonly (readonly Made[])[], template: Partial<TemplateConfig> = {}) {
  const { anna, agent, calls } = await serverWith(steps, template);
  const events = await anna.turn(agent, "go");
  expect(ofType(events, "PermissionRequired")).toEqual([]);
  return { events, calls: await calls() };
}

/** Sends a message, and gives the first question that follows. */
async function question({ anna, as, agent }: Awaited<ReturnType<typeof serverWith>>, since = "0") {
  if (since === "0") await anna.send(agent, "go");
  const events = await anna.until(agent, "PERMISSION_REQUIRED", since);
  const [asked] = ofType(events, "PermissionRequired");
  if (asked === undefined) throw new Error("nobody was asked");
  return { ...asked, ...(await approvalOf(as("paul"), asked.request.approvalId)) };
}

describe("a call that cannot go well", () => {
  it.each([
    ["a file that was not read", [[edit("a.txt", "one", "1")]], "a.txt exists, and you have not read it: read it first"],
    ["a file that was not read, as a whole", [[write("a.txt", "1")]], "a.txt exists, and you have not read it: read it first"],
    ["a file that is not there", [[edit("b.txt", "one", "1")]], "b.txt does not exist"],
    ["a text that does not occur", [[read("a.txt")], [edit("a.txt", "three", "3")]], "a.txt: old_string does not occur"],
    ["a text that occurs twice", [[read("a.txt")], [edit("a.txt", "two", "2")]], "old_string occurs 2 times, in lines 2, 3"],
    [
      "one of several edits",
      [[read("a.txt")], [["fs_multi_edit", { edits: [edit("a.txt", "one", "1")[1], edit("a.txt", "three", "3")[1]] }]]],
      "edits[1] (a.txt): old_string does not occur",
    ],
    ["a folder that is not there", [[bash("ls", "nowhere")]], "nowhere does not exist"],
    ["a folder that is a file", [[bash("ls > out", "a.txt")]], "a.txt is no folder: a program starts in a folder"],
  ] as const)("fails at once with the error of its tool, and nobody is asked: %s", async (_name, steps, message) => {
    const { events, calls } = await unasked(steps);
    const call = calls.at(-1);
    expect(call).toMatchObject({
      state: "FAILED",
      output: expect.stringContaining(message),
      error: { type: "EXECUTION_FAILED", stage: "CONFIRMATION" },
      explanation: { verdict: "ASK" },
      auditTrail: [{ state: "PENDING" }, { state: "FAILED", note: "execution_failed" }],
    });
    expect(call?.output).toMatch(/^The tool failed: /);
    expect(ofType(events, "ToolStart")).toHaveLength(calls.length);
    expect(ofType(events, "ToolEnd")).toHaveLength(calls.length);
  });

  it("fails at once if something else has changed its file, with what has changed", async () => {
    const server = await serverWith([[read("a.txt")], [["outside", {}]], [edit("a.txt", "one", "1")]], {}, await outside());
    const events = await server.anna.turn(server.agent, "go");
    expect(ofType(events, "PermissionRequired")).toEqual([]);
    expect((await server.calls()).at(-1)).toMatchObject({ state: "FAILED", output: expect.stringContaining("+three") });
  });

  it("waits for the calls before it, after which it may go well, and is asked about then", async () => {
    const server = await serverWith([[read("a.txt"), edit("a.txt", "one", "1"), edit("a.txt", "1\n", "0\n")]]);
    const first = await question(server);
    expect(first.preview).toMatchObject({ files: [{ diff: expect.stringContaining("-one\n+1") }], problem: null });
    expect((await server.calls()).map(({ state }) => state)).toEqual(["COMPLETED", "APPROVAL_REQUIRED", "PENDING"]);
    await server.as("paul").decide({ approvalId: first.id, decision: "ALLOW", inputHash: first.inputHash });
    const second = await question(server, first.cursor);
    expect(second.preview).toMatchObject({ files: [{ diff: expect.stringContaining("-1\n+0") }], problem: null });
    await server.as("paul").decide({ approvalId: second.id, decision: "ALLOW", inputHash: second.inputHash });
    await server.anna.until(server.agent, "DONE");
    expect(await readFile(join(server.app.workspace, "a.txt"), "utf8")).toBe("0\ntwo\ntwo\n");
  });

  it("is asked about, and shows no changes, if its folder is there, or if an earlier call makes it", async () => {
    const server = await serverWith([[bash("mkdir made", "."), bash("pwd", "made")]]);
    const first = await question(server);
    expect(first.preview).toBeNull();
    expect((await server.calls()).map(({ state }) => state)).toEqual(["APPROVAL_REQUIRED", "PENDING"]);
    await server.as("paul").decide({ approvalId: first.id, decision: "ALLOW", inputHash: first.inputHash });
    const second = await question(server, first.cursor);
    expect(second.preview).toBeNull();
    await server.as("paul").decide({ approvalId: second.id, decision: "ALLOW", inputHash: second.inputHash });
    await server.anna.until(server.agent, "DONE");
    expect((await server.calls()).map(({ state }) => state)).toEqual(["COMPLETED", "COMPLETED"]);
  });

  it("fails behind a call that a person denies", async () => {
    const server = await serverWith([[read("a.txt"), edit("a.txt", "one", "1"), edit("a.txt", "1\n", "0\n")]]);
    const first = await question(server);
    await server.as("paul").decide({ approvalId: first.id, decision: "DENY" });
    const events = await server.anna.until(server.agent, "DONE");
    expect(ofType(events, "PermissionRequired")).toHaveLength(1);
    expect((await server.calls()).map(({ state }) => state)).toEqual(["COMPLETED", "DENIED", "FAILED"]);
  });
});

describe("what the failure would tell of a file that the agent may not read without asking", () => {
  const ASKING = { permission: { mode: "approval" } } as const;
  const RULE = { permission: { ask: ["fs_*(path:a.txt)", "fs_*(path:b.txt)"] } };

  it.each([
    ["that it is there", write("a.txt", "1"), ASKING, "a.txt exists, and you have not read it"],
    ["that it is there, by a rule", edit("a.txt", "one", "1"), RULE, "a.txt exists, and you have not read it"],
    ["that it is not there", edit("b.txt", "one", "1"), RULE, "b.txt does not exist"],
    ["that a folder is not there", bash("ls", "nowhere"), ASKING, "nowhere does not exist"],
    ["that a folder is a file", bash("ls", "b"), { permission: { ask: ["fs_read(path:b)"] } }, "b does not exist"],
    ["what hooks keep from it", edit("a.txt", "one", "1"), { hooks: { preToolUse: [() => undefined] } }, "a.txt exists"],
    ["what its tools do not read", edit("a.txt", "one", "1"), { tools: ["fs_edit"] }, "a.txt exists"],
  ])("is not told before a person was asked: %s", async (_name, made, template, problem) => {
    const { preview } = await question(await serverWith([[made]], template));
    expect(preview).toEqual({ files: [], problem: expect.stringContaining(problem) });
  });

  it("is not told of a folder with secrets, nor of a command line that names a file with some", async () => {
    for (const made of [bash("ls", ".ssh"), bash("cat keys/.env", "nowhere")]) {
      const { preview } = await question(await serverWith([[made]]));
      expect(preview).toBeNull();
    }
  });

  it("is told if the agent has read the file as a whole, and nothing else has changed it", async () => {
    const server = await serverWith([[read("a.txt")], [edit("a.txt", "three", "3")]], ASKING);
    const reading = await question(server);
    await server.as("paul").decide({ approvalId: reading.id, decision: "ALLOW", inputHash: reading.inputHash });
    const events = await server.anna.until(server.agent, "DONE");
    expect(ofType(events, "PermissionRequired")).toHaveLength(1);
    expect((await server.calls()).at(-1)).toMatchObject({ state: "FAILED", output: expect.stringContaining("does not occur") });
  });

  it("is not told if the agent has read a part of the file", async () => {
    const server = await serverWith([[["fs_read", { path: "a.txt", limit: 1 }]], [edit("a.txt", "three", "3")]], ASKING);
    const reading = await question(server);
    await server.as("paul").decide({ approvalId: reading.id, decision: "ALLOW", inputHash: reading.inputHash });
    const { preview } = await question(server, reading.cursor);
    expect(preview).toEqual({ files: [], problem: expect.stringContaining("does not occur") });
  });

  it("is told without the new content if something else has changed the file", async () => {
    const allowed = { permission: { mode: "approval", allow: ["outside"] } } as const;
    const server = await serverWith([[read("a.txt")], [["outside", {}]], [edit("a.txt", "one", "1")]], allowed, await outside());
    const reading = await question(server);
    await server.as("paul").decide({ approvalId: reading.id, decision: "ALLOW", inputHash: reading.inputHash });
    await server.anna.until(server.agent, "DONE");
    const call = (await server.calls()).at(-1);
    expect(call).toMatchObject({ state: "FAILED", output: expect.stringContaining("was changed by something else") });
    expect(call?.output).not.toContain("three");
  });
});

/** A tool by which something else than the file tools changes `a.txt`. */
async function outside(): Promise<Partial<TriplaneConfig>> {
  const { defineTool } = await import("../../../src/agent/tools/tool.ts");
  const tool = defineTool<Record<string, never>>({
    name: "outside",
    description: "Changes a file.",
    readOnly: true,
    inputSchema: { type: "object", required: [], properties: {} },
    run: async (_input, { workspace }) => {
      await writeFile(join(workspace.root, "a.txt"), `${TEXT}three\n`);
      return { output: "changed", details: null };
    },
  });
  return { tools: [tool] };
}
