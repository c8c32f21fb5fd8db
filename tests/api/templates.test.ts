import { expect, it } from "vitest";
import { presets } from "../../src/triplane.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";
import { hasNoBox } from "../support/box.ts";
import { connect } from "../support/client.ts";
import { callsWith, playedModel, says } from "../support/models.ts";

const TEMPLATES = `{ templates { templateId hooks box { protectedPaths }
  permission { mode allowTools denyTools autoAllowTools requireApprovalTools readOnlyCommands rules { list rule place } } } }`;

type Shown = {
  readonly templateId: string;
  readonly hooks: readonly string[];
  readonly box: { readonly protectedPaths: readonly string[] } | null;
  readonly permission: { readonly mode: string; readonly rules: readonly { list: string; rule: string; place: string }[] } | null;
};

it("a template shows the policy that judges its agents to those who read the tenant, so that calls can be told by their rules", async () => {
  const app = await startTestApp({
    config: { ...NEIGHBOURS, hooks: { preToolUse: () => undefined } },
    template: {
      permission: {
        mode: "approval",
        deny: ["fs_read(path:.env)", "network(host:*.evil.example)", "fs_write(path:secrets)"],
        allow: ["fs_read", "fs_glob"],
        ask: ["fs_write"],
        denyTools: ["bash_run"],
      },
      hooks: { postToolUse: [() => undefined] },
    },
    model: playedModel(
      () => callsWith(["fs_read", { path: "a.txt" }], ["fs_write", { path: "secrets/a", content: "x" }]),
      () => says("Done."),
    ),
  });
  const shownTo = async (token: string): Promise<Shown | undefined> =>
    (await connect(app.url, token).post<{ templates: Shown[] }>({ query: TEMPLATES })).data?.templates[0];
  const place = "templates.assistant.permission";
  const shown = await shownTo("vera-token");
  expect(shown).toEqual({
    templateId: "assistant",
    hooks: ["hooks.preToolUse.0", "templates.assistant.hooks.postToolUse.0"],
    box: null,
    permission: {
      mode: "approval",
      allowTools: null,
      denyTools: ["bash_run"],
      autoAllowTools: [],
      requireApprovalTools: [],
      readOnlyCommands: false,
      rules: [
        { list: "DENY", rule: "fs_read(path:.env)", place: `${place}.deny.0` },
        { list: "DENY", rule: "network(host:*.evil.example)", place: `${place}.deny.1` },
        { list: "DENY", rule: "fs_write(path:secrets)", place: `${place}.deny.2` },
        { list: "ALLOW", rule: "fs_read", place: `${place}.allow.0` },
        { list: "ALLOW", rule: "fs_glob", place: `${place}.allow.1` },
        { list: "ASK", rule: "fs_write", place: `${place}.ask.0` },
      ],
    },
  });
  expect(await shownTo("anna-token")).toEqual({ templateId: "assistant", hooks: [], box: null, permission: null });

  const anna = connect(app.url, "anna-token");
  const { id } = await anna.createAgent();
  await anna.turn(id, "read");
  const calls = (await anna.agent(id)).toolCalls.nodes;
  const rules = shown?.permission?.rules.map(({ list, rule, place: at }) => [`${list.toLowerCase()} ${rule}`, at]);
  for (const { explanation } of calls) expect(rules).toContainEqual([explanation?.rule, explanation?.place]);

  // The audit is asked by both, before it has come to the end of the log and afterwards.
  const counted = async (filter: string): Promise<number | undefined> =>
    (await anna.post<{ toolCalls: { totalCount: number } }>({ query: `{ toolCalls(filter: { ${filter} }) { totalCount } }` }))
      .data?.toolCalls.totalCount;
  const folded = async (): Promise<number> =>
    (
      await app.database.sql.query<{ calls: number }>(
        { name: "folded", text: "SELECT count(*)::int AS calls FROM audit_call" },
        [],
      )
    )[0]?.calls ?? 0;
  for (const isFolded of [false, true]) {
    if (isFolded) await expect.poll(folded).toBe(2);
    expect(await counted('rules: ["allow fs_read"]')).toBe(1);
    expect(await counted(`places: ["${place}.deny.2"]`)).toBe(1);
    expect(await counted(`places: ["${place}.allow.1"]`)).toBe(0);
  }
});

it.skipIf(hasNoBox)("a template whose programs run in boxes shows what they may not change", async () => {
  const app = await startTestApp({
    config: { sandbox: { protect: ["deploy"] } },
    template: { permission: presets.workspace, sandbox: "required" },
  });
  const { data } = await connect(app.url).post<{ templates: Shown[] }>({ query: TEMPLATES });
  expect(data?.templates[0]?.box?.protectedPaths).toEqual(expect.arrayContaining([".git/hooks", "deploy"]));
});

it("a template shows its name, description, version and metadata to everybody of its tenant", async () => {
  const profile = { name: "Assistant", description: "Helps.", version: "7", metadata: { icon: "star", order: 1 } };
  const query = "{ templates { templateId name description version metadata } }";
  const shown = async (template: object) => (await connect((await startTestApp({ template })).url).post({ query })).data;
  expect(await shown(profile)).toEqual({ templates: [{ templateId: "assistant", ...profile }] });
  expect(await shown({})).toEqual({
    templates: [{ templateId: "assistant", name: "assistant", description: null, version: null, metadata: {} }],
  });
});

it("a template shows the shape of its answers, and the models that answer after failures", async () => {
  const outputSchema = { type: "object", properties: { files: { type: "integer" } } };
  const template = { outputSchema, fallbacks: [{ model: "test", on: ["overloaded", "too_long"] as const }] };
  const query = "{ templates { outputSchema fallbacks { model { name } on } } }";
  const shown = async (own: object) => (await connect((await startTestApp({ template: own })).url).post({ query })).data;
  expect(await shown(template)).toEqual({
    templates: [{ outputSchema, fallbacks: [{ model: { name: "test" }, on: ["OVERLOADED", "TOO_LONG"] }] }],
  });
  expect(await shown({})).toEqual({ templates: [{ outputSchema: null, fallbacks: [] }] });
});
