import { setTimeout as delay } from "node:timers/promises";
import { defineConfig, defineTool } from "triplane";
import { speaking } from "../speaking.ts";

/** Looks at something, and is done. */
const looks = defineTool<Record<string, never>>({
  name: "looks",
  description: "Looks at something.",
  readOnly: true,
  inputSchema: { type: "object", required: [], properties: {} },
  run: async () => ({ output: "seen", details: null }),
});

/** Reports far more than anybody can store, and waits for nothing. */
const chats = defineTool<Record<string, never>>({
  name: "chats",
  description: "Reports without end.",
  readOnly: true,
  inputSchema: { type: "object", required: [], properties: {} },
  run: async (_input, { emit, signal }) => {
    while (!signal.aborted) {
      for (let index = 0; index < 8_000; index += 1) void emit("chat", { index });
      await delay(500);
    }
    return { output: "enough", details: null };
  },
});

/**
 * Every message is a turn: 20 deltas over 4 s, one call that reads, an answer. `long` is answered for a minute, longer than
 * any lease lasts that is not renewed; `chat` calls the tool that chats.
 */
export default defineConfig({
  ...speaking([
    { when: { user: "chat" }, call: [{ tool: "chats", input: {} }] },
    { when: { user: "long" }, say: ["word ".repeat(300)] },
  ]),
  tools: [looks, chats],
  toolLimits: { running: 200 },
  templates: {
    trial: { model: "scripted", systemPrompt: "x", selfApproval: true, toolTimeoutMs: 600_000, permission: { mode: "auto" } },
  },
});
