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
  /** Fields of connections beyond those of Relay. */
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
      description: "Entries of the page, each with its position in the list.",
    },
    nodeFieldOptions: { nullable: false, description: "The entry." },
    cursorFieldOptions: { description: "Position of the entry in the list, for `after` and `before`. Not a log cursor." },
    nodesOnConnection: { description: "Entries of the page." },
    idFieldOptions: { description: "Relay id, unique among all objects." },
    nodeTypeOptions: { description: "An object that can be fetched by its id with `node`." },
    // An id that cannot be read costs as much as any other.
    nodeQueryOptions: {
      complexity: 1,
      description: "Object by id. Null if it does not exist or the viewer may not see it.",
      args: { id: { description: "`id` of any object." } },
      resolve: async (_root, { id }, context, _info, resolveNode) => readNode(context, id, () => resolveNode(id)),
    },
    nodesQueryOptions: {
      complexity: ({ ids }: { readonly ids?: readonly unknown[] | null }) => entries(Math.min(ids?.length ?? 0, MOST_NODES)),
      description:
        "Objects by id, in the given order, at most 100. An entry is null if the object does not exist or the viewer may not see it.",
      args: { ids: { description: "`id`s of any objects, at most 100." } },
      // Pothos' own resolver (4.8) would resolve all ids of the field, and one that does not exist would fail them all.
      resolve: async (_root, { ids }, context, info): Promise<unknown[]> =>
        readNodes(context, ids, (readable) => resolveNodes(builder, context, info, [...readable])),
    },
    pageInfoTypeOptions: {
      description: "Position of a page within its list.",
    },
    pageInfoFieldOptions: { description: "Position of the page within the list." },
    hasNextPageFieldOptions: { description: "Whether entries follow the page." },
    hasPreviousPageFieldOptions: { description: "Whether entries precede the page." },
    startCursorFieldOptions: { description: "Position of the first entry of the page. Null if the page is empty." },
    endCursorFieldOptions: {
      description: "Position of the last entry of the page: pass it as `after` to read the next page. Null if the page is empty.",
    },
    firstArgOptions: {
      description: `Number of entries from the start of the list, 1 to ${MAX_PAGE}. ${DEFAULT_PAGE} if \`first\` and \`last\` are omitted.`,
    },
    lastArgOptions: {
      description: `Number of entries from the end of the list, 1 to ${MAX_PAGE}. Cannot be combined with \`first\`.`,
    },
    afterArgOptions: { description: "Return only entries after this position: the `endCursor` of the previous page." },
    beforeArgOptions: { description: "Return only entries before this position: the `startCursor` of the next page." },
  },
  complexity: { fieldComplexity: (sizes, _context, field) => usualPrice(sizes, field) },
  prisma: { client: (context) => context.prisma, dmmf: getDatamodel() },
});

builder.queryType({ description: "Queries read data." });
builder.mutationType({ description: "Mutations change data. Expected failures are returned in `userErrors` of the payload." });
builder.subscriptionType({ description: "Subscriptions deliver the events of agents, past and live, with one cursor for both." });
