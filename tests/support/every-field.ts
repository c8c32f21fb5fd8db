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

/** A document that selects every field of every kind of event, and so many levels of the objects below them. */
export function everyFieldOfEveryKind(levels: number): string {
  return `{ timeline { events { ${eventTypes.map((type) => `... on ${type.name} { ${selection(type, levels)} }`).join("\n")} } } }`;
}

/** All fields of an object, with those of the objects below it. */
function selection(type: GraphQLObjectType, depth: number): string {
  return Object.values(type.getFields())
    .map((field) => {
      const named = getNamedType(field.type);
      if (isLeafType(named)) return field.name;
      return isObjectType(named) && depth > 0
        ? `${called(field)} { ${selection(named, depth - 1)} }`
        : `${called(field)} { __typename }`;
    })
    .join(" ");
}

/** A field with the arguments that it requires: all are whole numbers. */
function called({ name, args }: GraphQLField<unknown, unknown>): string {
  const given = args.filter(isRequiredArgument).map((argument) => `${argument.name}: 1`);
  return given.length === 0 ? name : `${name}(${given.join(", ")})`;
}
