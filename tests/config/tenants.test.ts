import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tenantOf } from "../../src/config/tenants.ts";
import { makeSettings, type Settings } from "../../src/config/settings.ts";
import { deniesPath } from "../../src/agent/policy/rule.ts";
import { defineTool, type TriplaneConfig } from "../../src/triplane.ts";
import { tokenActor } from "../support/actors.ts";
import { temporaryFolder } from "../support/app.ts";
import { ownTool } from "../support/tools.ts";

const answers = async () => ({ output: "", details: null });
const MODEL = { provider: "scripted", script: { replies: [{ when: {}, say: ["Hello."] }] } } as const;
const TEMPLATE = { model: "m", systemPrompt: "x" };
const ACTORS = [tokenActor("anna", ["user"]).actor, tokenActor("zoe", ["user"], "other").actor];

/** The settings of a configuration in a folder with the folders `acme`, `acme/inner`, `other` and the file `file`. */
async function settingsOf(config: Partial<TriplaneConfig>): Promise<Settings> {
  const folder = await temporaryFolder();
  await Promise.all(["acme/inner", "other", "data/workspaces"].map((name) => mkdir(join(folder, name), { recursive: true })));
  await writeFile(join(folder, "file"), "");
  const database = { kind: "embedded", folder } as const;
  const places = {
    port: 0,
    host: "127.0.0.1",
    database,
    dataFolder: join(folder, "data"),
    programsFolder: join(folder, "data"),
    configPath: "test",
    folder,
  };
  return makeSettings({ ...places, anthropic: null, openai: null }, join(folder, "triplane.config.ts"), {
    models: { m: MODEL },
    templates: { t: TEMPLATE },
    ...config,
  });
}

