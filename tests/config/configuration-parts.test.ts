import type { Json } from "../../src/lib/json.ts";
import { describe, expect, it } from "vitest";
import { configurationDigest, configurationParts, changesOf } from "../../src/config/configuration-changes.ts";
import { defineTool, type TriplaneConfig } from "../../src/triplane.ts";

const CONFIG: TriplaneConfig = {
  models: { demo: { provider: "scripted", script: { replies: [{ when: {}, say: ["Hello."] }] } } },
  templates: { assistant: { model: "demo", systemPrompt: "x" } },
};

const tool = (denies: boolean) =>
  defineTool<Record<string, never>>({
    name: "mail",
    description: "Sends mail.",
    readOnly: false,
    inputSchema: { type: "object", required: [], properties: {} },
    ...(denies ? { hooks: { preToolUse: [() => ({ decision: "deny", reason: "no mail" })] } } : {}),
    run: () => Promise.resolve({ output: "sent", details: null }),
  });

const runner = (commands: boolean) =>
  defineTool<{ line: string }>({
    name: "run",
    description: "Runs a line.",
    readOnly: false,
    inputSchema: { type: "object", required: ["line"], properties: { line: { type: "string" } } },
    ...(commands ? { commands: ["line"] } : {}),
    run: () => Promise.resolve({ output: "ran", details: null }),
  });

it("the digest of a configuration changes with the code of an own tool, and with nothing that Triplane adds to it", () => {
  const says = (run: () => string) =>
    defineTool<Record<string, never>>({
      name: "say",
      description: "Says something.",
      readOnly: true,
      inputSchema: { type: "object", required: [], properties: {} },
      run,
    });
  const one = { ...CONFIG, tools: [says(() => "one")] };
  expect(configurationDigest(one)).not.toBe(configurationDigest({ ...CONFIG, tools: [says(() => "two")] }));
  const bundled = one.tools.map((own) => ({ ...own, bind: (raw: Json) => own.bind(raw) }));
  expect(configurationDigest({ ...CONFIG, tools: bundled })).toBe(configurationDigest(one));
});

describe("the parts of a configuration that have a say in rights, or in how long events are kept (invariant 15)", () => {
  it.each<[string, string, Partial<TriplaneConfig>, Partial<TriplaneConfig>]>([
    ["a tool's own hook, which may deny its calls", "tools.mail", { tools: [tool(true)] }, { tools: [tool(false)] }],
    ["the command lines of a tool, as which rules judge it", "tools.run", { tools: [runner(true)] }, { tools: [runner(false)] }],
    ["a listener, which may decide", "on", { on: { PERMISSION_REQUIRED: () => {} } }, {}],
    ["how long events are kept", "retention", { retention: { eventsDays: 1 } }, { retention: { eventsDays: 2 } }],
    ["a template", "templates.assistant", {}, { templates: { assistant: { model: "demo", systemPrompt: "y" } } }],
    ["who may connect", "authenticate", { authenticate: () => null }, {}],
  ])("are others after a change of %s", (_name, part, before, now) => {
    const parts = (changed: Partial<TriplaneConfig>) => configurationParts({ ...CONFIG, ...changed })("acme");
    expect(changesOf(parts(before), parts(now)).map((change) => change.part)).toEqual([part]);
    expect(changesOf(parts(before), parts(before))).toEqual([]);
  });

  it("of a tool stay what they are from version to version: a new version alone changes nothing", () => {
    const parts = configurationParts({ ...CONFIG, tools: [runner(false)] })("acme");
    expect(parts["tools.run"]).toBe("97d44f7d65e36c04ae0dd55308099ff04503e67321fb550d9f028e0ab1b0186e");
  });
});
