import type { UserError as Failure } from "../resolvers/errors.ts";
import { builder } from "./builder.ts";
import { UserErrorCode } from "./enums.ts";

export const UserError = builder.objectRef<Failure>("UserError").implement({
  description: "An expected failure of a mutation.",
  fields: (t) => ({
    code: t.expose("code", { type: UserErrorCode, description: "Why, for programs." }),
    field: t.stringList({
      nullable: true,
      description: "The part of the input that it is about.",
      resolve: (error) => (error.field === null ? null : [...error.field]),
    }),
    message: t.exposeString("message", { description: "What is wrong and what to do." }),
  }),
});
