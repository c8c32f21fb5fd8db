import type { RateLimit as State } from "../resolvers/rate-limit.ts";
import { builder } from "./builder.ts";

const RateLimit = builder.objectRef<State>("RateLimit").implement({
  description:
    "The room that you have for operations on this server. An operation has a price before it runs: about a point for each object that it may answer.",
  fields: (t) => ({
    limit: t.exposeInt("limit", { description: "The points that you have a minute, and at most at once." }),
    cost: t.exposeInt("cost", { description: "The price of this operation." }),
    remaining: t.exposeInt("remaining", { description: "The points that you have left." }),
    resetAt: t.expose("resetAt", {
      type: "DateTime",
      description: "When you have all of them again, if you ask nothing until then.",
    }),
  }),
});

builder.queryField("rateLimit", (t) =>
  t.field({
    type: RateLimit,
    complexity: 0,
    description: "The room that you have for operations on this server.",
    resolve: (_root, _args, context) => context.room.state(),
  }),
);
