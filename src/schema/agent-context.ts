import type { ContextMeter } from "../agent/conversation/context-meter.ts";
import { builder } from "./builder.ts";

export const AgentContext = builder.objectRef<ContextMeter>("AgentContext").implement({
  description: "Size of an agent's context: the system prompt, the tools, and the messages that its model reads.",
  fields: (t) => ({
    tokens: t.exposeInt("tokens", {
      nullable: true,
      description: "Tokens after the newest answer or compaction, about. Null before the first answer.",
    }),
    window: t.exposeInt("window", {
      nullable: true,
      description:
        "Tokens of the model's context window at the newest answer, or `context.maxTokens` of the template if that is smaller. Null if unknown.",
    }),
    compactedAt: t.expose("compactedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of the newest compaction. Null if there was none.",
    }),
  }),
});
