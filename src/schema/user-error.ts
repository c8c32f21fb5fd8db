import type { UserError as Failure } from "../resolvers/errors.ts";
import { builder } from "./builder.ts";
import { UserErrorCode } from "./enums.ts";

export const UserError = builder.objectRef<Failure>("UserError").implement({
  description: "An expected failure of a mutation.",
  fields: (t) => ({
    code: t.expose("code", { type: UserErrorCode, description: "Machine-readable reason." }),
    field: t.stringList({
      nullable: true,
      description: "Path of the input field that caused the failure. Null if no single field did.",
      resolve: (error) => (error.field === null ? null : [...error.field]),
    }),
    message: t.exposeString("message", { description: "Description of the problem and how to solve it." }),
  }),
});
