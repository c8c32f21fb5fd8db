import SchemaBuilder from "@pothos/core";
import type { ObjectRef } from "@pothos/core";
import ComplexityPlugin from "@pothos/plugin-complexity";
import PrismaPlugin from "@pothos/plugin-prisma";
import { queryFromInfo } from "@pothos/plugin-prisma";
import RelayPlugin, { resolveNodes } from "@pothos/plugin-relay";
import { GraphQLError, type GraphQLResolveInfo } from "graphql";
import { nodeIdOf } from "../lib/global-id.ts";
import { type Json, isNestedDeeper, MOST_LEVELS } from "../lib/json.ts";
import { readTime } from "../lib/time.ts";
import { snapshotCursor } from "../resolvers/agent.ts";
import { DEFAULT_PAGE, MAX_PAGE, MOST_COUNTED } from "../resolvers/connection.ts";
import type { Context } from "../resolvers/context.ts";
import { MOST_NODES, readNode, readNodes } from "../resolvers/node.ts";
import { getDatamodel } from "./generated/pothos.ts";
import type PrismaTypes from "./generated/pothos.ts";
import { entries, usualPrice } from "./price.ts";

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

builder.scalarType("Cursor", {
  description:
    'A position in the event log of a tenant: an opaque, sortable string. `"0"` is the earliest event kept. A cursor is valid for every argument of this type.',
  serialize: (cursor) => cursor,
  parseValue: (value) => {
    if (typeof value === "string") return value;
    throw new GraphQLError("a cursor must be a string returned by the server", { extensions: { code: "CURSOR_MALFORMED" } });
  },
});

builder.scalarType("DateTime", {
  description:
    "A time in ISO 8601, for example `2026-01-31T12:00:00Z`. Input needs date, time and zone, with a year from 1 to 9999. Output is in UTC with milliseconds.",
  serialize: (time) => new Date(time).toISOString(),
  parseValue: (value) => {
    const time = typeof value === "string" ? readTime(value) : null;
    if (time !== null) return time;
    throw new GraphQLError(
      "a DateTime must be an ISO 8601 string with a valid date, a time and a zone, for example 2026-01-31T12:00:00Z",
      { extensions: { code: "BAD_USER_INPUT" } },
    );
  },
});

builder.scalarType("JSON", {
  description: `Any JSON value. Input may be nested at most ${MOST_LEVELS} levels deep.`,
  serialize: (value) => value,
  parseValue: (value) => {
    const json = value as Json;
    if (!isNestedDeeper(json, MOST_LEVELS)) return json;
    throw new GraphQLError(`a JSON value may be nested at most ${MOST_LEVELS} levels deep`, {
      extensions: { code: "BAD_USER_INPUT" },
    });
  },
});

/** The values of an enum with their descriptions: TypeScript asks for every value of `Name`. */
export function described<Name extends string>(
  descriptions: Readonly<Record<Name, string>>,
): { readonly [Value in Name]: { readonly description: string } } {
  const values = Object.entries<string>(descriptions).map(([name, description]) => [name, { description }]);
  return Object.fromEntries(values) as { readonly [Value in Name]: { readonly description: string } };
}

/** The values of an enum that are written in lower case where they are stored. */
export function describedLower<Name extends string>(
  descriptions: Readonly<Record<Name, string>>,
): { readonly [Value in Name as Uppercase<Value>]: { readonly value: Value; readonly description: string } } {
  const values = Object.entries<string>(descriptions).map(([value, description]) => [
    value.toUpperCase(),
    { value, description },
  ]);
  return Object.fromEntries(values) as {
    readonly [Value in Name as Uppercase<Value>]: { readonly value: Value; readonly description: string };
  };
}

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

/** The Prisma selection that the operation needs for a connection's nodes, or for the entries of a list (no `paths`). */
export function nodesSelection(
  context: Context,
  info: GraphQLResolveInfo,
  paths: string[][] | null = [["nodes"], ["edges", "node"]],
) {
  const { select, include } = queryFromInfo({ context, info, ...(paths === null ? {} : { paths }) });
  return { ...(select === undefined ? {} : { select }), ...(include === undefined ? {} : { include }) };
}
