import type { FieldComplexity, FieldComplexityValue } from "@pothos/plugin-complexity";
import {
  getArgumentValues,
  getNamedType,
  getNullableType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type InlineFragmentNode,
  type SelectionNode,
  type SelectionSetNode,
  type VariableValues,
  type GraphQLOutputType,
  type GraphQLSchema,
} from "graphql";
import { DEFAULT_PAGE, MAX_PAGE } from "../resolvers/connection.ts";

/** Entries assumed for a list without a page size. */
const USUAL_ENTRIES = 10;
/** Events assumed for a page of a subscription; many have fewer. */
export const USUAL_EVENTS = 20;
/** The price of a mutation without its payload: it writes, and may start an agent. */
const MUTATION = 10;

/** The arguments of a field that give its number of entries. */
type Sizes = { readonly first?: unknown; readonly last?: unknown };

/**
 * The price of a field without one of its own: one point for each object that is returned, and none for columns of a row. A
 * connection counts the entries of its page. (Static query cost, as GitHub's API counts nodes.)
 */
export function usualPrice(
  sizes: Sizes,
  { name, type }: { readonly name: string; readonly type: GraphQLOutputType },
): FieldComplexityValue {
  const named = getNamedType(type);
  if (isLeafType(named) || named.name === "PageInfo") return 0;
  if (named.name.endsWith("Connection")) return { field: 1, multiplier: sizeOf(sizes, DEFAULT_PAGE, MAX_PAGE) };
  if (named.name === "TimelinePage") return { field: 1, multiplier: USUAL_EVENTS };
  if (named.name.endsWith("Payload")) return MUTATION;
  if (!isListType(getNullableType(type))) return 1;
  // The surrounding page counts these entries.
  if (name === "nodes" || name === "edges" || name === "events") return { field: name === "edges" ? 0 : 1, multiplier: 1 };
  return entries(USUAL_ENTRIES);
}

/** The price of a list of `count` objects. */
export function entries(count: number): FieldComplexityValue {
  return { field: count, multiplier: count };
}

/** The size of an operation: its price in points, its depth, and its selections with all fragments spread. */
export type OperationSize = { readonly price: number; readonly depth: number; readonly selections: number };

/** The size of the only operation of a document, with the values of its variables. No fragment may spread itself. */
export function operationSize(
  schema: GraphQLSchema,
  { definitions }: DocumentNode,
  variables: VariableValues | null,
): OperationSize {
  const operation = definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  const root = operation === undefined ? undefined : schema.getRootType(operation.operation);
  if (operation === undefined || root === undefined || root === null) return NOTHING;
  const fragments = new Map(
    definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  );
  const size = new Sizing(schema, fragments, variables).ofSelections(operation.selectionSet, root);
  return { ...size, price: Math.ceil(size.price) };
}

const NOTHING: OperationSize = { price: 0, depth: 0, selections: 0 };

/** A field or a fragment, and the type whose fields it selects. */
type Part = { readonly on: GraphQLNamedType; readonly size: OperationSize };

/** Computes the size of one operation. Each part is visited once, however often its fragment is spread. */
class Sizing {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #variables: VariableValues | null;
  readonly #known = new Map<SelectionSetNode, Map<GraphQLNamedType, OperationSize>>();

  constructor(schema: GraphQLSchema, fragments: ReadonlyMap<string, FragmentDefinitionNode>, variables: VariableValues | null) {
    this.#schema = schema;
    this.#fragments = fragments;
    this.#variables = variables;
  }

  ofSelections(set: SelectionSetNode, type: GraphQLNamedType): OperationSize {
    const sizes = this.#known.get(set) ?? new Map<GraphQLNamedType, OperationSize>();
    this.#known.set(set, sizes);
    const known = sizes.get(type);
    if (known !== undefined) return known;
    const parts = set.selections.map((selection): Part => {
      const on = this.#typeOf(selection, type);
      return { on, size: selection.kind === Kind.FIELD ? this.#ofField(selection, type) : this.#ofFragment(selection, on) };
    });
    const found = {
      price: this.#dearest(parts, type),
      depth: parts.reduce((deepest, { size }) => Math.max(deepest, size.depth), 0),
      selections: parts.reduce((sum, { size }) => sum + size.selections, 0),
    };
    sizes.set(type, found);
    return found;
  }

  /** The price of the parts of one place. Of fragments on several types only the most expensive type counts: an object has one type. */
  #dearest(parts: readonly Part[], type: GraphQLNamedType): number {
    const sum = (of: readonly Part[]): number => of.reduce((total, { size }) => total + size.price, 0);
    if (!isAbstractType(type) || parts.every(({ on }) => on === type)) return sum(parts);
    const hasPart = (on: GraphQLNamedType, one: GraphQLObjectType): boolean =>
      on === one || (isAbstractType(on) && this.#schema.isSubType(on, one));
    return Math.max(...this.#schema.getPossibleTypes(type).map((one) => sum(parts.filter(({ on }) => hasPart(on, one)))));
  }

  /** The type whose fields are selected: that of the fragment's condition, or else the surrounding one. */
  #typeOf(selection: SelectionNode, around: GraphQLNamedType): GraphQLNamedType {
    const condition = selection.kind === Kind.FIELD ? undefined : this.#fragmentOf(selection)?.typeCondition;
    return (condition === undefined ? undefined : this.#schema.getType(condition.name.value)) ?? around;
  }

  #ofFragment(selection: FragmentSpreadNode | InlineFragmentNode, type: GraphQLNamedType): OperationSize {
    const fragment = this.#fragmentOf(selection);
    return fragment === undefined ? NOTHING : this.ofSelections(fragment.selectionSet, type);
  }

  #fragmentOf(selection: FragmentSpreadNode | InlineFragmentNode): FragmentDefinitionNode | InlineFragmentNode | undefined {
    return selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value);
  }

  /** No field has a negative price, whatever its arguments: it would pay for its neighbours. */
  #ofField(node: FieldNode, type: GraphQLNamedType): OperationSize {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
    // Introspection is priced elsewhere, by the number of its fields.
    if (field === undefined) return { price: 1, depth: 1, selections: 1 };
    const { own, times } = this.#priceOf(field, node);
    const below = node.selectionSet === undefined ? NOTHING : this.ofSelections(node.selectionSet, getNamedType(field.type));
    return {
      price: Math.max(0, own) + Math.max(0, times) * below.price,
      depth: 1 + below.depth,
      selections: 1 + below.selections,
    };
  }

  #priceOf(field: GraphQLField<unknown, unknown>, node: FieldNode): { readonly own: number; readonly times: number } {
    // The complexity plugin stores the declared price there.
    const declared = field.extensions["complexity"] as FieldComplexity<unknown, unknown> | undefined;
    const price =
      typeof declared === "function" ? declared(getArgumentValues(field, node, this.#variables), {}, field) : declared;
    const usual = isListType(getNullableType(field.type)) ? USUAL_ENTRIES : 1;
    if (typeof price === "number") return { own: price, times: usual };
    return { own: price?.field ?? 1, times: price?.multiplier ?? usual };
  }
}

/** The number of entries that the arguments request, bounded by 0 and `most`; `usual` if they give none. */
export function sizeOf({ first, last }: Sizes, usual: number, most: number): number {
  const size = first ?? last ?? usual;
  return typeof size === "number" ? Math.max(0, Math.min(size, most)) : usual;
}
