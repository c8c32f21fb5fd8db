import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { Client, fetchExchange } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { buildSchema, introspectionFromSchema } from "graphql";
import { readFile } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { possibleTypes, typePolicies } from "../../clients/src/apollo.ts";
import { keys, possibleTypes as possibleTypesOfUrql } from "../../clients/src/urql.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";

const AGENTS = gql`
  query Agents($first: Int!, $after: String) {
    agents(first: $first, after: $after, orderBy: { field: CREATED_AT, direction: ASC }) {
      nodes {
        id
        title
        usage {
          inputTokens
        }
      }
      edges {
        cursor
      }
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
    }
  }
`;
const USAGE = gql`
  query Usage($id: ID!) {
    node(id: $id) {
      ... on Agent {
        id
        title
        usage {
          outputTokens
        }
      }
    }
    viewer {
      actor {
        id
        actorId
      }
      roles
    }
  }
`;

type Agents = {
  agents: {
    nodes: { id: string }[];
    edges: unknown[];
    pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string };
  };
};

async function withAgents(count: number): Promise<{ app: TestApp; ids: string[] }> {
  const app = await startTestApp();
  const client = connect(app.url);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push((await client.createAgent()).id);
  return { app, ids };
}

it("Apollo's cache joins the pages of a connection in order, and keeps another order or filter apart", async () => {
  const { app, ids } = await withAgents(5);
  const cache = new InMemoryCache({ possibleTypes, typePolicies });
  const client = new ApolloClient({ link: ApolloLink.from([new HttpLink({ uri: app.url })]), cache });
  const watched = client.watchQuery<Agents>({ query: AGENTS, variables: { first: 2 } });
  const { data: page } = await client.query<Agents>({ query: AGENTS, variables: { first: 2 } });
  const subscription = watched.subscribe({});
  onTestFinished(() => subscription.unsubscribe());
  await watched.fetchMore({ variables: { after: page?.agents.pageInfo.endCursor } });
  const shown = () => (watched.getCurrentResult().data as Agents).agents;
  await expect.poll(() => shown().nodes.length).toBe(4);
  const second = { agents: shown() };
  expect(second.agents.nodes.map(({ id }) => id)).toEqual(ids.slice(0, 4));
  expect(second.agents).toMatchObject({ edges: { length: 4 }, pageInfo: { hasNextPage: true, hasPreviousPage: false } });
  await watched.fetchMore({ variables: { after: second.agents.pageInfo.endCursor } });
  await expect.poll(() => shown().nodes.length).toBe(5);
  const third = { agents: shown() };
  expect(third.agents.nodes.map(({ id }) => id)).toEqual(ids);
  expect(third.agents.pageInfo.hasNextPage).toBe(false);
  const filtered = gql`
    {
      agents(first: 2, filter: { states: [WORKING] }) {
        nodes {
          id
        }
        pageInfo {
          endCursor
        }
      }
    }
  `;
  expect((await client.query({ query: filtered })).data).toMatchObject({ agents: { nodes: [] } });
  expect((watched.getCurrentResult().data as Agents).agents.nodes).toHaveLength(5);
});

it("Apollo's cache keeps a list that is asked to go on twice, and asks the server for other pages than it has", async () => {
  const { app, ids } = await withAgents(6);
  let requests = 0;
  const counted = new ApolloLink((operation, forward) => {
    requests += 1;
    return forward(operation);
  });
  const link = ApolloLink.from([counted, new HttpLink({ uri: app.url })]);
  const client = new ApolloClient({ link, cache: new InMemoryCache({ possibleTypes, typePolicies }) });
  const { data: page } = await client.query<Agents>({ query: AGENTS, variables: { first: 2 } });
  const watched = client.watchQuery<Agents>({ query: AGENTS, variables: { first: 2 } });
  const subscription = watched.subscribe({});
  onTestFinished(() => subscription.unsubscribe());
  const more = { variables: { after: page?.agents.pageInfo.endCursor } };
  await Promise.all([watched.fetchMore(more), watched.fetchMore(more)]);
  const shown = () => (watched.getCurrentResult().data as Agents).agents.nodes.map(({ id }) => id);
  await expect.poll(shown).toEqual(ids.slice(0, 4));
  await watched.fetchMore(more);
  expect(shown()).toEqual(ids.slice(0, 4));
  const before = requests;
  const five = await client.query<Agents>({ query: AGENTS, variables: { first: 5 } });
  expect(five.data?.agents.nodes.map(({ id }) => id)).toEqual(ids.slice(0, 5));
  expect(requests).toBe(before + 1);
  expect(shown()).toEqual(ids.slice(0, 4));
});

/** A cache that is written as the server would answer pages, of rows that are their own cursors; and what it has. */
function pagesInCache() {
  const cache = new InMemoryCache({ possibleTypes, typePolicies });
  const query = gql`
    query Agents($first: Int, $after: String, $last: Int, $before: String) {
      agents(first: $first, after: $after, last: $last, before: $before) {
        asOf
        nodes {
          id
        }
        pageInfo {
          hasNextPage
          hasPreviousPage
          startCursor
          endCursor
        }
      }
    }
  `;
  const write = (variables: Record<string, string | number>, rows: string, asOf = "1"): void => {
    const nodes = rows.split("").map((id) => ({ __typename: "Agent", id }));
    const [startCursor, endCursor] = [nodes[0]?.id ?? null, nodes.at(-1)?.id ?? null];
    const pageInfo = {
      __typename: "PageInfo",
      hasNextPage: !rows.endsWith("f"),
      hasPreviousPage: !rows.startsWith("a"),
      startCursor,
      endCursor,
    };
    cache.writeQuery({ query, variables, data: { agents: { __typename: "QueryAgentsConnection", asOf, nodes, pageInfo } } });
  };
  const read = (variables: Record<string, string | number>) => {
    const agents = cache.readQuery<{ agents: Agents["agents"] & { asOf: string } }>({ query, variables })?.agents;
    return agents && { ...agents, nodes: agents.nodes.map(({ id }) => id).join("") };
  };
  return { write, read };
}

