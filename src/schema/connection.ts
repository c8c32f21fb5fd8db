import type { ObjectRef } from "@pothos/core";
import { queryFromInfo } from "@pothos/plugin-prisma";
import type { GraphQLResolveInfo } from "graphql";
import { snapshotCursor } from "../resolvers/agent.ts";
import { MOST_COUNTED } from "../resolvers/connection.ts";
import type { Context } from "../resolvers/context.ts";
import { builder } from "./builder.ts";

/** The connection and edge types of a node type, with its place in the log: query, then subscribe since it. */
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
            "The rows are as of here in the log: follow since it to hear what changes. In an order by a key that moves, what has moved meanwhile is found so.",
          resolve: (_connection, _args, context) => snapshotCursor(context),
        }),
        totalCount: t.int({
          complexity: 1,
          description: `How many entries the whole list has, counted up to ${MOST_COUNTED}: that many means so many at least.`,
          resolve: (connection) => connection.count(),
        }),
      }),
    },
    { name: `${name}Edge`, description: "An entry of a page, and its place in the list." },
  );
}

/** The selection that Prisma must read of a connection's nodes for the operation. */
export function nodesSelection(context: Context, info: GraphQLResolveInfo) {
  const { select, include } = queryFromInfo({ context, info, paths: [["nodes"], ["edges", "node"]] });
  return { ...(select === undefined ? {} : { select }), ...(include === undefined ? {} : { include }) };
}
