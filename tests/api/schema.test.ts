import {
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  parse,
  printSchema,
  validate,
  type GraphQLObjectType,
} from "graphql";
import { describe, expect, it } from "vitest";
import { CHANNEL_OF, EVENT_KINDS } from "../../src/events/event.ts";
import { schema } from "../../src/schema/index.ts";

const event = schema.getType("TimelineEvent");
const eventTypes = isInterfaceType(event) ? schema.getPossibleTypes(event) : [];

/** The field with everything of an object below it, two levels deep. */
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

describe("the contract", () => {
  it("has one object type for every kind of event, named after it", () => {
    expect(eventTypes.map((type) => type.name).toSorted()).toEqual(
      EVENT_KINDS.map((kind) =>
        kind
          .split("_")
          .map((word) => word[0] + word.slice(1).toLowerCase())
          .join(""),
      ).toSorted(),
    );
    expect(Object.keys(CHANNEL_OF)).toHaveLength(eventTypes.length);
  });

  it("gives one field name one type and nullability across all kinds: one document selects every field of every kind", () => {
    const document = parse(
      `{ timeline { events { ${eventTypes.map((type) => `... on ${type.name} { ${selection(type, 1)} }`).join("\n")} } } }`,
    );
    expect(validate(schema, document)).toEqual([]);
  });

  it("has no node among the snapshots that events carry", () => {
    for (const name of ["ToolCallSnapshot", "ApprovalSnapshot"]) {
      const type = schema.getType(name);
      expect(isObjectType(type) && type.getInterfaces().map((implemented) => implemented.name)).toEqual([]);
      expect(isObjectType(type) && Object.keys(type.getFields())).not.toContain("id");
    }
  });

  it("has the fixed names of the design", () => {
    const sdl = printSchema(schema);
    for (const line of [
      "agent(id: ID!): Agent",
      "createAgent(input: CreateAgentInput!): CreateAgentPayload!",
      "sendMessage(input: SendMessageInput!): SendMessagePayload!",
      "decideApproval(input: DecideApprovalInput!): DecideApprovalPayload!",
      "interruptAgent(input: InterruptAgentInput!): InterruptAgentPayload!",
      "outage: StorageOutage",
      "caughtUp: Boolean!",
    ]) {
      expect(sdl).toContain(line);
    }
  });
});