it("Apollo's cache joins what is contiguous, of any size and on both sides, and never pages with a hole between them", () => {
  const { write, read } = pagesInCache();
  write({ first: 2 }, "cd", "7");
  write({ first: 1, after: "d" }, "e", "9");
  write({ last: 2, before: "c" }, "ab", "9");
  expect(read({ first: 2 })).toMatchObject({
    asOf: "7",
    nodes: "abcde",
    pageInfo: { startCursor: "a", endCursor: "e", hasNextPage: true, hasPreviousPage: false },
  });
  write({ last: 1, after: "e" }, "z");
  write({ first: 1, before: "a" }, "0");
  expect(read({ first: 2 })?.nodes).toBe("abcde");
  write({ first: 1, after: "e" }, "");
  expect(read({ first: 2 })).toMatchObject({ nodes: "abcde", pageInfo: { endCursor: "e" } });
  write({ first: 2 }, "xy");
  expect(read({ first: 2 })?.nodes).toBe("xy");
});

it("Apollo's cache answers a page that a query's own variables ask for with that page, and asks the server if it has none", () => {
  const { write, read } = pagesInCache();
  write({ first: 2, after: "b" }, "cd");
  expect(read({ first: 2 })).toBeUndefined();
  expect(read({ first: 2, after: "b" })?.nodes).toBe("cd");
  write({ first: 2 }, "ab");
  expect(read({ first: 2, after: "b" })?.nodes).toBe("cd");
  expect(read({ first: 2, after: "d" })).toBeUndefined();
});

it("Apollo's cache knows the possible types, and joins what two queries select of an object without an id", async () => {
  const { app, ids } = await withAgents(1);
  const client = new ApolloClient({
    link: new HttpLink({ uri: app.url }),
    cache: new InMemoryCache({ possibleTypes, typePolicies }),
  });
  await client.query({ query: AGENTS, variables: { first: 1 } });
  const { data } = await client.query({ query: USAGE, variables: { id: ids[0] } });
  expect(data).toMatchObject({ node: { id: ids[0], usage: { outputTokens: 0 } }, viewer: { actor: { actorId: "local" } } });
  const again = await client.query({ query: AGENTS, variables: { first: 1 }, fetchPolicy: "cache-only" });
  expect(again.data).toMatchObject({ agents: { nodes: [{ id: ids[0], usage: { inputTokens: 0 } }] } });
});

it("Apollo's cache keeps of a page what two queries select of its place in the list", () => {
  const cache = new InMemoryCache({ possibleTypes, typePolicies });
  const places = ["hasNextPage", "hasPreviousPage"].map((name) => ({
    name,
    query: gql`{ agents(first: 1) { nodes { id } pageInfo { startCursor endCursor ${name} } } }`,
  }));
  const nodes = [{ __typename: "Agent", id: "a" }];
  for (const { name, query } of places) {
    const pageInfo = { __typename: "PageInfo", startCursor: "a", endCursor: "a", [name]: false };
    cache.writeQuery({ query, data: { agents: { __typename: "QueryAgentsConnection", nodes, pageInfo } } });
  }
  for (const { name, query } of places)
    expect(cache.readQuery({ query })).toMatchObject({ agents: { nodes: [{ id: "a" }], pageInfo: { [name]: false } } });
});

it("Graphcache has a key for every object without an id, and warns of none", async () => {
  const { app, ids } = await withAgents(2);
  const warnings: string[] = [];
  const schema = introspectionFromSchema(buildSchema(await readFile("schema.graphql", "utf8")));
  const cache = cacheExchange({ schema, keys, logger: (kind, message) => (kind === "debug" ? 0 : warnings.push(message)) });
  const client = new Client({ url: app.url, preferGetMethod: false, exchanges: [cache, fetchExchange] });
  const query = `{ agents(first: 2) { nodes { id usage { inputTokens } todos { todoId } } pageInfo { hasNextPage } } viewer { roles abilities { action } } rateLimit { limit } templates { id tools { name } } }`;
  const { data, error } = await client.query(query, {});
  expect(error).toBeUndefined();
  expect(data).toMatchObject({ agents: { nodes: ids.toReversed().map((id) => ({ id })) } });
  expect(warnings).toEqual([]);
});

it("Graphcache without a schema knows the types behind an interface", async () => {
  const { app, ids } = await withAgents(1);
  const turn = connect(app.url);
  await turn.turn(ids[0] ?? "", "hello");
  const cache = cacheExchange({ possibleTypes: possibleTypesOfUrql, keys, logger: () => 0 });
  const client = new Client({ url: app.url, preferGetMethod: false, exchanges: [cache, fetchExchange] });
  const query = `query ($agentIds: [ID!]!) { timeline(agentIds: $agentIds, last: 100) { events { kind ... on BlockEvent { block } } } }`;
  const { data, error } = await client.query(query, { agentIds: ids });
  expect(error).toBeUndefined();
  const events = (data as { timeline: { events: { kind: string; block?: number }[] } }).timeline.events;
  expect(events.find(({ kind }) => kind === "TEXT_CHUNK_END")).toHaveProperty("block");
});
