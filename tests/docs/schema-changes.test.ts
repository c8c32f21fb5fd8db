import { buildSchema } from "graphql";
import { expect, it } from "vitest";
import { breakingChanges, releasedSchema } from "../../scripts/schema-changes.ts";
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
  const released = await releasedSchema();
  expect(released === null ? [] : breakingChanges(released, schema)).toEqual([]);
});
