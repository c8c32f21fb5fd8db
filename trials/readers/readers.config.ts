import { defineConfig } from "triplane";

/** The events are written by the trial: nothing is said. */
export default defineConfig({
  models: { scripted: { provider: "scripted", script: { replies: [{ when: {}, say: ["x"] }] } } },
  templates: { trial: { model: "scripted", systemPrompt: "x" } },
});
