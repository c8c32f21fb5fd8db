import type { FieldMap } from "@pothos/core";
import type { Payload } from "../resolvers/payload.ts";
import { builder } from "./builder.ts";
import { UserError } from "./user-error.ts";

type PayloadFields = PothosSchemaTypes.ObjectFieldBuilder<(typeof builder)["$inferSchemaTypes"], Payload>;

/** The payload type of a mutation: its own field, the cursor, and the expected failures. */
export function payloadType(name: string, own: (t: PayloadFields) => FieldMap) {
  return builder.objectRef<Payload>(name).implement({
    fields: (t) => ({
      ...own(t),
      cursor: t.expose("cursor", { type: "Cursor", description: "The log has come this far with it." }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => [...userErrors] }),
    }),
  });
}
