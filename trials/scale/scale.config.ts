import { setTimeout as delay } from "node:timers/promises";
import { defineConfig, defineTool } from "triplane";
import { speaking } from "../speaking.ts";

/** Looks at something for 3.6 s: a turn takes 8 s with it. */
const looks = defineTool<Record<string, never>>({
  name: "looks",
  description: "Looks at something.",
  readOnly: true,
  inputSchema: { type: "object", required: [], properties: {} },
  run: async (_input, { signal }) => {
    await delay(3_600, undefined, { signal });
    return { output: "seen", details: null };
  },
});

/** Every message is a turn: 20 deltas over 4 s, one call that reads, an answer. */
export default defineConfig({
  ...speaking([]),
  tools: [looks],
  toolLimits: { running: 1_000 },
  // What is measured is not what an actor may ask.
  rateLimit: { pointsPerMinute: 1_000_000_000, subscriptions: 1_000_000 },
  templates: { trial: { model: "scripted", systemPrompt: "x", selfApproval: true, permission: { mode: "auto" } } },
});
