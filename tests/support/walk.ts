import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from "graphql";
import { schema } from "../../src/schema/index.ts";

/** Values for arguments and fields of inputs, by their names. */
export type Values = Readonly<Record<string, unknown>>;

/** Documents that together select every field below a root field, with the coordinates that each selects. */
export type Walk = { readonly field: string; readonly text: string; readonly coordinates: ReadonlySet<string> };

/** A document with more tokens than this is made in parts: the server takes 3,000. */
const MOST_TOKENS = 2_800;

const TOKEN = /\.\.\.|"[^"]*"|[\w-]+|[^\s,]/g;

/**
 * The documents of one query, so deep. An abstract type is walked by each of its types in turn: one document each. One
 * that is too large is made in parts, each with some of the fields of the root field's type, or of the types below it. No
 * document is there twice.
 */
export function walksOf(field: GraphQLField<unknown, unknown>, values: Values, depth: number): Walk[] {
  const choices = Math.max(1, ...abstractTypesOf(field.type).map((type) => schema.getPossibleTypes(type).length));
  const walks = Array.from({ length: choices }, (_, choice) => choice).flatMap((choice) =>
    inParts(field, values, { choice, depth }, []),
  );
  return [...new Map(walks.map((walk) => [walk.text, walk])).values()];
}

/** Of the fields of the types of one level, every `of`-th from the place `first` on. */
type Part = { readonly first: number; readonly of: number };

/** More than the fields of any type. */
const MOST_FIELDS = 64;

function inParts(
  field: GraphQLField<unknown, unknown>,
  values: Values,
  walk: Pick<Walking, "choice" | "depth">,
  parts: readonly Part[],
): Walk[] {
  const coordinates = new Set<string>();
  const text = `query { ${selected(field, values, { ...walk, coordinates, within: [], parts })} }`;
  if ((text.match(TOKEN) ?? []).length <= MOST_TOKENS) return [{ field: field.name, text, coordinates }];
  const { first, of } = parts.at(-1) ?? { first: 0, of: 1 };
  const isSplit = of >= MOST_FIELDS;
  const upper = isSplit ? parts : parts.slice(0, -1);
  const halves: readonly Part[] = isSplit
    ? [
        { first: 0, of: 2 },
        { first: 1, of: 2 },
      ]
    : [
        { first, of: of * 2 },
        { first: first + of, of: of * 2 },
      ];
  return halves.flatMap((half) => inParts(field, values, walk, [...upper, half]));
}

/** A mutation with an input that has every field of it for which there is a value, or that must be given; all of its payload, so deep. */
export function mutationOf(field: GraphQLField<unknown, unknown>, values: Values, depth: number): string {
  return `mutation { ${selected(field, values, { choice: 0, depth, coordinates: new Set(), within: [], parts: [] })} }`;
}

type Walking = {
  readonly choice: number;
  readonly depth: number;
  readonly coordinates: Set<string>;
  readonly within: readonly string[];
  /** The fields of the upper levels that are selected; all of those of the others. */
  readonly parts: readonly Part[];
};

function selected(field: GraphQLField<unknown, unknown>, values: Values, walking: Walking): string {
  const { type, name } = field;
  const given = argumentsOf(field, values);
  if (isLeafType(getNamedType(type))) return `${name}${given}`;
  const inner = selectionOf(type, values, walking);
  return inner === "" ? "" : `${name}${given} { ${inner} }`;
}

function selectionOf(type: GraphQLOutputType, values: Values, walking: Walking): string {
  const named = getNamedType(type);
  if (isAbstractType(named)) {
    const possible = schema.getPossibleTypes(named);
    const chosen = possible[walking.choice % possible.length];
    return chosen === undefined ? "" : `__typename ... on ${chosen.name} { ${fieldsOf(chosen, values, walking)} }`;
  }
  return isObjectType(named) ? fieldsOf(named, values, walking) : "";
}

function fieldsOf(type: GraphQLObjectType, values: Values, walking: Walking): string {
  const { depth, coordinates, within, parts } = walking;
  const { first, of } = parts[within.length] ?? { first: 0, of: 1 };
  const isAgain = within.includes(type.name) || within.length >= depth;
  const inner: Walking = { ...walking, within: [...within, type.name] };
  const fields = Object.values(type.getFields()).filter((field, index) => {
    if (index % of !== first) return false;
    const isLeaf = isLeafType(getNamedType(field.type));
    return (isLeaf || !isAgain) && field.args.every((arg) => !isNonNullType(arg.type) || arg.name in values);
  });
  return fields
    .map((field) => {
      coordinates.add(`${type.name}.${field.name}`);
      return selected(field, values, inner);
    })
    .concat("__typename")
    .join(" ");
}

function abstractTypesOf(type: GraphQLOutputType, seen = new Set<string>()): GraphQLAbstractType[] {
  const named = getNamedType(type);
  if (seen.has(named.name)) return [];
  seen.add(named.name);
  if (isAbstractType(named)) {
    const inner = schema.getPossibleTypes(named).flatMap((each) => abstractTypesOf(each, seen));
    return [named, ...inner];
  }
  if (!isObjectType(named)) return [];
  return Object.values(named.getFields()).flatMap((field): ReturnType<typeof abstractTypesOf> =>
    abstractTypesOf(field.type, seen),
  );
}

/** The arguments of a field: a value for `field.argument` goes before one for the argument's name. */
function argumentsOf(field: GraphQLField<unknown, unknown>, values: Values): string {
  const given = field.args.flatMap(({ name, type }) => {
    const own = `${field.name}.${name}`;
    if (own in values) return [`${name}: ${literal(values[own], type)}`];
    if (name in values && !(name === "input" && isInputObjectType(getNamedType(type))))
      return [`${name}: ${literal(values[name], type)}`];
    return isNonNullType(type) ? [`${name}: ${required(type, values)}`] : [];
  });
  return given.length === 0 ? "" : `(${given.join(", ")})`;
}

/** A value of an input type: an object has each of its fields for which there is a value, or that must be given. */
function required(type: GraphQLInputType, values: Values): string {
  const named = getNamedType(type);
  if (isListType(getNullableType(type))) return `[${required(named, values)}]`;
  if (isEnumType(named)) return named.getValues()[0]?.name ?? "";
  if (named.name === "Boolean") return "true";
  if (named.name === "Int") return "1";
  if (!isInputObjectType(named)) return literal("x", type);
  const [first] = Object.values(named.getFields());
  if (named.isOneOf && first !== undefined) return `{ ${first.name}: ${required(first.type, values)} }`;
  const fields = Object.values(named.getFields()).flatMap(({ name, type: inner }) => {
    if (name in values) return [`${name}: ${literal(values[name], inner)}`];
    return isNonNullType(inner) ? [`${name}: ${required(inner, values)}`] : [];
  });
  return `{ ${fields.join(", ")} }`;
}

function literal(value: unknown, type: GraphQLInputType): string {
  if (isEnumType(getNamedType(type))) return String(value);
  return JSON.stringify(value).replaceAll(/"(\w+)":/g, "$1: ");
}
