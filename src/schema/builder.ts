import SchemaBuilder from "@pothos/core";
import ComplexityPlugin from "@pothos/plugin-complexity";
import PrismaPlugin from "@pothos/plugin-prisma";
import RelayPlugin, { resolveNodes } from "@pothos/plugin-relay";
import { nodeIdOf } from "../lib/global-id.ts";
import type { Json } from "../lib/json.ts";
import { DEFAULT_PAGE, MAX_PAGE } from "../resolvers/connection.ts";
import type { Context } from "../resolvers/context.ts";
import { MOST_NODES, readNode, readNodes } from "../resolvers/node.ts";
import { entries, usualPrice } from "./price.ts";
import { getDatamodel } from "./generated/pothos.ts";
import type PrismaTypes from "./generated/pothos.ts";

/** The one builder of the schema. Types are in the files of their names. Fields are non-null unless they say otherwise. */
export const builder = new SchemaBuilder<{
  Context: Context;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  /** The fields that resolvers give of each connection besides those of Relay. */
  Connection: { readonly count: () => Promise<number> };
  Scalars: {
    Cursor: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date | string };
    JSON: { Input: Json; Output: unknown };
    ID: { Input: string; Output: string };
  };
}>({
  plugins: [RelayPlugin, PrismaPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  relay: {
    clientMutationId: "omit",
    cursorType: "String",
    decodeGlobalID: nodeIdOf,
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: "The entries of the page, each with its place in the list.",
    },
    nodeFieldOptions: { nullable: false, description: "The entry." },
    cursorFieldOptions: { description: "The place of the entry in the list: give it as `after` or `before`." },
    nodesOnConnection: { description: "The entries of the page." },
    idFieldOptions: { description: "The id of the object among all objects." },
    nodeTypeOptions: { description: "An object that `node` answers by its id." },
    // An id that nobody can read costs what another one does.
    nodeQueryOptions: {
      complexity: 1,
      description: "Any object of the server by its id; null if it does not exist or may not be seen.",
      args: { id: { description: "The `id` of any object." } },
      resolve: async (_root, { id }, context, _info, resolveNode) => readNode(context, id, () => resolveNode(id)),
    },
    nodesQueryOptions: {
      complexity: ({ ids }: { readonly ids?: readonly unknown[] | null }) => entries(Math.min(ids?.length ?? 0, MOST_NODES)),
      description:
        "Several objects by their ids, in that order; null for each that does not exist or may not be seen; at most 100.",
      args: { ids: { description: "The `id`s of any objects." } },
      // Pothos' own resolver (4.8) would resolve all ids of the field, and one that does not exist would fail them all.
      resolve: async (_root, { ids }, context, info): Promise<unknown[]> =>
        readNodes(context, ids, (readable) => resolveNodes(builder, context, info, [...readable])),
    },
    pageInfoTypeOptions: {
      description: "Where a page stands in its list.",
    },
    pageInfoFieldOptions: { description: "Where the page stands in the list." },
    hasNextPageFieldOptions: { description: "Whether more comes after the page." },
    hasPreviousPageFieldOptions: { description: "Whether more stands before the page." },
    startCursorFieldOptions: { description: "The place of the first entry of the page." },
    endCursorFieldOptions: { description: "The place of the last entry of the page: go on `after` it." },
    firstArgOptions: { description: `The first so many: 1 to ${MAX_PAGE}, ${DEFAULT_PAGE} if neither is given.` },
    lastArgOptions: { description: `The last so many: 1 to ${MAX_PAGE}.` },
    afterArgOptions: { description: "Only what stands after this place: the `endCursor` of the page before." },
    beforeArgOptions: { description: "Only what stands before this place: the `startCursor` of the page after." },
  },
  complexity: { fieldComplexity: (sizes, _context, field) => usualPrice(sizes, field) },
  prisma: { client: (context) => context.prisma, dmmf: getDatamodel() },
});

builder.queryType({ description: "What can be read." });
builder.mutationType({ description: "What can be changed. Expected failures come as `userErrors`." });
builder.subscriptionType({ description: "The planes of agents, live and from the past by one cursor." });
