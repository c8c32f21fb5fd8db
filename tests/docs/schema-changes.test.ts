import { buildSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType } from "graphql";
import { expect, it } from "vitest";
import { breakingChanges, contractOf, releasedSchema, releaseOf } from "../../scripts/schema-changes.ts";
import { schema } from "../../src/schema/index.ts";

const BEFORE = "type Query { agent(id: ID!): Agent } type Agent { id: ID! title: String } enum State { READY }";

it.each([
  ["a field goes", "type Query { agent(id: ID!): Agent } type Agent { id: ID! } enum State { READY }"],
  ["a field may be null", "type Query { agent(id: ID!): Agent } type Agent { id: ID title: String } enum State { READY }"],
  [
    "an argument must be given",
    "type Query { agent(id: ID!, of: ID!): Agent } type Agent { id: ID! title: String } enum State { READY }",
  ],
  ["a value goes", "type Query { agent(id: ID!): Agent } type Agent { id: ID! title: String } enum State { WORKING }"],
])("what breaks clients is told: %s", (_what, now) => {
  expect(breakingChanges(BEFORE, buildSchema(now))).toHaveLength(1);
});

it.each([
  ["a field", "type Query { agent(id: ID!): Agent } type Agent { id: ID! title: String turn: Int! } enum State { READY }"],
  [
    "an argument that may be omitted",
    "type Query { agent(id: ID!, of: ID): Agent } type Agent { id: ID! title: String } enum State { READY }",
  ],
  ["a value", "type Query { agent(id: ID!): Agent } type Agent { id: ID! title: String } enum State { READY WORKING }"],
])("what is added breaks nobody: %s", (_what, now) => {
  expect(breakingChanges(BEFORE, buildSchema(now))).toEqual([]);
});

it("the contract that was released still holds", async () => {
  expect(breakingChanges(await releasedSchema(), schema)).toEqual([]);
});

it("a release that was changed by hand is none", () => {
  const release = releaseOf(BEFORE);
  expect(contractOf(release)).toBe(BEFORE);
  expect(() => contractOf(release.replace("READY", "WORKING"))).toThrow("was changed by hand");
  expect(() => contractOf(BEFORE)).toThrow("was changed by hand");
});

it("what is deprecated says from when on it may be gone, and what stands in its place", () => {
  const deprecated = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))
    .flatMap((type) => Object.values(type.getFields()).map(({ deprecationReason }) => deprecationReason))
    .concat(
      Object.values(schema.getTypeMap())
        .filter((type) => isEnumType(type))
        .flatMap((type) => type.getValues().map(({ deprecationReason }) => deprecationReason)),
    );
  for (const reason of deprecated) if (typeof reason === "string") expect(reason).toMatch(/^\d{4}-\d{2}-\d{2}: use /);
});
