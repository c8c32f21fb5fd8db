import { defineConfig, Type } from "triplane";

/**
 * The configuration of compose.yaml, to start from: one administrator, whose token's hash is in ADMIN_TOKEN_HASH, and agents that work
 * in one folder, which both servers have. Without a key for Claude a script stands in for it.
 */
export default defineConfig({
  models: {
    claude: {
      provider: "anthropic",
      model: "claude-sonnet-5-5",
      maxTokens: 8192,
      withoutKey: "../scripts/assistant.json",
    },
  },
  templates: {
    assistant: {
      model: "claude",
      systemPrompt: "You are a careful assistant.",
      permission: { mode: "approval", allow: ["fs_read", "fs_glob", "fs_grep"] },
      clientTools: {
        ask_user: {
          description: "Asks the person one question, and returns the answer.",
          inputSchema: Type.Object({ question: Type.String(), options: Type.Optional(Type.Array(Type.String())) }),
          readOnly: true,
        },
      },
    },
  },
  workspaceRoots: ["/srv/work"],
  defaultWorkspace: "/srv/work",
  actors: [
    {
      id: "admin",
      tokenHash: process.env["ADMIN_TOKEN_HASH"] ?? "",
      tenant: "local",
      roles: ["admin"],
    },
  ],
});
