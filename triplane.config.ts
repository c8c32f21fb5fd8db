import { existsSync } from "node:fs";
import { builtinTools, defineConfig, presets, sandboxAvailable, Type } from "triplane";

/** In a box an engineer works without asking; where there is none, it asks for all that changes something. */
const isBoxed = sandboxAvailable();

/** An MCP server of the registry. An install for production does not have it. */
const FILES_SERVER = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";

export default defineConfig({
  defaultWorkspace: "examples/workspace",
  models: {
    claude: { provider: "anthropic", model: "claude-sonnet-5-5", withoutKey: "examples/scripts/assistant.json" },
    engineer: { provider: "anthropic", model: "claude-sonnet-5-5", withoutKey: "examples/scripts/engineer.json" },
    team: { provider: "anthropic", model: "claude-sonnet-5-5", withoutKey: "examples/scripts/team.json" },
  },
  mcpServers: {
    // It works in the folder of the agent that calls (docs/mcp.md).
    files: {
      command: "node",
      args: [FILES_SERVER],
      roots: "told",
      disabled: !existsSync(new URL(FILES_SERVER, import.meta.url)),
      include: ["list_directory", "read_text_file", "write_file"],
      readOnlyTools: ["list_directory", "read_text_file"],
    },
  },
  templates: {
    assistant: {
      model: "claude",
      systemPrompt:
        "You are a careful software assistant. You work in one folder, with tools. Look before you answer, keep a todo list of what is to be done, and say briefly what you found and did.",
      // Without a list it would have the tools of MCP servers, too.
      tools: builtinTools,
      // Reading runs at once; everything else is asked for, and you may answer yourself.
      selfApproval: true,
      clientTools: {
        // The person answers: in the chat, and in both React apps.
        ask_user: {
          description: "Asks the person one question, and returns the answer. Give options if the likely answers are known.",
          inputSchema: Type.Object({
            question: Type.String({ minLength: 1, maxLength: 2_000 }),
            options: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 10 })),
          }),
          outputSchema: { type: "string", minLength: 1, maxLength: 4_000 },
          readOnly: true,
        },
      },
    },
    engineer: {
      model: "engineer",
      systemPrompt:
        "You are a careful software engineer. You work in one folder: read before you change, change as little as is needed, run the tests, and say briefly what you did.",
      tools: builtinTools,
      sandbox: isBoxed ? "required" : "none",
      permission: isBoxed ? presets.workspace : presets.askAll,
      toolTimeoutMs: 600_000,
      selfApproval: true,
    },
    // It only delegates: its workers read at once, and ask for everything else (docs/sub-agents.md).
    lead: {
      model: "team",
      systemPrompt:
        "You lead a team. Divide the work into independent parts, give each to a worker with all that it must know, and say briefly what came out.",
      tools: ["task_run"],
      subagents: { templates: ["worker"] },
      selfApproval: true,
    },
    worker: {
      model: "team",
      systemPrompt: "You do one task in one folder, with tools, and answer with its result in a few sentences.",
      tools: [...builtinTools, "mcp__files__*"],
      permission: { allow: ["mcp__files__list_directory", "mcp__files__read_text_file(path:*.md)"] },
      selfApproval: true,
    },
  },
});
