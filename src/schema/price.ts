import { complexityFromQuery, type FieldComplexityFunction, type FieldComplexityValue } from "@pothos/plugin-complexity";
import {
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  type DocumentNode,
  type GraphQLOutputType,
  type GraphQLSchema,
} from "graphql";
import { DEFAULT_PAGE, MAX_PAGE } from "../resolvers/connection.ts";

/** The entries that a list is priced by if nothing says how many it has. */
const USUAL_ENTRIES = 10;
/** The events that a page of a subscription is priced by: many come with less. */
const USUAL_EVENTS = 20;
/** The price of a mutation, besides what is read of its payload: it writes, and an agent may begin to work. */
const MUTATION = 10;

/** The arguments of a field, as far as they say how much is asked for. */
type Sizes = { readonly first?: unknown; readonly last?: unknown };

/**
 * The price of a field that names none of its own: a point for each object that is answered, and nothing for what stands in the
 * row. A connection has the entries of its page. (Static query cost, as GitHub's API counts nodes.)
 */
export function usualPrice(
  sizes: Sizes,
  { name, type }: { readonly name: string; readonly type: GraphQLOutputType },
): FieldComplexityValue {
  const named = getNamedType(type);
  if (isLeafType(named) || named.name === "PageInfo") return 0;
  if (named.name.endsWith("Connection")) return { field: 1, multiplier: sizeOf(sizes, DEFAULT_PAGE, MAX_PAGE) };
  if (named.name === "TimelinePage") return { field: 1, multiplier: sizeOf(sizes, USUAL_EVENTS, 500) };
  if (named.name.endsWith("Payload")) return MUTATION;
  if (!isListType(getNullableType(type))) return 1;
  // The page that stands around it counts its entries.
  if (name === "nodes" || name === "edges" || name === "events") return { field: name === "edges" ? 0 : 1, multiplier: 1 };
  return { field: 1, multiplier: USUAL_ENTRIES };
}

/**
 * The schema, in which no field costs less than nothing whatever its arguments are: a price below 0 would pay for the fields
 * beside it, and fill up the points of who asks.
 */
export function withPricesFromZero(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      // The plugin keeps the price of a field there.
      const price = field.extensions["complexity"] as FieldPrice | FieldComplexityValue;
      if (typeof price !== "function") continue;
      const fromZero: FieldPrice = (...of) => notNegative(price(...of));
      field.extensions = { ...field.extensions, complexity: fromZero };
    }
  }
  return schema;
}

type FieldPrice = FieldComplexityFunction<unknown, unknown>;

function notNegative(price: FieldComplexityValue): FieldComplexityValue {
  if (typeof price === "number") return Math.max(0, price);
  return price.field === undefined ? price : { ...price, field: Math.max(0, price.field) };
}

/** How large an operation is: its price in points, how deep it goes, and its selections when its fragments are spread. */
export type OperationSize = { readonly price: number; readonly depth: number; readonly selections: number };

/** The size of the one operation of a document, with values that fit its variables. */
export function operationSize(schema: GraphQLSchema, document: DocumentNode, variables: Record<string, unknown>): OperationSize {
  const { complexity, depth, breadth } = complexityFromQuery(document, { schema, variables });
  return { price: Math.ceil(complexity), depth, selections: breadth };
}

/** How much the arguments ask for: from 0 to `most`, whatever they say, and `usual` if they say nothing. */
export function sizeOf({ first, last }: Sizes, usual: number, most: number): number {
  const size = first ?? last ?? usual;
  return typeof size === "number" ? Math.max(0, Math.min(size, most)) : usual;
}
