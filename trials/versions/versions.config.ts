/** An agent speaks, looks at its list, and speaks again; or speaks for 2 s. */
export default {
  models: {
    scripted: {
      provider: "scripted",
      script: {
        pace: { characters: 4, delayMs: 5 },
        replies: [
          { when: { result: "todo_read" }, say: ["That is all that there is to say."] },
          { when: { user: "long" }, say: ["word ".repeat(300)] },
          { when: {}, say: ["I look at the list first."], call: [{ tool: "todo_read", input: {} }] },
        ],
      },
    },
  },
  templates: { trial: { model: "scripted", systemPrompt: "x", selfApproval: true, permission: { mode: "auto" } } },
};
