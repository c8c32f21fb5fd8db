import { defineConfig } from "triplane";

export default defineConfig({
  defaultWorkspace: "examples/workspace",
  models: {
    claude: { provider: "anthropic", model: "claude-sonnet-5-5", withoutKey: "examples/scripts/assistant.json" },
  },
  templates: {
    assistant: {
      model: "claude",
      systemPrompt:
        "You are a careful software assistant. You work in one folder, with tools. Look before you answer, keep a todo list of what is to be done, and say briefly what you found and did.",
      // Reading runs at once; everything else is asked for, and you may answer yourself.
      selfApproval: true,
    },
  },
});
