import { createHash } from "node:crypto";
import { defineConfig, sandboxAvailable } from "triplane";
import { TRIAL_TOKEN } from "../processes.ts";

const template = {
  model: "scripted",
  systemPrompt: "x",
  selfApproval: true,
  toolTimeoutMs: 600_000,
  permission: { mode: "auto", autoAllowTools: ["bash_run"] },
};

const boxed = {
  ...template,
  sandbox: "required" as const,
  permission: { ...template.permission, deny: ["fs_read(path:/denied)"], allow: ["fs_write(path:/.git/hooks)"] },
};

/** The port that names of the trial's own network are asked at. */
const port = process.env["TRIAL_PORT"] ?? "80";

/** Agents that do what they are told: "run COMMAND", "start COMMAND" in the background, "logs SHELL", "try COMMAND" with the file tools beside. */
export default defineConfig({
  models: {
    scripted: {
      provider: "scripted",
      script: {
        replies: [
          { when: { result: "bash_run" }, say: ["{{result}}"] },
          { when: { result: "bash_logs" }, say: ["{{result}}"] },
          { when: { user: "^run (?<command>.+)$" }, call: [{ tool: "bash_run", input: { command: "{{command}}" } }] },
          {
            when: { user: "^start (?<command>.+)$" },
            call: [{ tool: "bash_run", input: { command: "{{command}}", background: true } }],
          },
          { when: { user: "^logs (?<shell>.+)$" }, call: [{ tool: "bash_logs", input: { shell_id: "{{shell}}" } }] },
          {
            when: { user: "^try (?<command>.+)$" },
            call: [
              { tool: "bash_run", input: { command: "{{command}}" } },
              { tool: "fs_write", input: { path: ".git/hooks/pre-commit", content: "written" } },
              { tool: "fs_read", input: { path: ".git/hooks/pre-commit" } },
              { tool: "fs_write", input: { path: "notes/today.txt", content: "written" } },
              { tool: "fs_read", input: { path: "notes/today.txt" } },
            ],
          },
          { when: {}, say: ["Done."] },
        ],
      },
    },
  },
  actors: [{ id: "local", tokenHash: createHash("sha256").update(TRIAL_TOKEN).digest("hex"), tenant: "local", roles: ["admin"] }],
  workspaceRoots: [process.env["TRIAL_WORKSPACES"] ?? "."],
  templates: {
    unboxed: template,
    ...(sandboxAvailable() ? { boxed } : {}),
  },
  sandbox: { hosts: [`*.example:${port}`] },
});