describe("tenants of the configuration (invariant 12)", () => {
  it("have what is everybody's and what is their own, and a tenant that is not named has what is everybody's", async () => {
    const { tenants } = await settingsOf({
      actors: ACTORS,
      toolLimits: { waiting: 5 },
      tenants: {
        acme: {
          workspaceRoots: ["acme"],
          templates: { own: { ...TEMPLATE, model: "own", tools: ["own_tool"] } },
          models: { own: MODEL },
          tools: [ownTool("own_tool", answers)],
          toolLimits: { running: 2 },
        },
        other: { defaultWorkspace: "other" },
      },
    });
    const [acme, other, third] = ["acme", "other", "third"].map((name) => tenantOf(tenants, name));
    expect([...(acme?.templates.keys() ?? [])]).toEqual(["t", "own"]);
    expect([...(acme?.models.keys() ?? [])]).toEqual(["m", "own"]);
    expect(acme?.tools.has("own_tool")).toBe(true);
    expect(acme).toMatchObject({ toolLimits: { running: 2, waiting: 5, waitMs: 180_000 }, defaultWorkspace: null });
    expect(acme?.workspaceRoots).toEqual([expect.stringMatching(/\/acme$/)]);
    expect(other).toMatchObject({ workspaceRoots: [], defaultWorkspace: expect.stringMatching(/\/other$/), toolLimits: null });
    for (const tenant of [other, third]) {
      expect([...(tenant?.templates.keys() ?? [])]).toEqual(["t"]);
      expect(tenant?.tools.has("own_tool")).toBe(false);
    }
    expect(third).toMatchObject({ workspaceRoots: [], defaultWorkspace: null });
  });

  it("of a server for this machine alone are the tenant local, which may work anywhere if nobody names folders", async () => {
    expect(tenantOf((await settingsOf({})).tenants, "local").workspaceRoots).toBeNull();
    const named = await settingsOf({ tenants: { local: { workspaceRoots: ["acme"] } } });
    expect(tenantOf(named.tenants, "local").workspaceRoots).toHaveLength(1);
    const both = await settingsOf({ workspaceRoots: ["other"], tenants: { local: { workspaceRoots: ["acme"] } } });
    expect(tenantOf(both.tenants, "local").workspaceRoots).toHaveLength(2);
  });

  it("may have any name that actors have", async () => {
    const actors = [
      ...ACTORS,
      tokenActor("tom", ["user"], "acme.com & Sons").actor,
      tokenActor("pro", ["user"], "__proto__").actor,
    ];
    const { tenants, partsOf } = await settingsOf({ actors, tenants: { "acme.com & Sons": { workspaceRoots: ["acme"] } } });
    expect(tenantOf(tenants, "acme.com & Sons").workspaceRoots).toHaveLength(1);
    expect(tenantOf(tenants, "__proto__").workspaceRoots).toEqual([]);
    expect(partsOf("acme.com & Sons")).toHaveProperty("workspaceRoots");
    expect(partsOf("__proto__")).not.toHaveProperty("workspaceRoots");
  });

  it("say a change of everybody's folders also if they have folders of their own (invariant 15)", async () => {
    const tenants = { local: { workspaceRoots: ["acme"] } };
    const digests = async (workspaceRoots: string[]) => (await settingsOf({ workspaceRoots, tenants })).partsOf("local");
    expect((await digests(["other"]))["workspaceRoots"]).not.toBe((await digests(["."]))["workspaceRoots"]);
  });

  it("with too few who decide are a note, though another tenant has a template of the same name", async () => {
    const review = { ...TEMPLATE, approvalQuorum: 2 };
    const actors = ["paul", "petra"].map((id) => tokenActor(id, ["approver"], "other").actor);
    const { notes } = await settingsOf({
      actors: [...actors, tokenActor("ada", ["approver"]).actor],
      tenants: { acme: { templates: { review } }, other: { templates: { review } } },
    });
    expect(notes).toEqual([expect.stringMatching(/templates\.review asks for 2 .* no tenant has more than 1 /)]);
  });

  it("have everybody's templates with rules that speak of the tenant's own tools (invariant 8)", async () => {
    const opening = (name: string, use: "read" | "write") =>
      defineTool<{ file: string }>({
        name,
        description: "Opens a file.",
        readOnly: use === "read",
        inputSchema: { type: "object", required: ["file"], properties: { file: { type: "string" } } },
        paths: { file: use },
        run: answers,
      });
    const { tenants } = await settingsOf({
      actors: ACTORS,
      tools: [opening("put_file", "write")],
      templates: { t: { ...TEMPLATE, permission: { mode: "auto", deny: ["*_file(file:secret)"] } } },
      tenants: { acme: { tools: [opening("show_file", "read")] } },
    });
    const closesReading = (tenant: string): boolean | undefined => {
      const rule = tenantOf(tenants, tenant).templates.get("t")?.permission.deny[0];
      return rule && deniesPath(rule, ["secret"], "read");
    };
    expect(closesReading("other")).toBe(false);
    expect(closesReading("acme")).toBe(true);
  });

  it("that nobody is of are a note", async () => {
    const { notes } = await settingsOf({ actors: ACTORS, tenants: { amce: { workspaceRoots: ["acme"] } } });
    expect(notes).toContain("tenants.amce: no actor is of this tenant; those that are known are acme, other.");
  });

  it.each<[string, Partial<TriplaneConfig>, RegExp]>([
    [
      "roots that are open to several tenants",
      { actors: ACTORS, workspaceRoots: ["acme"] },
      /: workspaceRoots would be open to the tenants acme, other: write tenants\.TENANT\.workspaceRoots for each that has one$/,
    ],
    [
      "a default folder that is open to several tenants",
      { actors: ACTORS, defaultWorkspace: "acme" },
      /: defaultWorkspace would be open to the tenants acme, other: /,
    ],
    [
      "roots that are open to whomever authenticate names",
      { authenticate: () => null, workspaceRoots: ["acme"] },
      /: workspaceRoots would be open to actors of every tenant that authenticate names: /,
    ],
    [
      "a folder of one tenant inside of another's",
      { actors: ACTORS, tenants: { acme: { workspaceRoots: ["acme"] }, other: { defaultWorkspace: "acme/inner" } } },
      /: tenants\.acme may work in .*\/acme, in which .*\/acme\/inner of tenants\.other lies: give each tenant folders apart/,
    ],
    [
      "a folder in the data folder, where agents of every tenant have their own",
      { actors: ACTORS, tenants: { acme: { defaultWorkspace: "data/workspaces" } } },
      /: tenants\.acme: .*\/data\/workspaces is in the data folder .*name another folder$/,
    ],
    [
      "a root that is a file",
      { actors: ACTORS, tenants: { acme: { workspaceRoots: ["file"] } } },
      /: tenants\.acme\.workspaceRoots\.0: .*\/file is a file: name a folder$/,
    ],
    [
      "a template that is everybody's",
      { tenants: { local: { templates: { t: TEMPLATE } } } },
      /: tenants\.local\.templates\.t is named as one that is everybody's: rename it$/,
    ],
    [
      "a model that is everybody's",
      { tenants: { local: { models: { m: MODEL } } } },
      /: tenants\.local\.models\.m is named as one that is everybody's: rename it$/,
    ],
    [
      "a tool that is everybody's",
      { tenants: { local: { tools: [ownTool("fs_read", answers)] } } },
      /: tenants\.local\.tools\.0 is named fs_read, as another tool is: rename it$/,
    ],
    [
      "a template with a tool of another tenant",
      {
        actors: ACTORS,
        tenants: {
          acme: { tools: [ownTool("own_tool", answers)] },
          other: { templates: { own: { ...TEMPLATE, tools: ["own_tool"] } } },
        },
      },
      /: tenants\.other\.templates\.own\.tools\.0: there is no tool "own_tool"/,
    ],
    [
      "a template with a model of another tenant",
      {
        actors: ACTORS,
        tenants: { acme: { models: { own: MODEL } }, other: { templates: { own: { ...TEMPLATE, model: "own" } } } },
      },
      /: tenants\.other\.templates\.own\.model: there is no model "own": the models are m$/,
    ],
  ])("are refused with %s", async (_name, config, message) => {
    await expect(settingsOf(config)).rejects.toThrow(message);
  });
});
