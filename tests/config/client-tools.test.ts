import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { changesOf, configurationDigest, configurationParts } from "../../src/config/configuration-changes.ts";
import { ConfigurationError } from "../../src/config/configuration-error.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { makeSettings, type Settings } from "../../src/config/settings.ts";
import { defineTool, Type, type TemplateConfig, type TriplaneConfig } from "../../src/triplane.ts";
import { temporaryFolder } from "../support/app.ts";
import { tokenActor } from "../support/actors.ts";

type ClientTools = NonNullable<TemplateConfig["clientTools"]>;

const INPUT = { type: "object", required: ["question"], properties: { question: { type: "string" } } };
const ASK = { description: "Asks.", inputSchema: INPUT };

const template = (clientTools: ClientTools, more: Partial<TemplateConfig> = {}): TemplateConfig => ({
  model: "m",
  systemPrompt: "",
  clientTools,
  ...more,
});

async function settingsOf(config: Partial<TriplaneConfig>): Promise<Settings> {
  const folder = await temporaryFolder();
  const models = { m: { provider: "scripted", script: { replies: [{ when: {} }] } } } as const;
  return makeSettings(readEnvironment({ TRIPLANE_DATA_DIR: join(folder, "data") }), join(folder, "triplane.config.ts"), {
    models,
    templates: {},
    ...config,
  });
}

/** Why the settings are refused, without the path of the file. */
async function refusal(config: Partial<TriplaneConfig>): Promise<readonly string[]> {
  try {
    await settingsOf(config);
  } catch (error) {
    if (error instanceof ConfigurationError)
      return error.message.split("\n").map((line) => line.replace(/^\S+triplane\.config\.ts: /, ""));
    throw error;
  }
  throw new Error("the settings were accepted");
}

const own = (name: string) =>
  defineTool<Record<string, never>>({
    name,
    description: "Own.",
    readOnly: true,
    inputSchema: { type: "object", required: [], properties: {} },
    run: () => "",
  });

