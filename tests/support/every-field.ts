import {
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
} from "graphql";
import { schema } from "../../src/schema/index.ts";

const event = schema.getType("TimelineEvent");

/** The types of all kinds of events. */
export const eventTypes = isInterfaceType(event) ? schema.getPossibleTypes(event) : [];

/**
 * A document that selects every field of every kind of event, and so many levels of the objects below them. An object below
 * is a fragment, as clients write it. Fields that all kinds have stand once, or at each kind.
 */
export function everyFieldOfEveryKind(levels: number, common: "once" | "at each" = "at each"): string {
  if (!isInterfaceType(event)) throw new Error("the contract has events");
  const fragments = new Map<string, string>();
  const shared = common === "once" ? selection(event, levels, fragments) : "";
  const leftOut = new Set(common === "once" ? Object.keys(event.getFields()) : []);
  const kinds = eventTypes.flatMap((type) => {
    const own = selection(type, levels, fragments, leftOut);
    return own === "" ? [] : [`... on ${type.name} { ${own} }`];
  });
  return [`{ timeline { events { ${[shared, ...kinds].join("\n")} } } }`, ...fragments.values()].join("\n");
}

/** All fields of a type but the left out, with those of the objects below it. */
function selection(
  type: GraphQLObjectType | GraphQLInterfaceType,
  depth: number,
  fragments: Map<string, string>,
  leftOut: ReadonlySet<string> = new Set(),
): string {
  return Object.values(type.getFields())
    .filter(({ name }) => !leftOut.has(name))
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
