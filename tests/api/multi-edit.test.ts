import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ask, approvalOf, inbox, office } from "../support/office.ts";
import { textOf } from "../support/client.ts";

/** Makes the model edit the files a.txt and docs/b.txt in one call, and then say what came of it. */
const SCRIPT = {
  replies: [
    { when: { result: "fs_multi_edit" }, say: ["{{result}}"] },
    { when: { result: "fs_read" }, call: [{ tool: "fs_multi_edit", input: { edits: editsOf("a.txt", "docs/b.txt") } }] },
    {
      when: {},
      call: [
        { tool: "fs_read", input: { path: "a.txt" } },
        { tool: "fs_read", input: { path: "docs/b.txt" } },
      ],
    },
  ],
};

function editsOf(...paths: string[]) {
  return paths.map((path) => ({ path, old_string: "one", new_string: "two" }));
}

async function files(template: Parameters<typeof office>[0]) {
  const { app, as } = await office(template, { script: SCRIPT });
  await mkdir(join(app.workspace, "docs"));
  for (const name of ["a.txt", "docs/b.txt"]) await writeFile(join(app.workspace, name), "one\n");
  const contents = async () => {
    return [await readFile(join(app.workspace, "a.txt"), "utf8"), await readFile(join(app.workspace, "docs/b.txt"), "utf8")];
  };
  return { as, contents };
}

describe("fs_multi_edit in the gate", () => {
  it("shows each file to those who decide, binds the decision to all of them, and runs (invariant 7)", async () => {
    const { as, contents } = await files({});
    const { agent, approvalId, inputHash } = await ask(as("anna"));
    const approval = await approvalOf(as("paul"), approvalId);
    expect(approval.paths).toEqual([
      { parameter: "edits[].path", names: ["a.txt"] },
      { parameter: "edits[].path", names: ["docs/b.txt"] },
    ]);
    const edited = await as("paul").decide({ approvalId, inputHash, decision: "ALLOW", input: { edits: editsOf("docs/b.txt") } });
    expect(edited.userErrors).toEqual([]);
    // Whoever gives another input asks for it: another person sees its files, and decides.
    const [newer] = await inbox(as("petra"), { states: ["PENDING"] });
    if (newer === undefined) throw new Error("nobody else is asked");
    expect(newer.paths).toEqual([{ parameter: "edits[].path", names: ["docs/b.txt"] }]);
    const allowed = { approvalId: newer.id, inputHash: newer.inputHash, decision: "ALLOW" } as const;
    expect((await as("petra").decide(allowed)).userErrors).toEqual([]);
    expect(textOf(await as("anna").until(agent, "DONE"))).toContain("Made 1 edit in 1 file:");
    expect(await contents()).toEqual(["one\n", "two\n"]);
    expect((await approvalOf(as("paul"), approvalId)).paths).toEqual([{ parameter: "edits[].path", names: ["docs/b.txt"] }]);
  });

  it.each([
    [{ mode: "auto", ask: ["fs_*edit(path:docs)"] }, "ASK"],
    [{ mode: "approval", allow: ["fs_read", "fs_multi_edit(path:docs)"] }, "ASK"],
    [{ mode: "approval", allow: ["fs_read", "fs_multi_edit(path:{a.txt,docs})"] }, "ALLOW"],
    [{ mode: "auto", deny: ["fs_write(path:docs)"] }, "DENY"],
  ] as const)("is judged by every path inside of its edits: %j: %s", async (permission, verdict) => {
    const { as, contents } = await files({ permission });
    const agent = await as("anna").createAgent();
    await as("anna").send(agent.id, "go");
    await as("anna").until(agent.id, verdict === "ASK" ? "PERMISSION_REQUIRED" : "DONE");
    const { toolCalls } = await as("anna").agent(agent.id);
    expect(toolCalls.nodes.at(-1)).toMatchObject({ name: "fs_multi_edit", explanation: { verdict } });
    expect(await contents()).toEqual(verdict === "ALLOW" ? ["two\n", "two\n"] : ["one\n", "one\n"]);
  });
});
