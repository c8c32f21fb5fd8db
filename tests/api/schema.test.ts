import {
  buildSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  parse,
  validate,
  type GraphQLArgument,
  type GraphQLNamedType,
} from "graphql";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { CHANNEL_OF, EVENT_KINDS } from "../../src/events/event.ts";
import { schema } from "../../src/schema/index.ts";
import { eventTypes, everyFieldOfEveryKind } from "../support/every-field.ts";

/** Kinds whose type is not the kind in Pascal case: it would shadow a global of clients, or take another type's noun. */
const NAMES: Readonly<Record<string, string>> = { ERROR: "ErrorRaised", TOKEN_USAGE: "TokensUsed" };

describe("the contract", () => {
  it("has one object type for every kind of event, named after it", () => {
    const pascal = (kind: string): string =>
      kind
        .split("_")
        .map((word) => word.slice(0, 1) + word.slice(1).toLowerCase())
        .join("");
    expect(eventTypes.map((type) => type.name).toSorted()).toEqual(
      EVENT_KINDS.map((kind) => NAMES[kind] ?? pascal(kind)).toSorted(),
    );
    expect(Object.keys(CHANNEL_OF)).toHaveLength(eventTypes.length);
  });

  it("gives one field name one type and nullability across all kinds: one document selects every field of every kind", () => {
    expect(validate(schema, parse(everyFieldOfEveryKind(1)))).toEqual([]);
  });

  it("has no node among the snapshots that events carry", () => {
    for (const name of ["ToolCallSnapshot", "ApprovalSnapshot", "AllowRuleSnapshot", "DelegationSnapshot"]) {
      const type = schema.getType(name);
      expect(isObjectType(type) && type.getInterfaces().map((implemented) => implemented.name)).toEqual([]);
      expect(isObjectType(type) && Object.keys(type.getFields())).not.toContain("id");
    }
  });

  it("has the fixed names of the design, with the types and nullability that it gives them", async () => {
    const design = buildSchema(await readFile(new URL("./design.graphql", import.meta.url), "utf8"));
    const missing = Object.values(design.getTypeMap())
      .filter(({ name }) => !name.startsWith("__"))
      .flatMap((type) => missingOf(type));
    expect(missing).toEqual([]);
  });
});

/** The differences of the schema from a type of the design. */
function missingOf(wanted: GraphQLNamedType): readonly string[] {
  const type = schema.getType(wanted.name);
  if (type === undefined) return [wanted.name];
  if (isEnumType(wanted))
    return wanted.getValues().flatMap(({ name }) => (isEnumType(type) && type.getValue(name) ? [] : [`${wanted.name}.${name}`]));
  if (isUnionType(wanted))
    return wanted
      .getTypes()
      .flatMap(({ name }) =>
        isUnionType(type) && type.getTypes().some((of) => of.name === name) ? [] : [`${wanted.name} = ${name}`],
      );
  if (!isObjectType(wanted) && !isInterfaceType(wanted) && !isInputObjectType(wanted)) return [];
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return [`${wanted.name}: another kind of type`];
  const lacking =
    "getInterfaces" in wanted ? wanted.getInterfaces().filter(({ name }) => !implementsOf(type).includes(name)) : [];
  if (lacking.length > 0) return lacking.map(({ name }) => `${wanted.name} implements ${name}`);
  return Object.values(wanted.getFields()).flatMap((field) => {
    const is = type.getFields()[field.name];
    const place = `${wanted.name}.${field.name}`;
    if (is === undefined) return [place];
    const own = String(is.type) === String(field.type) ? [] : [`${place}: ${String(is.type)}, not ${String(field.type)}`];
    const given: readonly GraphQLArgument[] = "args" in field ? field.args : [];
    const args = given.flatMap((arg) => {
      const found = "args" in is ? is.args.find((of: { readonly name: string }) => of.name === arg.name) : undefined;
      const isSame = found !== undefined && String(found.type) === String(arg.type);
      return isSame ? [] : [`${place}(${arg.name}: ${String(arg.type)})`];
    });
    return own.concat(args);
  });
}

function implementsOf(type: GraphQLNamedType): readonly string[] {
  return "getInterfaces" in type ? type.getInterfaces().map(({ name }) => name) : [];
}
