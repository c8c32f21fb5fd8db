import type { Script } from "../../src/agent/models/script.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "./app.ts";

/** One task of a worker: its prompt is the description. */
const taskOf = (description: string, more: object = {}) => ({
  tool: "task_run",
  input: { description, prompt: description, agentTemplateId: "worker", ...more },
});

const REPLIES: Script["replies"] = [
  { when: { user: "^split the work$" }, call: [taskOf("look around"), taskOf("write a.txt"), taskOf("delegate b.txt")] },
  { when: { user: "^write in the background$" }, call: [taskOf("write c.txt", { background: true })] },
  { when: { user: "^fail and think$" }, call: [taskOf("fail"), taskOf("think")] },
  {
    when: { user: "^(?<count>start 60)$" },
    call: Array.from({ length: 60 }, (_none, index) => taskOf(`write file-${index}.txt`)),
  },
  { when: { user: "^look around" }, say: ["There is a folder."] },
  { when: { user: "^delegate (?<path>\\S+)" }, call: [taskOf("write {{path}}")] },
  { when: { user: "^write (?<path>\\S+)" }, call: [{ tool: "fs_write", input: { path: "{{path}}", content: "text" } }] },
  { when: { user: "^fail" }, say: ["I begin."], fail: "no such model" },
  { when: { user: "^think" }, call: [{ tool: "think", input: {} }] },
  { when: { result: "fs_write", isError: false }, say: ["It is written."] },
  { when: { result: "task_run" }, say: ["A worker said: {{result}}"] },
  { when: {}, say: ["All is done."] },
];

const TEMPLATES: Readonly<Record<string, TemplateConfig>> = {
  assistant: {
    systemPrompt: "You lead.",
    model: "test",
    selfApproval: true,
    permission: { mode: "auto" },
    subagents: { templates: ["worker"], depth: 2, atOnce: 64 },
  },
  worker: { systemPrompt: "You work.", model: "test", selfApproval: true, subagents: { templates: ["worker"] } },
};

/**
 * A server with a lead (`assistant`) and workers, which ask before they write. A worker that is to think calls the tool
 * `think`, which a test gives.
 */
export function startTeam(options: TestAppOptions = {}): Promise<TestApp> {
  return startTestApp({ ...options, ...TEAM, config: { ...TEAM.config, ...options.config } });
}

/** The options of such a server. */
export const TEAM = { script: { replies: REPLIES }, config: { templates: TEMPLATES } } satisfies TestAppOptions;
