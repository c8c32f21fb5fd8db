import { setTimeout as delay } from "node:timers/promises";
import { defineConfig, defineTool, later } from "triplane";
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

/** Gets no result in its time. */
const waits = defineTool<{ readonly dueMs: number }>({
  name: "waits",
  description: "Waits.",
  readOnly: true,
  inputSchema: { type: "object", required: ["dueMs"], properties: { dueMs: { type: "number" } } },
  run: ({ dueMs }) => later({ dueMs }),
});

/** The times of the calls of one answer, in ms. */
const DUES_MS = Array.from({ length: 20 }, (_, index) => 2_000 + 300 * index);

/**
 * Every message is a turn: 20 deltas over 4 s, one call that reads, an answer. `long` is answered for a minute, longer than
 * any lease lasts that is not renewed; `chat` calls the tool that chats, `wait` one whose results do not come.
 */
export default defineConfig({
  ...speaking([
    { when: { user: "wait" }, call: DUES_MS.map((dueMs) => ({ tool: "waits", input: { dueMs } })) },
    { when: { user: "chat" }, call: [{ tool: "chats", input: {} }] },
    { when: { user: "long" }, say: ["word ".repeat(300)] },
  ]),
  tools: [looks, chats, waits],
  toolLimits: { running: 200 },
  templates: {
    trial: { model: "scripted", systemPrompt: "x", selfApproval: true, toolTimeoutMs: 600_000, permission: { mode: "auto" } },
  },
});
