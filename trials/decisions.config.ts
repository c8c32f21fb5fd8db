import { defineConfig } from "triplane";

/** Calls of one answer: each asks. */
const CALLS = 10;

/** Every message makes the agent ask for so many calls. */
export default defineConfig({
  models: {
    asks: {
      provider: "scripted",
      script: {
        replies: [
          { when: { user: "ask" }, call: Array.from({ length: CALLS }, () => ({ tool: "todo_write", input: { todos: [] } })) },
          { when: {}, say: ["Done."] },
        ],
      },
    },
  },
  templates: { asks: { model: "asks", systemPrompt: "x", permission: { mode: "approval" }, selfApproval: true } },
});
