import { createHash } from "node:crypto";
import { defineConfig } from "triplane";
import { TRIAL_TOKEN } from "../processes.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Every message makes the agent ask, for seven days; events are kept for ninety. */
export default defineConfig({
  models: {
    asks: {
      provider: "scripted",
      script: {
        replies: [
          { when: { user: "ask" }, call: [{ tool: "todo_write", input: { todos: [] } }] },
          { when: {}, say: ["Done."] },
        ],
      },
    },
  },
  templates: {
    trial: {
      model: "asks",
      systemPrompt: "x",
      permission: { mode: "approval" },
      selfApproval: true,
      approvalExpiresMs: 7 * 24 * 60 * 60 * 1_000,
    },
  },
  workspaceRoots: [process.env["TRIAL_WORKSPACE"] ?? ""],
  defaultWorkspace: process.env["TRIAL_WORKSPACE"] ?? "",
  retention: { eventsDays: 90, deltasDays: 7, outputsDays: 30 },
  actors: [
    { id: "local", tokenHash: sha256(TRIAL_TOKEN), tenant: "local", roles: ["admin"] },
    { id: "vera", tokenHash: sha256("vera"), tenant: "local", roles: ["viewer"] },
  ],
});
