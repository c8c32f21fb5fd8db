import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { BUILTIN_TOOLS } from "../../src/agent/tools/builtin.ts";
import type { ModelRequest } from "../../src/agent/models/model.ts";
import { startTestApp } from "../support/app.ts";
import { callsOf, type MadeCall } from "../support/bash.ts";
import { connect } from "../support/client.ts";
import { callsWith, playedModel, says } from "../support/models.ts";

const guide = await readFile(new URL("../../docs/tools.md", import.meta.url), "utf8");

/** The rows of the tables: a tool, its input, and the details of each form of its result. */
const ROWS = [...guide.matchAll(/^\| `(\w+)` \| (.*?) ?\| (.*) \|$/gm)].map(([, tool = "", input = "", details = ""]) => ({
  tool,
  input: namesIn(input),
  details: details.split("; ").map(namesIn),
}));

/** The words in backticks, but for what is in brackets and tools that are named. */
function namesIn(text: string): readonly string[] {
  const names = [...text.replaceAll(/\([^)]*\)/g, "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
  return names.filter((name) => !BUILTIN_TOOLS.some((tool) => tool.name === name)).toSorted();
}

it("docs/tools.md has every built-in tool, with the parameters of its schema; docs/configuration.md names them all", async () => {
  const parameters = BUILTIN_TOOLS.map(({ name, inputSchema }) => [
    name,
    Object.keys((inputSchema as { properties?: object }).properties ?? {}).toSorted(),
  ]);
  expect(Object.fromEntries(ROWS.map(({ tool, input }) => [tool, input]))).toEqual(Object.fromEntries(parameters));
  const configuration = await readFile(new URL("../../docs/configuration.md", import.meta.url), "utf8");
  const [, builtIn = ""] = /^Built in: (.*)$/m.exec(configuration) ?? [];
  for (const { name } of BUILTIN_TOOLS) expect(builtIn).toContain(`\`${name}\``);
});

it("docs/tools.md names the details that each tool gives", async () => {
  const edit = { path: "a.txt", old_string: "two", new_string: "three" };
  const steps: readonly ((shellId: string) => MadeCall)[] = [
    () => ["fs_write", { path: "a.txt", content: "one\ntwo\n" }],
    () => ["fs_edit", edit],
    () => ["fs_multi_edit", { edits: [{ path: "a.txt", old_string: "three", new_string: "two" }] }],
    () => ["fs_read", { path: "a.txt" }],
    () => ["fs_glob", { pattern: "*" }],
    () => ["fs_grep", { pattern: "two" }],
    () => ["todo_write", { todos: [{ id: "1", title: "one", status: "pending" }] }],
    () => ["todo_read", {}],
    () => ["memory", { command: "create", path: "/memories/a.md", file_text: "one" }],
    () => ["memory", { command: "view", path: "/memories/a.md" }],
    () => ["memory", { command: "view", path: "/memories" }],
    () => ["memory", { command: "rename", old_path: "/memories/a.md", new_path: "/memories/b.md" }],
    () => ["memory", { command: "delete", path: "/memories/b.md" }],
    () => ["bash_run", { command: "echo one" }],
    () => ["bash_run", { command: "sleep 60", background: true }],
    (shell_id) => ["bash_logs", { shell_id }],
    (shell_id) => ["bash_kill", { shell_id }],
    () => ["read_output", { call: "call-bash_run-0" }],
  ];
  const play = (step: (shellId: string) => MadeCall) => (request: ModelRequest) =>
    callsWith(step(/the background shell ([0-9a-f-]{36}) runs/.exec(JSON.stringify(request.messages))?.[1] ?? ""));
  const app = await startTestApp({
    model: playedModel(
      ...steps.map(play),
      () => callsWith(["task_run", { description: "d", prompt: "p", agentTemplateId: "worker" }]),
      () => says("The child's answer."),
      () => says("Done."),
    ),
    config: {
      templates: {
        assistant: {
          systemPrompt: "You are tested.",
          model: "test",
          permission: { mode: "auto" },
          subagents: { templates: ["worker"] },
          memory: {},
        },
        worker: { systemPrompt: "You work.", model: "test" },
      },
    },
  });
  const client = connect(app.url);
  const { id: agentId } = await client.createAgent();
  await client.turn(agentId, "go");
  const found = (await callsOf(client, agentId)).map(
    ({ name, state, details }) => `${name} ${state}: ${Object.keys(details).toSorted().join(" ")}`,
  );
  const said = ROWS.flatMap(({ tool, details }) => details.map((names) => `${tool} COMPLETED: ${names.join(" ")}`));
  expect(found.toSorted()).toEqual(said.toSorted());
});
