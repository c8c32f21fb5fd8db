import SchemaBuilder from "@pothos/core";
import PrismaPlugin from "@pothos/plugin-prisma";
import RelayPlugin from "@pothos/plugin-relay";
import type { Json } from "../lib/json.ts";
import type { Context } from "../resolvers/context.ts";
import { mayReadNode } from "../resolvers/node.ts";
import { DEFAULT_PAGE, MAX_PAGE } from "../resolvers/page.ts";
import { getDatamodel } from "./generated/pothos.ts";
import type PrismaTypes from "./generated/pothos.ts";

/** The one builder of the schema. Types are in the files of their names. Fields are non-null unless they say otherwise. */
export const builder = new SchemaBuilder<{
  Context: Context;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    Cursor: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date | string };
    JSON: { Input: Json; Output: unknown };
    ID: { Input: string; Output: string };
  };
}>({
  plugins: [RelayPlugin, PrismaPlugin],
  defaultFieldNullability: false,
  relay: {
    clientMutationId: "omit",
    cursorType: "String",
    edgesFieldOptions: { nullable: { list: false, items: false } },
    nodeFieldOptions: { nullable: false },
    nodesOnConnection: true,
    nodesQueryOptions: false,
    nodeQueryOptions: {
      description: "Any object of the server by its id; null if it does not exist or may not be seen.",
      resolve: async (_root, { id }, context, _info, resolveNode) =>
        (await mayReadNode(context, id.typename, id.id)) ? resolveNode(id) : null,
    },
  },
  prisma: {
    client: (context) => context.prisma,
    dmmf: getDatamodel(),
    filterConnectionTotalCount: true,
    defaultConnectionSize: DEFAULT_PAGE,
    maxConnectionSize: MAX_PAGE,
  },
});

builder.queryType({ description: "What can be read." });
builder.mutationType({ description: "What can be changed. Expected failures come as `userErrors`." });
builder.subscriptionType({ description: "The planes of agents, live and from the past by one cursor." });
