import type { Template as Configured } from "../agent/loop/scope.ts";
import type { ModelErrorKind } from "../agent/models/model.ts";
import { modelNamed } from "../resolvers/template.ts";
import { builder, describedLower } from "./builder.ts";
import { Model, Template } from "./template.ts";

const ModelErrorKindEnum = builder.enumType("ModelErrorKind", {
  description: "Kind of a failed model call.",
  values: describedLower<ModelErrorKind>({
    rate_limited: "The provider limits requests.",
    overloaded: "The provider is overloaded.",
    unavailable: "The provider cannot be reached, or has an error of its own.",
    silent: "The answer stopped for longer than `modelIdleMs`.",
    broken: "The answer broke off.",
    empty: "The answer is empty.",
    too_long: "The context window is full.",
    rejected: "The provider rejects the request.",
    refused: "The model refuses to answer.",
  }),
});

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
      type: [ModelErrorKindEnum],
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
