import { eventType, TimelineEvent } from "./event.ts";

eventType("TOOL_MANUAL_UPDATED").implement({
  description:
    "The sections of an agent's tools manual changed: a tool with a section came, changed it, or went. A step tells the model.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    tools: t.stringList({
      description: "Names of the tools, in order, at most 50.",
      resolve: ({ body }) => [...body.tools],
    }),
  }),
});
