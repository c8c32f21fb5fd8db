import type { ObjectRef } from "@pothos/core";
import { snapshotCursor } from "../resolvers/agent.ts";
import { builder } from "./builder.ts";

/** The connection and edge types of a node type, with the snapshot's cursor: query, then subscribe since it. */
export function connectionOf<Row extends object>(name: string, type: ObjectRef<(typeof builder)["$inferSchemaTypes"], Row>) {
  return builder.connectionObject(
    {
      type,
      name: `${name}Connection`,
      fields: (t) => ({
        cursor: t.field({
          type: "Cursor",
          description: "The snapshot's cursor: subscribe since it.",
          resolve: (_connection, _args, context) => snapshotCursor(context),
        }),
      }),
    },
    { name: `${name}Edge` },
  );
}
