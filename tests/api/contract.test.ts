import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
} from "graphql";
import { describe, expect, it } from "vitest";
import { schema } from "../../src/schema/index.ts";

/** A part of the schema: its place, as in `Agent.messages(first:)`, and its description. */
type Described = { readonly place: string; readonly description: string | null | undefined };

const TYPES = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith("__"));

/** The name of a type without its lists and nullability. */
const nameOf = (type: GraphQLOutputType | GraphQLInputType): string => String(type).replace(/[![\]]/g, "");

/** The words by which a description says that a list ends. */
const BOUND = /\b(at most|up to|one for each|each once|of the configuration|a few)\b/i;

function describedIn(type: GraphQLNamedType): readonly Described[] {
  const own = { place: type.name, description: type.description };
  if (isEnumType(type))
    return [own, ...type.getValues().map(({ name, description }) => ({ place: `${type.name}.${name}`, description }))];
  if (isInputObjectType(type))
    return [own, ...fieldsOf(type).map(({ name, description }) => ({ place: `${type.name}.${name}`, description }))];
  if (!isObjectType(type) && !isInterfaceType(type)) return [own];
  return Object.values(type.getFields()).reduce<Described[]>(
    (found, { name, description, args }) => {
      found.push({ place: `${type.name}.${name}`, description });
      for (const arg of args) found.push({ place: `${type.name}.${name}(${arg.name}:)`, description: arg.description });
      return found;
    },
    [own],
  );
}

function fieldsOf(type: GraphQLNamedType | undefined): readonly (GraphQLField<unknown, unknown> | GraphQLInputField)[] {
  return isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? Object.values(type.getFields()) : [];
}

describe("every part of the contract", () => {
  it("is described: types, fields, arguments, enum values and inputs", () => {
    // What GraphQL brings itself.
    const builtIn = new Set(["Boolean", "Float", "ID", "Int", "String"]);
    const silent = TYPES.filter(({ name }) => !builtIn.has(name))
      .flatMap(describedIn)
      .filter(({ description }) => (description ?? "").trim() === "");
    expect(silent.map(({ place }) => place)).toEqual([]);
  });

  it("of a mutation is one input and one payload of its name, with the cursor that it reached and its errors", () => {
    const mutations = fieldsOf(schema.getType("Mutation"));
    expect(mutations.length).toBeGreaterThan(10);
    for (const { name, type, ...field } of mutations) {
      const args = "args" in field ? field.args : [];
      const stem = name.slice(0, 1).toUpperCase() + name.slice(1);
      expect(args.map((arg) => `${arg.name}: ${String(arg.type)}`)).toEqual([`input: ${stem}Input!`]);
      expect(String(type)).toBe(`${stem}Payload!`);
      const payload = Object.fromEntries(
        fieldsOf(schema.getType(`${stem}Payload`)).map((field) => [field.name, String(field.type)]),
      );
      expect(payload).toMatchObject({ cursor: "Cursor!", userErrors: "[UserError!]!" });
    }
  });

  it("that names an id is an ID, but for the id that an operator's own sign-in gives its actors", () => {
    const args = TYPES.flatMap((type) =>
      fieldsOf(type).flatMap((of) =>
        "args" in of ? of.args.map((field) => ({ place: `${type.name}.${of.name}(${field.name}:)`, field })) : [],
      ),
    );
    const others = [
      ...args,
      ...TYPES.flatMap((type) => fieldsOf(type).map((field) => ({ place: `${type.name}.${field.name}`, field }))),
    ]
      .filter(({ field: { name } }) => name === "id" || /(Id|Ids)$/.test(name))
      .filter(({ field: { type } }) => nameOf(type) !== "ID")
      .map(({ place }) => place);
    expect(others).toEqual(["ActorRef.actorId"]);
  });

  it("that is a list is a page of a connection, or says how long it can be; a list of words is as long as what it is about", () => {
    const endless = TYPES.filter((type) => isObjectType(type) || isInterfaceType(type))
      .filter(({ name }) => !name.endsWith("Connection"))
      .flatMap((type) => fieldsOf(type).map((field) => ({ place: `${type.name}.${field.name}`, field })))
      .filter(({ field: { type } }) => isListType(getNullableType(type)))
      .filter(({ field: { type } }) => !isLeafType(schema.getType(nameOf(type))))
      // The problems of one input are as many as its fields.
      .filter(({ field: { name } }) => name !== "userErrors")
      .filter(({ field: { description } }) => !BOUND.test(description ?? ""))
      .map(({ place }) => place);
    expect(endless).toEqual([]);
  });
});
