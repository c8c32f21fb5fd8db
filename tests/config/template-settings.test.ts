import { describe, expect, it } from "vitest";
import type { TemplateConfig } from "../../src/config/template-settings.ts";
import { templateOf as madeOf } from "../../src/config/templates.ts";
import type { Template } from "../../src/agent/loop/scope.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import { settingsWith } from "../support/template-settings.ts";

function madeTemplate(template: Partial<TemplateConfig>): Template {
  const config = { model: "m", systemPrompt: "x", ...template };
  const names = { modelNames: ["m"], templateNames: ["t"], vocabulary: { tools: new Map(), modes: new Map() } };
  return madeOf({ path: "here", id: "t", place: "templates.t", config, hooks: {}, protect: [], ...names });
}

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

const CYCLE: Record<string, unknown> = {};
CYCLE["self"] = CYCLE;
const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });

describe("the name, description, version and metadata of a template", () => {
  const templateOf = async (template: object) => (await settingsWith(template)).tenants.everybody.templates.get("t");

  it("are what the configuration says, and none if omitted", async () => {
    expect(await templateOf({})).toMatchObject({ name: null, description: null, version: null, metadata: {} });
    const profile = {
      name: "T \u{1F600}",
      description: "d".repeat(2_000),
      version: "2",
      metadata: { icon: "x", tags: [1, null] },
    };
    expect(await templateOf(profile)).toMatchObject(profile);
    expect(await templateOf({ metadata: { text: "x".repeat(16_000) } })).toMatchObject({ id: "t" });
  });

  it.each<[string, object, RegExp]>([
    ["an empty name", { name: "" }, /templates\.t\.name/],
    ["a blank name", { name: "  " }, /templates\.t\.name/],
    ["a long name", { name: "x".repeat(101) }, /templates\.t\.name must have at most 100/],
    ["a number", { version: 2 }, /templates\.t\.version must be string/],
    ["null", { description: null }, /templates\.t\.description must be string/],
    ["a list", { description: [] }, /templates\.t\.description must be string/],
    ["a long description", { description: "x".repeat(2_001) }, /templates\.t\.description must have at most 2000/],
    ["metadata that is null", { metadata: null }, /templates\.t\.metadata must be object/],
    ["metadata that is a list", { metadata: [] }, /templates\.t\.metadata must be object/],
    ["metadata that is a number", { metadata: 1 }, /templates\.t\.metadata must be object/],
    [
      "huge metadata",
      { metadata: { text: "x".repeat(16_400) } },
      /templates\.t\.metadata has 16411 bytes of JSON: at most 16384/,
    ],
    ["deep metadata", { metadata: deep(200) }, /templates\.t\.metadata must have at most 100 levels/],
  ])("are not %s", async (_name, template, problem) => {
    await expect(settingsWith(template)).rejects.toThrow(problem);
  });

  it.each<[string, unknown]>([
    ["a function", { run: () => 1 }],
    ["a date", { at: new Date(0) }],
    ["no number", { value: Number.NaN }],
    ["a big integer", { value: 1n }],
    ["a cycle", CYCLE],
    ["undefined", { value: undefined }],
  ])("are not JSON with %s", (_name, metadata) => {
    expect(() => madeTemplate({ metadata: metadata as JsonObject })).toThrow(/templates\.t\.metadata must be JSON/);
  });
});

it.each([
  {},
  1,
  "x",
  [1],
  [null],
  [[]],
  [{}],
  [{ text: 1, trigger: {} }],
  [{ text: "x" }],
  [{ text: "x", trigger: null }],
  [{ text: "x", trigger: [] }],
  [{ text: "x", trigger: { everySteps: "1" } }],
  [{ text: "x", trigger: { everySteps: 1e300 } }],
  [{ text: "x", trigger: { everyMs: Number.MAX_SAFE_INTEGER } }],
  [{ text: "x", trigger: { at: "2030-01-01T00:00:00Z" } }],
  [{ text: "x", trigger: { everySteps: 1, cron: "* * * * *" } }],
  [{ text: "x", trigger: { cron: { minute: 1 }, timeZone: "UTC" } }],
  [{ text: "x", trigger: { files: "../*" } }],
  [{ text: "x", trigger: { everySteps: 1 }, missed: "NEVER" }],
  [{ text: "x".repeat(100_000), trigger: { everySteps: 1 } }],
  Array.from({ length: 21 }, () => ({ text: "x", trigger: { everySteps: 1 } })),
])("schedules are not %#", async (schedules) => {
  await expect(settingsWith({ schedules })).rejects.toThrow(/templates\.t\.schedules/);
});

it.each([null, [], {}, 1, "sometimes", "x".repeat(100_000)])("watchFiles is not %#", async (watchFiles) => {
  await expect(settingsWith({ watchFiles })).rejects.toThrow(/templates\.t\.watchFiles must be/);
});
