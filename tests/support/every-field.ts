import {
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLObjectType,
} from "graphql";
import { schema } from "../../src/schema/index.ts";

const event = schema.getType("TimelineEvent");

/** The types of all kinds of events. */
export const eventTypes = isInterfaceType(event) ? schema.getPossibleTypes(event) : [];

/**
 * A document that selects every field of every kind of event, and so many levels of the objects below them. An object below
 * is a fragment, as clients write it: the validation compares fields of equal fragments once.
 */
export function everyFieldOfEveryKind(levels: number): string {
  const fragments = new Map<string, string>();
  const kinds = eventTypes.map((type) => `... on ${type.name} { ${selection(type, levels, fragments)} }`);
  return [`{ timeline { events { ${kinds.join("\n")} } } }`, ...fragments.values()].join("\n");
}

/** All fields of an object, with those of the objects below it. */
function selection(type: GraphQLObjectType, depth: number, fragments: Map<string, string>): string {
  return Object.values(type.getFields())
    .map((field) => {
      const named = getNamedType(field.type);
      if (isLeafType(named)) return field.name;
      if (!isObjectType(named) || depth === 0) return `${called(field)} { __typename }`;
      const name = `${named.name}Level${depth}`;
      if (!fragments.has(name))
        fragments.set(name, `fragment ${name} on ${named.name} { ${selection(named, depth - 1, fragments)} }`);
      return `${called(field)} { ...${name} }`;
    })
    .join(" ");
}

/** A field with the arguments that it requires: whole numbers and texts. */
function called({ name, args }: GraphQLField<unknown, unknown>): string {
  const given = args
    .filter(isRequiredArgument)
    .map((argument) => `${argument.name}: ${getNamedType(argument.type).name === "Int" ? "1" : '"1"'}`);
  return given.length === 0 ? name : `${name}(${given.join(", ")})`;
}
