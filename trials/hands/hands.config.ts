import { createHash } from "node:crypto";
import { defineConfig } from "triplane";
import { TRIAL_TOKEN } from "../processes.ts";

/** Agents that run what they are told: "run COMMAND" runs a command line, and the answer is what it said. */
export default defineConfig({
  models: {
    scripted: {
      provider: "scripted",
      script: {
        replies: [
          { when: { result: "bash_run" }, say: ["{{result}}"] },
          { when: { user: "^run (?<command>[\\s\\S]+)$" }, call: [{ tool: "bash_run", input: { command: "{{command}}" } }] },
          { when: {}, say: ["Done."] },
        ],
      },
    },
  },
  actors: [{ id: "local", tokenHash: createHash("sha256").update(TRIAL_TOKEN).digest("hex"), tenant: "local", roles: ["admin"] }],
  workspaceRoots: [process.env["TRIAL_WORKSPACES"] ?? "."],
  templates: {
    trial: {
      model: "scripted",
      systemPrompt: "x",
      selfApproval: true,
      toolTimeoutMs: 600_000,
      permission: { mode: "auto" },
    },
  },
});
