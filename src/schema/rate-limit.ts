import type { RateLimit as State } from "../resolvers/rate-limit.ts";
import { builder } from "./builder.ts";

const RateLimit = builder.objectRef<State>("RateLimit").implement({
  description:
    "The viewer's budget of points on this server. Each operation is charged before it runs: about one point for each object that it may return.",
  fields: (t) => ({
    limit: t.exposeInt("limit", { description: "Points that are refilled each minute, and the maximum of the budget." }),
    cost: t.exposeInt("cost", { description: "Price of this operation in points." }),
    remaining: t.exposeInt("remaining", { description: "Points left after this operation." }),
    resetAt: t.expose("resetAt", {
      type: "DateTime",
      description: "Time at which the budget is full again without further operations.",
    }),
  }),
});

builder.queryField("rateLimit", (t) =>
  t.field({
    type: RateLimit,
    complexity: 0,
    description: "The viewer's budget of points on this server. Selecting it is free.",
    resolve: (_root, _args, context) => context.room.state(),
  }),
);
