import { describe, expect, it } from "vitest";
import { settingsWith } from "../support/template-settings.ts";

const SUBAGENTS = { templates: ["t"] };

describe("a tool that a template has by a setting of its own", () => {
  it.each<[string, RegExp]>([
    ["memory", /templates\.t\.tools\.1: the tool memory needs `memory: \{\}` in the template$/],
    ["task_run", /templates\.t\.tools\.1: the tool task_run needs `subagents` in the template$/],
  ])("is refused without the setting: %s", async (tool, problem) => {
    await expect(settingsWith({ tools: ["fs_read", tool] })).rejects.toThrow(problem);
  });

  it.each<[string, object, string]>([
    ["memory", { memory: {} }, "memory"],
    ["subagents", { subagents: SUBAGENTS }, "task_run"],
  ])("is noted if the setting is there and the list of tools lacks it: %s", async (setting, written, tool) => {
    const note = `templates.t.${setting} has no effect: templates.t.tools does not name ${tool}.`;
    const { notes } = await settingsWith({ ...written, tools: ["fs_read"] }, { one: {}, other: {} });
    expect(notes.filter((each) => each.includes("has no effect"))).toEqual([note]);
    const complete = [await settingsWith(written), await settingsWith({ ...written, tools: ["fs_read", tool] })];
    for (const { notes: none } of complete) expect(none.filter((each) => each.includes("has no effect"))).toEqual([]);
  });
});
