import type { ObjectRef } from "@pothos/core";
import { queryFromInfo } from "@pothos/plugin-prisma";
import type { GraphQLResolveInfo } from "graphql";
import { snapshotCursor } from "../resolvers/agent.ts";
import { MOST_COUNTED } from "../resolvers/connection.ts";
import type { Context } from "../resolvers/context.ts";
import { builder } from "./builder.ts";

/** The connection and edge types of a node type. `asOf` is the log position of the read. */
export function connectionOf<Row extends object>(name: string, type: ObjectRef<(typeof builder)["$inferSchemaTypes"], Row>) {
  return builder.connectionObject(
    {
      type,
      name: `${name}Connection`,
      description: "A page of a list.",
      fields: (t) => ({
        asOf: t.field({
          type: "Cursor",
          description:
            "Log position at which the list was read: subscribe `since` it to receive later changes. This also reveals entries that moved between pages because their sort key changed.",
          resolve: (_connection, _args, context) => snapshotCursor(context),
        }),
        totalCount: t.int({
          complexity: 1,
          description: `Number of entries in the whole list, counted up to ${MOST_COUNTED}. This value means that many or more.`,
          resolve: (connection) => connection.count(),
        }),
      }),
    },
    { name: `${name}Edge`, description: "An entry of a page, with its position in the list." },
  );
}

/** The Prisma selection that the operation needs for a connection's nodes. */
export function nodesSelection(context: Context, info: GraphQLResolveInfo) {
  const { select, include } = queryFromInfo({ context, info, paths: [["nodes"], ["edges", "node"]] });
  return { ...(select === undefined ? {} : { select }), ...(include === undefined ? {} : { include }) };
}
