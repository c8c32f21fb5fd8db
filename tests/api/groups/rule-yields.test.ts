import { expect, it } from "vitest";
import { RuleYieldsDocument } from "../../generated/documents.ts";
import { startTestApp } from "../../support/app.ts";
import { foldAll } from "../../support/audit.ts";
import { connect, ofType } from "../../support/client.ts";
import { testDatabaseUrl } from "../../support/database.ts";
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

it("each rule has the recorded calls that it matches, and those that ended against it", async () => {
  const calls = [
    { tool: "fs_write", input: { path: "docs/a.md", content: "a" } },
    { tool: "fs_write", input: { path: "notes/b.md", content: "b" } },
    { tool: "fs_write", input: { path: "secret/c.md", content: "c" } },
    { tool: "todo_write", input: { todos: [] } },
  ];
  const script = {
    replies: [
      { when: { user: "go" }, call: calls },
      { when: {}, say: ["Done."] },
    ],
  };
  // The person denies the notes, and allows the rest.
  const asking = { mode: "auto", ask: ["fs_write"] } as const;
  const url = await testDatabaseUrl();
  const database = { kind: "postgres", url, connections: 3 } as const;
  const first = await startTestApp({ script, template: { permission: asking }, database });
  const client = connect(first.url);
  const { id } = await client.createAgent();
  await client.send(id, "go");
  for await (const page of client.timeline({ agentId: id, since: "0", until: "DONE" }))
    for (const { request } of ofType(page.events, "PermissionRequired")) {
      const decision = JSON.stringify(request).includes("notes/b.md") ? "DENY" : "ALLOW";
      const { approvalId, inputHash } = request;
      expect((await client.decide({ approvalId, decision, inputHash })).userErrors).toEqual([]);
    }
  await foldAll(first.database.sql);
  await first.close();

  // Later the configuration has other rules: none of them has decided a call.
  const later = { mode: "auto", deny: ["fs_write(path:secret)"], allow: ["fs_write(path:notes)"], ask: ["todo_write"] } as const;
  const second = await startTestApp({ script, template: { permission: later }, database });
  const { ruleYields } = await connect(second.url).get(RuleYieldsDocument, { templateId: "assistant" });
  expect(ruleYields?.map(({ rule, figures, matches }) => [rule.rule, figures?.calls, matches])).toEqual([
    ["fs_write(path:secret)", 0, { examined: 4, erased: 0, isPartial: false, matched: 1, against: 1 }],
    ["fs_write(path:notes)", 0, { examined: 4, erased: 0, isPartial: false, matched: 1, against: 1 }],
    ["todo_write", 0, { examined: 4, erased: 0, isPartial: false, matched: 1, against: 1 }],
  ]);
  const before = await connect(second.url).get(RuleYieldsDocument, { templateId: "assistant", to: "2020-01-01T00:00:00Z" });
  expect(before.ruleYields?.map(({ matches }) => matches?.examined)).toEqual([0, 0, 0]);
});
