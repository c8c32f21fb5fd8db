import { describe, expect, it } from "vitest";
import { settingsWith } from "../support/template-settings.ts";

describe("the reminders of todos", () => {
  it.each<[string, unknown]>([
    ["null", null],
    ["a list", []],
    ["a number", 1],
    ["a negative number of steps", { remindIntervalSteps: -1 }],
    ["no steps", { remindIntervalSteps: 0 }],
    ["a text", { remindIntervalSteps: "3" }],
    ["a fraction", { remindIntervalSteps: 1.5 }],
    ["another setting", { remindOften: true }],
    ["a number for yes", { reminderOnStart: 1 }],
  ])("are not %s", async (_name, todo) => {
    await expect(settingsWith({ todo })).rejects.toThrow(/templates\.t\.todo/);
    const subagents = { templates: ["t"], overrides: { todo } };
    await expect(settingsWith({ subagents })).rejects.toThrow(/templates\.t\.subagents\.overrides\.todo/);
  });

  it("have a default for each setting that is omitted", async () => {
    const todoOf = async (template: object) => (await settingsWith(template)).tenants.everybody.templates.get("t")?.todo;
    expect(await todoOf({})).toEqual({ reminderOnStart: false, remindIntervalSteps: null, remindWhenEmptied: true });
    expect(await todoOf({ todo: { remindIntervalSteps: 5 } })).toEqual({
      reminderOnStart: false,
      remindIntervalSteps: 5,
      remindWhenEmptied: true,
    });
    expect(await todoOf({ todo: { remindIntervalSteps: null } })).toMatchObject({ remindIntervalSteps: null });
  });
});
