import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { defineTool } from "../../src/agent/tools/tool.ts";
import { defineConfig } from "../../src/config.ts";
import { TRIAL_TOKEN } from "../processes.ts";

const NOTHING = { type: "object", required: [], properties: {} } as const;

/** Looks at something, and is done. */
const looks = defineTool<Record<string, never>>({
  name: "looks",
  description: "Looks at something.",
  readOnly: true,
  inputSchema: { ...NOTHING, required: [] },
  run: async () => ({ output: "seen", details: null }),
});

/** Reports far more than anybody can store, and waits for nothing. */
const chats = defineTool<Record<string, never>>({
  name: "chats",
  description: "Reports without end.",
  readOnly: true,
  inputSchema: { ...NOTHING, required: [] },
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
  models: {
    scripted: {
      provider: "scripted",
      script: {
        pace: { characters: 5, delayMs: 200 },
        replies: [
          { when: { user: "chat" }, call: [{ tool: "chats", input: {} }] },
          { when: { user: "long" }, say: ["word ".repeat(300)] },
          { when: { result: "looks" }, say: ["Done."] },
          {
            when: {},
            say: ["I look at it, and say meanwhile what I look at: one word after the other, as models like to do it."],
            call: [{ tool: "looks", input: {} }],
          },
        ],
      },
    },
  },
  actors: [{ id: "local", tokenHash: createHash("sha256").update(TRIAL_TOKEN).digest("hex"), tenant: "local", roles: ["admin"] }],
  workspaceRoots: [process.env["TRIPLANE_DATA_DIR"] ?? "."],
  tools: [looks, chats],
  toolLimits: { running: 200 },
  templates: {
    trial: { model: "scripted", systemPrompt: "x", selfApproval: true, toolTimeoutMs: 600_000, permission: { mode: "auto" } },
  },
});
