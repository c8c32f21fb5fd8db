import { expect, it } from "vitest";
import { RuleYieldsDocument } from "../../generated/documents.ts";
import { startTestApp } from "../../support/app.ts";
import { connect } from "../../support/client.ts";
import { tokenActor } from "../../support/actors.ts";

it("each rule of a template has the calls that it decided, and none if it was never used", async () => {
  const script = {
    replies: [
      {
        when: { user: "go" },
        call: [
          { tool: "fs_read", input: { path: ".private" } },
          { tool: "fs_write", input: { path: "docs/a.md", content: "a" } },
          { tool: "fs_write", input: { path: "docs/b.md", content: "b" } },
          { tool: "todo_write", input: { todos: [] } },
        ],
      },
      { when: {}, say: ["Done."] },
    ],
  };
  const permission = {
    mode: "auto",
    deny: ["fs_read(path:.private)", "fs_read(path:.never)"],
    allow: ["fs_write(path:docs)", "network(host:example.com)"],
  } as const;
  const [ulf, vera] = [tokenActor("ulf", ["user"]), tokenActor("vera", ["viewer"])];
  const app = await startTestApp({ script, template: { permission }, config: { actors: [ulf.actor, vera.actor] } });
  const client = connect(app.url, ulf.token);
  const { id } = await client.createAgent();
  await client.turn(id, "go");
  const yields = async (token: string, variables: { templateId: string; from?: string; to?: string }) =>
    (await connect(app.url, token).get(RuleYieldsDocument, variables)).ruleYields;
  const shown = (found: Awaited<ReturnType<typeof yields>>) =>
    found?.map(({ rule, figures }) => [
      `${rule.list} ${rule.rule}`,
      figures && [figures.calls, figures.executed, figures.denied, figures.lastAt !== null],
    ]);
  expect(shown(await yields(vera.token, { templateId: "assistant" }))).toEqual([
    ["DENY fs_read(path:.private)", [1, 0, 1, true]],
    ["DENY fs_read(path:.never)", [0, 0, 0, false]],
    ["ALLOW fs_write(path:docs)", [2, 2, 0, true]],
    ["ALLOW network(host:example.com)", null],
  ]);
  const before = await yields(vera.token, { templateId: "assistant", to: "2020-01-01T00:00:00Z" });
  expect(before?.map(({ figures }) => figures?.calls ?? null)).toEqual([0, 0, 0, null]);
  expect(await yields(vera.token, { templateId: "none" })).toBeNull();
  // A user does not read the tenant, and so no policy.
  expect(await yields(ulf.token, { templateId: "assistant" })).toBeNull();
});
