import { realpathSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { narrowestRule } from "../../../src/agent/approvals/allow-rules/narrowest-rule.ts";
import { ruleMatches, type Extent } from "../../../src/agent/policy/rule.ts";
import { parseRule } from "../../../src/agent/policy/parse-rule.ts";
import { reachedPaths, ruleValues, writtenFiles } from "../../../src/agent/policy/rule-values.ts";
import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";
import { ToolDefinitionError } from "../../../src/agent/tools/input-schema.ts";
import { defineTool } from "../../../src/agent/tools/tool.ts";
import { Workspace } from "../../../src/agent/workspace/workspace.ts";
import { Type } from "../../../src/triplane.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { temporaryFolder } from "../../support/app.ts";

const inputSchema = Type.Object({
  copies: Type.Array(
    Type.Object({ from: Type.String(), to: Type.Optional(Type.Array(Type.String())), size: Type.Optional(Type.Integer()) }),
  ),
  label: Type.Optional(Type.String()),
});
const run = () => ({ output: "", details: null });
const copy = defineTool({
  name: "copy",
  description: "Copies files.",
  readOnly: false,
  paths: { "copies[].from": "read", "copies[].to": "write" },
  inputSchema,
  run,
});
const TOOLS = new Map([...BUILTIN_TOOLS, copy].map((tool) => [tool.name, tool]));

/** A workspace in which link.txt leads to a.txt. */
async function workspace(): Promise<Workspace> {
  const folder = realpathSync(await temporaryFolder());
  await writeFile(join(folder, "a.txt"), "");
  await symlink("a.txt", join(folder, "link.txt"));
  return new Workspace(folder);
}

function matches(source: string, tool: string, input: JsonObject, extent: Extent, at: Workspace): boolean {
  const parsed = parseRule(source, "test", TOOLS);
  const found = TOOLS.get(tool);
  if (!parsed.ok || found === undefined) throw new Error(JSON.stringify(parsed));
  return ruleMatches(parsed.value, tool, ruleValues(found, input, at), extent);
}

describe("paths in lists of objects", () => {
  it("are values of their own, with all names, and the inbox shows them", async () => {
    const at = await workspace();
    const values = ruleValues(
      copy,
      {
        copies: [
          { from: "./link.txt", to: ["b", "sub/../c"] },
          { from: "d", to: null },
        ],
      },
      at,
    );
    expect(values["copies[].from"]).toEqual([
      { kind: "file", names: ["link.txt", "a.txt"], access: "read" },
      { kind: "file", names: ["d"], access: "read" },
    ]);
    expect(values["copies[].to"]).toEqual([
      { kind: "file", names: ["b"], access: "write" },
      { kind: "file", names: ["c"], access: "write" },
    ]);
    expect(reachedPaths(values).map(({ parameter }) => parameter)).toEqual([
      "copies[].from",
      "copies[].from",
      "copies[].to",
      "copies[].to",
    ]);
    expect(writtenFiles(values)).toEqual(["b", "c"]);
    expect(() => ruleValues(copy, { copies: [{ from: "a" }, { from: "../out" }] }, at)).toThrow("outside");
  });

  it.each<[string, Extent, boolean]>([
    ["fs_multi_edit(path:secrets)", "names", true],
    ["fs_*(path:secrets)", "names", true],
    ["fs_multi_edit(edits[].path:secrets)", "names", true],
    ["fs_multi_edit(path:docs)", "covers", false],
    ["fs_multi_edit(path:{docs,secrets})", "covers", true],
    ["fs_multi_edit(edits[].path:{docs,secrets})", "covers", true],
    ["fs_multi_edit(path:other)", "names", false],
    ["fs_multi_edit(path:docs, edits:*)", "names", true],
  ])("are spoken of by %s (%s): %s", async (rule, extent, expected) => {
    const input = { edits: ["docs/a", "secrets/b"].map((path) => ({ path, old_string: "a", new_string: "b" })) };
    expect(matches(rule, "fs_multi_edit", input, extent, await workspace())).toBe(expected);
  });

  it("are named by the narrowest rule, unless the list has numbers or choices of which a rule cannot speak", async () => {
    const at = await workspace();
    const narrowest = (tool: string, input: JsonObject) => {
      const found = TOOLS.get(tool);
      if (found === undefined) throw new Error(tool);
      return narrowestRule(found, ruleValues(found, input, at), input);
    };
    const edit = { old_string: "a", new_string: "b" };
    const edits = {
      edits: [
        { path: "x.txt", ...edit },
        { path: "y.txt", ...edit },
        { path: "x.txt", ...edit },
      ],
    };
    const rule = narrowest("fs_multi_edit", edits);
    expect(rule).toEqual({ ok: true, value: 'fs_multi_edit(edits[].path:"/{x.txt,y.txt}")' });
    expect(matches(rule.ok ? rule.value : "", "fs_multi_edit", edits, "covers", at)).toBe(true);
    expect(matches(rule.ok ? rule.value : "", "fs_multi_edit", { edits: [{ path: "z.txt", ...edit }] }, "covers", at)).toBe(
      false,
    );
    expect(narrowest("copy", { copies: [{ from: "a.txt", size: 5 }] })).toMatchObject({
      ok: false,
      refusal: { byHand: true, reason: "copies contains values other than paths and texts, which rules cannot match" },
    });
  });

  it.each<[object, string]>([
    [{ "copys[].from": "read" }, "name copys, which is no parameter of it"],
    [{ "copies[].form": "read" }, "name copies[].form: a path is a string or a list of strings"],
    [{ "copies[].size": "read" }, "name copies[].size: a path is a string"],
    [{ "label[].from": "read" }, "name label[].from: a path is a string"],
    [{ copies: "read" }, "a field of the items of a list is named as in edits[].path"],
    [{ "copies[].from": { searchIn: null } }, "name copies[].from: a search is a parameter itself"],
  ])("that are declared wrongly are refused at the start: %j", (paths, message) => {
    const wrong = { name: "t", description: "x", readOnly: true, inputSchema, run, paths };
    expect(() => defineTool(wrong as never)).toThrow(message);
    expect(() => defineTool(wrong as never)).toThrow(ToolDefinitionError);
  });
});
