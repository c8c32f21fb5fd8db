import { eventType, TimelineEvent } from "./event.ts";

eventType("TOOL_MANUAL_UPDATED").implement({
  description:
    "The sections of an agent's tools manual changed, or a tool came or changed after its list was fixed. A step tells the model.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    tools: t.stringList({
      description: "Names of the tools, in order, at most 50.",
      resolve: ({ body }) => [...body.tools],
    }),
  }),
});
