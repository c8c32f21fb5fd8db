import { defineConfig } from "triplane";

/** The events are written by the trial: nothing is said. */
export default defineConfig({
  models: { scripted: { provider: "scripted", script: { replies: [{ when: {}, say: ["x"] }] } } },
  // What is measured is not what an actor may ask.
  rateLimit: { pointsPerMinute: 1_000_000_000, subscriptions: 1_000_000 },
  templates: { trial: { model: "scripted", systemPrompt: "x" } },
});
