import { getNamedType, isInterfaceType, isLeafType, isObjectType, type GraphQLObjectType } from "graphql";
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
        ? `${field.name} { ${selection(named, depth - 1)} }`
        : `${field.name} { __typename }`;
    })
    .join(" ");
}
