import type { Awaited as Found } from "../agent/loop/waiting-for.ts";
import { globalId } from "../lib/global-id.ts";
import { Agent } from "./agent.ts";
import { builder, described } from "./builder.ts";

const MOST_AWAITED = 100;

const AwaitedKind = builder.enumType("AwaitedKind", {
  description: "Type of an object that an agent waits for.",
  values: described<"AGENT" | "APPROVAL">({ AGENT: "An agent below it.", APPROVAL: "A question to a person." }),
});

const Awaited = builder.objectRef<Found>("Awaited").implement({
  description: "An object that `waitingFor` of an agent names.",
  fields: (t) => ({
    id: t.id({ description: "Relay id of the object.", resolve: ({ kind, id }) => globalId(kind, id) }),
    kind: t.field({
      type: AwaitedKind,
      description: "Type of the object.",
      resolve: ({ kind }) => (kind === "Agent" ? "AGENT" : "APPROVAL"),
    }),
    name: t.exposeString("name", { description: "Its name in `waitingFor`, for example `fs_write`." }),
  }),
});

builder.prismaObjectField(Agent, "awaited", (t) =>
  t.field({
    type: [Awaited],
    complexity: 1,
    description: "Questions and agents that `waitingFor` names, in order, at most 100. Empty if it names none.",
    select: { id: true },
    resolve: async ({ id }, _args, { loaders }) => (await loaders.standstills.load(id))?.awaited.slice(0, MOST_AWAITED) ?? [],
  }),
);
