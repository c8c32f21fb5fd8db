import type { FieldMap } from "@pothos/core";
import type { UserError as Failure, Payload } from "../resolvers/context.ts";
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

/** The fields that every payload has. */
type Reached = Pick<Payload, "cursor" | "userErrors">;

/** The builder of a payload's own fields. */
export type PayloadFields<Shape extends Reached = Payload> = PothosSchemaTypes.ObjectFieldBuilder<
  (typeof builder)["$inferSchemaTypes"],
  Shape
>;

/** The payload type of a mutation: its own field, the cursor, and the expected failures. */
export function payloadType<Shape extends Reached = Payload>(name: string, own: (t: PayloadFields<Shape>) => FieldMap) {
  return builder.objectRef<Shape>(name).implement({
    description: "Result of the mutation.",
    fields: (t) => ({
      ...own(t),
      cursor: t.field({
        type: "Cursor",
        description: "Log position that includes the effects of the mutation. Subscribe `since` it to receive every later event.",
        resolve: ({ cursor }) => cursor,
      }),
      userErrors: t.field({
        type: [UserError],
        description: "Why the mutation failed. Empty if it succeeded.",
        resolve: ({ userErrors }) => [...userErrors],
      }),
    }),
  });
}