describe("client tools of a configuration", () => {
  it("are tools of the source CLIENT, one for the same definition in two templates", async () => {
    const full = { ...ASK, outputSchema: { type: "string" }, readOnly: true, risk: "HIGH", dueMs: 1_000 } as const;
    const { tenants } = await settingsOf({
      templates: { a: template({ ask: full, pick: ASK }), b: template({ ask: structuredClone(full) }) },
    });
    const { tools, templates } = tenants.everybody;
    expect(tools.get("ask")).toMatchObject({ source: "CLIENT", readOnly: true, risk: "HIGH", idempotent: true });
    expect(tools.get("ask")?.resultIssues(1)).toHaveLength(1);
    expect(tools.get("pick")).toMatchObject({ source: "CLIENT", readOnly: false, risk: "MEDIUM" });
    expect([...templates.values()].map(({ clientTools }) => Object.keys(clientTools))).toEqual([["ask", "pick"], ["ask"]]);
  });

  it("take a TypeBox object and an object of zod", async () => {
    const { tenants } = await settingsOf({
      templates: {
        a: template({
          box: { description: "x", inputSchema: Type.Object({ question: Type.String() }) },
          zod: { description: "x", inputSchema: z.object({ question: z.string() }) },
        }),
      },
    });
    for (const name of ["box", "zod"]) {
      const tool = tenants.everybody.tools.get(name);
      expect(tool?.bind({ question: "which?" }).ok, name).toBe(true);
      expect(tool?.bind({ question: 1 }).ok, name).toBe(false);
    }
  });

  it.each<[string, Partial<TriplaneConfig>, readonly string[]]>([
    [
      "the name of a built-in tool",
      { templates: { a: template({ fs_read: ASK }) } },
      ["templates.a.clientTools.fs_read is named as the built-in tool fs_read is: rename one of them"],
    ],
    [
      "the name of an own tool",
      { tools: [own("ask")], templates: { a: template({ ask: ASK }) } },
      ["templates.a.clientTools.ask is named as the tool ask of tools is: rename one of them"],
    ],
    [
      "another definition in another template",
      { templates: { a: template({ ask: ASK }), b: template({ ask: { ...ASK, dueMs: 5 } }) } },
      ["templates.b.clientTools.ask and templates.a.clientTools.ask define ask differently: use one definition, or another name"],
    ],
    [
      "an input schema of no object",
      { templates: { a: template({ ask: { description: "x", inputSchema: { type: "string" } } }) } },
      ['templates.a.clientTools.ask: the inputSchema of tool ask must have type "object"'],
    ],
    [
      "no JSON Schema, in each place",
      {
        templates: {
          a: template({
            ask: { description: "x", inputSchema: { type: "object", properties: { a: { type: "strin" } } } },
            pick: { ...ASK, outputSchema: { type: "nothing" } },
          }),
        },
      },
      [
        expect.stringMatching(/^templates\.a\.clientTools\.ask: the inputSchema of tool ask is not a valid JSON Schema/),
        expect.stringMatching(/^templates\.a\.clientTools\.pick: the outputSchema of tool pick is not a valid JSON Schema/),
      ],
    ],
    [
      "the name that rules about hosts begin with",
      { templates: { a: template({ network: ASK }) } },
      ["templates.a.clientTools.network: no tool is named network: rules about hosts begin with it"],
    ],
    [
      "the name of the tool that calls later ones",
      { templates: { a: template({ call_tool: ASK }) } },
      ["templates.a.clientTools.call_tool: no tool is named call_tool: by it agents call tools that came later"],
    ],
    [
      "a tool that only another template declares, in `tools`",
      { templates: { a: template({ ask: ASK }), b: template({}, { tools: ["ask"] }) } },
      [expect.stringMatching(/^templates\.b\.tools\.0: there is no tool "ask": the tools are fs_read/)],
    ],
  ])("are refused with %s", async (_name, config, messages) => {
    expect(await refusal(config)).toEqual(messages);
  });

  it("belong to their tenant: a tenant's template may not redefine one of all tenants, nor may its tools", async () => {
    const acme = tokenActor("anna", ["user"], "acme").actor;
    const other = tokenActor("otto", ["user"], "other").actor;
    const config = (tenant: NonNullable<TriplaneConfig["tenants"]>[string]): Partial<TriplaneConfig> => ({
      actors: [acme, other],
      templates: { a: template({ ask: ASK }) },
      tenants: { acme: tenant },
    });
    expect(await refusal(config({ templates: { b: template({ ask: { ...ASK, description: "y" } }) } }))).toEqual([
      "tenants.acme.templates.b.clientTools.ask and templates.a.clientTools.ask define ask differently: use one definition, or another name",
    ]);
    expect(await refusal(config({ tools: [own("ask")] }))).toEqual([
      "templates.a.clientTools.ask is named as the tool ask of tenants.acme.tools is: rename one of them",
    ]);
    const { tenants } = await settingsOf(config({ templates: { b: template({ pick: ASK }) } }));
    expect(tenants.named.get("acme")?.tools.has("pick")).toBe(true);
    expect(tenants.everybody.tools.has("pick")).toBe(false);
    expect(tenants.everybody.tools.has("ask")).toBe(true);
  });

  it("may be named by rules, lists and `tools` of their template", async () => {
    const { tenants } = await settingsOf({
      templates: {
        a: template({ ask: ASK }, { tools: ["ask"], permission: { allow: ["ask(question:may *)"], denyTools: ["ask"] } }),
      },
    });
    expect(tenants.everybody.templates.get("a")?.permission.allow).toHaveLength(1);
  });

  it("are reported as changes of their template", () => {
    const base: TriplaneConfig = { models: {}, templates: { a: template({ ask: ASK }) } };
    const parts = (clientTools: ClientTools) => configurationParts({ ...base, templates: { a: template(clientTools) } })("acme");
    expect(changesOf(parts({ ask: ASK }), parts({ ask: { ...ASK, readOnly: true } }))).toEqual([
      { part: "templates.a", change: "CHANGED" },
    ]);
    expect(changesOf(parts({ ask: ASK }), parts({ ask: structuredClone(ASK) }))).toEqual([]);
    const zod = (schema: object) => ({ ...base, templates: { a: template({ ask: { description: "x", inputSchema: schema } }) } });
    expect(configurationDigest(zod(z.object({ a: z.string() })))).toBe(configurationDigest(zod(z.object({ a: z.string() }))));
    expect(configurationDigest(zod(z.object({ a: z.string() })))).not.toBe(configurationDigest(zod(z.object({ b: z.string() }))));
  });
});
