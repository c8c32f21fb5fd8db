import { readFile, readdir } from "node:fs/promises";
import {
  getIntrospectionQuery,
  GraphQLInt,
  GraphQLObjectType,
  GraphQLSchema,
  Lexer,
  OperationTypeNode,
  parse,
  Source,
  visit,
  type DocumentNode,
} from "graphql";
import { describe, expect, it } from "vitest";
import { schema } from "../../src/schema/index.ts";
import { operationSize } from "../../src/schema/price.ts";
import { everyFieldOfEveryKind } from "../support/every-field.ts";
import { countsOf, MOST as DOCUMENT_MOST } from "../../src/server/documents.ts";
import { MOST, priceOf } from "../../src/server/price.ts";

const priced = (text: string, variableValues: Record<string, unknown> = {}) =>
  priceOf({ schema, document: parse(text), variableValues });

/** All documents of the tests as one: among them one that selects every field of every kind. */
async function everyDocument(): Promise<DocumentNode> {
  const folder = new URL("../documents/", import.meta.url);
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(new URL(name, folder), "utf8")));
  return parse(texts.join("\n"));
}

function tokensOf(text: string): number {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  while (lexer.advance().kind !== "<EOF>") tokens += 1;
  return tokens;
}

describe("the price of an operation", () => {
  it.each([
    ["{ viewer { tenant } }", 1],
    ["{ __typename }", 0],
    ["{ rateLimit { remaining cost } }", 0],
    ["{ agent(id: 1) { id title template { templateId } } }", 2],
    // The connection, and its 50 entries.
    ["{ agents { nodes { id } } }", 51],
    ["{ agents(first: 3) { nodes { id } } }", 4],
    ["{ agents(first: 3) { edges { cursor node { id } } pageInfo { endCursor } } }", 4],
    ["{ steps(first: 3) { nodes { step costUsd } } }", 4],
    ["{ steps(first: 3) { nodes { agent { id } context { hash } } } }", 1 + 3 * (1 + 1 + 20)],
    ["{ turns(first: 3) { nodes { turn requestedBy { name } requesters { name } } totalCount } }", 1 + 3 * (1 + 1 + 10 + 1)],
    ["{ agents(first: 3) { nodes { messages(last: 2) { nodes { text } } } } }", 1 + 3 * (1 + 1 + 2)],
    ['{ agent(id: 1) { fileEdits(path: "a", first: 3) { nodes { details } } } }', 1 + 1 + 3],
    ["{ agent(id: 1) { notices(first: 3) { nodes { text } } } }", 1 + 1 + 3],
    ['{ toolCall(callId: "1") { viewerCannotCompleteReason tool { outputSchema } } }', 1 + 1 + 1],
    ["{ nodes(ids: [1, 2, 3]) { id } }", 3],
    ['{ memory(templateId: "a", first: 3) { nodes { text versions { text } } } }', 1 + 3 * (1 + 20)],
    ['{ search(text: "abcd") { agents { id } toolCalls { id agent { id } } } }', 10 + 5 + 5 * 2],
    ["{ operations { servers { serverId } consumers { name } log { head } outage { since } } }", 5 + 5 + 10 + 1 + 1],
    ['{ checkApprovalInput(approvalId: "1", input: {}) { inputHash explanation { verdict } } }', 10 + 1],
    [
      '{ allowRuleProposal(approvalId: "1") { proposal { past { letThroughCalls { id } } matchingCalls { id } } } }',
      100 + 1 + 1 + 20 + 5,
    ],
    ["{ approvals(first: 2, orderBy: MOST_URGENT_FIRST) { nodes { id viewerSnooze { until } } } }", 1 + 2 * (1 + 1)],
    ['{ approvals(first: 2, filter: { requestedBy: ["anna"] }) { nodes { id } } }', 1 + 2],
    ["{ simulatePolicy(permission: {}, first: 1000) { simulation { examined } } }", 500 + 10 + 1],
    ["{ simulatePolicy(permission: {}, first: 1000, baseline: PRESENT) { simulation { examined } } }", 500 + 20 + 1],
    // What stands in the ids is not looked at.
    ['{ nodes(ids: ["?"]) { ... on Agent { template { templateId } } } }', 1 + 1],
    ['{ node(id: "?") { ... on Agent { template { templateId } } } }', 2],
    ["{ timeline(first: 7) { events { cursor } outage { since } } }", 8],
    ["{ timeline(last: 7) { events { cursor } } }", 8],
    ["{ timeline { events { cursor } } }", 501],
    // An event is of one kind: the dearest counts.
    [
      "{ timeline(first: 7) { events { cursor ... on ToolEnd { toolCall { id agent { id } } } ... on Done { agent { id } } ... on Done { agent { title } } } } }",
      1 + 7 * 3,
    ],
    [
      "{ timeline(first: 7) { events { agent { id } ... on ToolEvent { toolCall { id } } ... on ToolEnd { toolCall { agent { id } } } ... on TenantEvent { changedBy { id } } } } }",
      1 + 7 * 5,
    ],
    ["subscription { timeline { events { cursor } } }", 21],
    // The agents below each that is named, at most 64 at work.
    ["{ timeline(agentIds: [1, 2], withDescendants: true, first: 7) { events { cursor } } }", 8 + 2 * 64],
    ['subscription { control(agentId: "1", withDescendants: true) { events { cursor } } }', 21 + 64],
    ["subscription { monitor(withDescendants: true) { events { cursor } } }", 21],
    ["{ toolCallStats { __typename } }", 500],
    ["{ toolCallStats { slowest { id agent { id } } } }", 500 + 10 + 10],
    ["{ toolCallStats { slowest(first: 100) { id agent { id } } } }", 500 + 100 + 100],
    ["{ toolCallGroups { groupCount total { calls } buckets { from } asOf } }", 500],
    // Each of the 50 groups, and its figures.
    ["{ toolCallGroups { groups { tool figures { calls durationMs { p95 } } } } }", 500 + 50 * (1 + 1)],
    ["{ toolCallGroups(first: 3, by: [AGENT]) { groups { agent { title } figures { calls } } } }", 500 + 3 * (1 + 1 + 1)],
    ["{ approvalGroups(first: 3) { groups { decidedBy { name } figures { decisionMs { p95 } } } } }", 500 + 3 * (1 + 1 + 1)],
    ["{ stepGroups(first: 3) { groups { model figures { costUsd } } total { costUsd } } }", 500 + 3 * (1 + 1)],
    ['{ ruleYields(templateId: "a") { rule { rule } figures { calls } } }', 500 + 50 + 50],
    ['{ ruleYields(templateId: "a") { matches { against } } }', 500 + 50 + 50 * 10],
    // Ten figures of a series are a point.
    [
      '{ toolCallGroups(first: 10, from: "2026-03-01T00:00:00Z", to: "2026-03-31T00:00:00Z", bucket: { unit: DAY }) { groups { series { calls } } } }',
      500 + 30 + 10,
    ],
    ["{ templates { templateId } }", 10],
    ["{ mcpServers { name state reason } }", 10],
    ["{ agents(first: 3) { nodes { todos { title } } } }", 1 + 3 * (1 + 10)],
    ["{ __schema { types { name } } }", 1_001],
    ['mutation { retryMcpServer(input: { name: "own" }) { server { name state } cursor } }', 11],
    ['mutation { archiveAgent(input: { agentId: "1" }) { agent { id } cursor } }', 11],
  ])("%s is %i", (text, price) => {
    expect(priced(text)).toBe(price);
  });

  it("goes by the variables, and by the operation that is run", () => {
    const text = "query One($n: Int) { agents(first: $n) { nodes { id } } } query Other { viewer { tenant } }";
    const document = parse(text);
    const price = (operationName: string, variableValues: object) =>
      priceOf({ schema, document, operationName, variableValues: { ...variableValues } });
    expect(price("One", { n: 5 })).toBe(6);
    expect(price("One", {})).toBe(51);
    expect(price("Other", {})).toBe(1);
    expect(() => price("One", { n: "five" })).toThrow(/Int cannot represent/);
    expect(price("None", {})).toBe(0);
    expect(price("One", { n: -2_147_483_648 })).toBe(1);
  });

  it.each([-2_147_483_648, -1, 0])(
    "of a simulation of %i calls is that of one of none, and pays for nothing beside it",
    (first) => {
      const variables = { first };
      const simulation = 'simulatePolicy(permission: { mode: "auto" }, first: $first) @skip(if: true) { __typename }';
      expect(priced(`query($first: Int) { ${simulation} agents(first: 100) { nodes { id } } }`, variables)).toBe(500 + 101);
    },
  );

  it("has no part below 0, whatever the arguments of a field are", () => {
    const priceOfNothing = { type: GraphQLInt, extensions: { complexity: () => -1_000 } };
    const asObject = { type: GraphQLInt, extensions: { complexity: () => ({ field: -1_000 }) } };
    const dear = { type: GraphQLInt, extensions: { complexity: () => 7 } };
    const query = new GraphQLObjectType({ name: "Query", fields: { a: priceOfNothing, b: asObject, dear } });
    const small = new GraphQLSchema({ query });
    expect(operationSize(small, parse("{ a b dear }"), null).price).toBe(7);
  });

  it("of what is too dear, too deep or too broad is a refusal that says by how much", () => {
    const pages =
      "agents(first: 100) { nodes { messages(first: 100) { nodes { blocks { __typename ... on ToolCallBlock { toolCall { callId } } } } } } }";
    expect(() => priced(`{ ${pages} }`)).toThrow("the operation costs 210201 points; at most 50000 are allowed");
    const deep = `{ agent(id: 1) { ${"messages { nodes { agent { ".repeat(7)} id ${"} } }".repeat(7)} } }`;
    expect(() => priced(deep)).toThrow("levels deep; at most 20 are allowed");
    const fragments = Array.from(
      { length: 14 },
      (_, index) => `fragment f${index} on Query { ...f${index + 1} ...f${index + 1} }`,
    );
    const broad = `{ ...f0 } ${fragments.join(" ")} fragment f14 on Query { rateLimit { cost } }`;
    expect(() => priced(broad)).toThrow("32768 selections, including those of its fragments; at most 5000 are allowed");
  });

  it("and the bounds of documents leave room: introspection, and every field of every kind, use at most half of each", async () => {
    const introspection = getIntrospectionQuery({ specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true });
    expect(tokensOf(introspection)).toBeLessThanOrEqual(DOCUMENT_MOST.tokens / 2);
    const every = everyFieldOfEveryKind(0);
    expect(tokensOf(everyFieldOfEveryKind(0, "once"))).toBeLessThanOrEqual(DOCUMENT_MOST.tokens / 2);
    expect(tokensOf(every)).toBeLessThanOrEqual(DOCUMENT_MOST.tokens);
    for (const text of [introspection, every]) {
      const { comparisons, spread } = countsOf(parse(text));
      expect(text.length).toBeLessThanOrEqual(DOCUMENT_MOST.characters / 2);
      expect(comparisons).toBeLessThanOrEqual(DOCUMENT_MOST.comparisons / 2);
      expect(spread).toBeLessThanOrEqual(DOCUMENT_MOST.spread / 2);
      expect(priced(text)).toBeLessThanOrEqual(MOST.price / 2);
      const { depth, selections } = operationSize(schema, parse(text), null);
      expect(depth).toBeLessThanOrEqual(MOST.depth / 2);
      expect(selections).toBeLessThanOrEqual(MOST.selections / 2);
    }
    const document = await everyDocument();
    const names: string[] = [];
    visit(document, {
      OperationDefinition: ({ name, operation }) =>
        void (operation === OperationTypeNode.MUTATION ? [] : names.push(name?.value ?? "")),
    });
    expect(names.length).toBeGreaterThanOrEqual(20);
    const half = { schema, document };
    for (const operationName of names) {
      const price = priceOf({ ...half, operationName, variableValues: VARIABLES });
      expect(price, operationName).toBeLessThanOrEqual(MOST.price / 2);
    }
  });
});

/** Values for the variables that operations must be given. */
const VARIABLES = {
  templateId: "assistant",
  id: "1",
  agentId: "1",
  approvalId: "1",
  callId: "1",
  ids: ["1"],
  input: {},
  offset: 0,
  bytes: 100,
  path: "a",
  permission: {},
  step: 1,
  text: "abcd",
  tool: "x",
};
