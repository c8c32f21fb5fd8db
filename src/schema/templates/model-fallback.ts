import type { Template as Configured } from "../../agent/loop/scope.ts";
import { modelNamed } from "../../resolvers/template.ts";
import { builder } from "../builder.ts";
import { ModelErrorKind } from "../turns/inputs.ts";
import { Model, Template } from "./template.ts";

const ModelFallback = builder.objectRef<Configured["fallbacks"][number]>("ModelFallback").implement({
  description: "Model that answers the rest of a turn after certain failures.",
  fields: (t) => ({
    model: t.field({
      type: Model,
      nullable: true,
      description: "The model. Null if it is not configured.",
      resolve: ({ model }, _args, context) => modelNamed(context, model),
    }),
    on: t.field({
      type: [ModelErrorKind],
      description: "Failures after which it answers.",
      resolve: ({ on }) => [...on],
    }),
  }),
});

builder.objectField(Template, "fallbacks", (t) =>
  t.field({
    type: [ModelFallback],
    description: "Models that answer the rest of a turn after the named failures, in order, at most 10, before `fallbackModel`.",
    resolve: ({ configured }) => [...(configured?.fallbacks ?? [])],
  }),
);
