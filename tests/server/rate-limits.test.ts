import { RateLimits } from "../../src/server/rate-limits.ts";
import { describe, expect, it } from "vitest";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";
import { median } from "../support/median.ts";
import { connect, type TestClient } from "../support/client.ts";
import { stillClock } from "../support/clock.ts";

type Room = { readonly limit: number; readonly cost: number; readonly remaining: number; readonly resetAt: string };

const room = async (client: TestClient, more = ""): Promise<Room> => {
  const { data, errors } = await client.post<{ rateLimit: Room }>({
    query: `{ rateLimit { limit cost remaining resetAt } ${more} }`,
  });
  if (data === null) throw new Error(JSON.stringify(errors));
  return data.rateLimit;
};
const STATS = "toolCallStats { __typename }";

describe("the room of an actor for operations", () => {
  it("is charged before an operation runs, fills again with time, and is nobody else's", async () => {
    const clock = stillClock();
    const app = await startTestApp({
      config: { ...NEIGHBOURS, rateLimit: { pointsPerMinute: 1_000 } },
      overrides: { clock },
    });
    const anna = connect(app.url, "anna-token");
    expect(await room(anna)).toMatchObject({ limit: 1_000, cost: 0, remaining: 1_000 });
    const charged = await room(anna, STATS);
    expect(charged).toMatchObject({ cost: 500, remaining: 500 });
    const { remaining } = await room(anna, "agents(first: 100) { nodes { id } }");
    expect(remaining).toBeLessThan(500);
    const response = await fetch(app.url, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer anna-token" },
      body: JSON.stringify({ query: `{ ${STATS} }` }),
    });
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(await response.json()).toMatchObject({
      errors: [
        {
          message: expect.stringContaining("costs 500 points"),
          extensions: { code: "RATE_LIMITED", retryAfterMs: expect.any(Number) },
        },
      ],
    });
    // What was refused costs nothing, and what costs nothing is answered.
    expect(await room(anna)).toMatchObject({ remaining });
    expect((await room(connect(app.url, "ben-token"))).remaining).toBe(1_000);
    clock.passMs(60_000);
    expect(await room(anna)).toMatchObject({ remaining: 1_000 });
    expect((await room(anna, STATS)).cost).toBe(500);
  });

  it("fills also after the clock was set back", async () => {
    let aheadMs = 0;
    const time = { now: () => new Date(Date.now() + aheadMs), monotonicMs: () => passedMs };
    let passedMs = 0;
    const rateLimits = new RateLimits({ pointsPerMinute: 100, subscriptions: 1 }, time);
    const anna = rateLimits.roomOf({ tenant: "acme", kind: "USER", id: "anna" });
    anna.charge(100);
    aheadMs = -60 * 60 * 1_000;
    expect(() => anna.charge(1)).toThrow("try again in 1 s");
    passedMs += 60_000;
    anna.charge(100);
    expect(anna.state().remaining).toBe(0);
  });

  it("is never filled by an operation: what is skipped, and asks for less than nothing, pays for nothing beside it", async () => {
    const app = await startTestApp({ config: { rateLimit: { pointsPerMinute: 1_000 } }, overrides: { clock: stillClock() } });
    const client = connect(app.url);
    const less = 'simulatePolicy(permission: { mode: "auto" }, first: -2147483648) @skip(if: true) { __typename }';
    expect(await room(client, less)).toMatchObject({ cost: 500, remaining: 500 });
    expect(await room(client, "agents(first: 100) { nodes { id } }")).toMatchObject({ cost: 101, remaining: 399 });
  });

  it("counts over WebSockets and for subscriptions as over HTTP, and what is refused there ends with the same code", async () => {
    const app = await startTestApp({ config: { rateLimit: { pointsPerMinute: 100 } }, overrides: { clock: stillClock() } });
    const client = connect(app.url);
    const heavy = "subscription { timeline { events { agent { id template { templateId } } } } }";
    const first = client.iterate(heavy);
    expect((await first.next()).value).toMatchObject({ data: { timeline: { events: [] } } });
    const second = await client
      .iterate(heavy)
      .next()
      .catch((error: unknown) => ({ value: error }));
    expect(JSON.stringify(second.value)).toContain("RATE_LIMITED");
    const query = await client
      .iterate("{ agents(first: 90) { nodes { id } } }")
      .next()
      .catch((error: unknown) => ({ value: error }));
    expect(JSON.stringify(query.value)).toContain("RATE_LIMITED");
    expect(JSON.stringify(query.value)).not.toContain("http");
    await first.return?.();
  });

  it("has so many subscriptions at once, over all sockets; one that ends makes room", async () => {
    const app = await startTestApp({ config: { rateLimit: { subscriptions: 2 } } });
    const open = () => connect(app.url).iterate("subscription { timeline { cursor } }");
    const [one, two] = [open(), open()];
    for (const each of [one, two]) expect((await each.next()).value).toMatchObject({ data: {} });
    const refused = await open()
      .next()
      .catch((error: unknown) => ({ value: error }));
    expect(JSON.stringify(refused.value)).toContain("TOO_MANY_OPERATIONS");
    await one.return?.();
    await expect
      .poll(async () => {
        const next = await open()
          .next()
          .catch((error: unknown) => ({ value: error }));
        return JSON.stringify(next.value);
      })
      .toContain('"data"');
    await two.return?.();
  });

  it("counts no subscription that never had a reader: one that asks for JSON alone is refused before, one that leaves at once is ended", async () => {
    const app = await startTestApp({ config: { rateLimit: { subscriptions: 2 } } });
    const query = "subscription { timeline { cursor } }";
    const post = async (accept: string, signal?: AbortSignal) =>
      fetch(app.url, {
        method: "POST",
        headers: { "content-type": "application/json", accept },
        body: JSON.stringify({ query }),
        ...(signal === undefined ? {} : { signal }),
      });
    for (const type of ["application/json", "application/json", "multipart/mixed", "multipart/mixed"])
      expect((await post(type)).status).toBe(406);
    for (let round = 0; round < 4; round += 1) {
      const leaving = new AbortController();
      const answered = post("text/event-stream", leaving.signal).catch(() => null);
      setImmediate(() => leaving.abort());
      await answered;
    }
    await expect
      .poll(async () => {
        const { value } = await connect(app.url)
          .iterate(query)
          .next()
          .catch((error: unknown) => ({ value: error }));
        return JSON.stringify(value);
      })
      .toContain('"data"');
  });

  it("says of what can never fit that it is too large, and not to ask again", async () => {
    const client = connect((await startTestApp({ config: { rateLimit: { pointsPerMinute: 400 } } })).url);
    expect((await client.post({ query: `{ ${STATS} }` })).errors).toMatchObject([{ extensions: { code: "DOCUMENT_TOO_LARGE" } }]);
  });

  it("a mutation that is refused for it changes nothing", async () => {
    const app = await startTestApp({ config: { rateLimit: { pointsPerMinute: 15 } }, overrides: { clock: stillClock() } });
    const client = connect(app.url);
    await client.post({ query: "{ agents(first: 10) { nodes { id } } }" });
    const query = 'mutation { createAgent(input: { templateId: "assistant" }) { cursor } }';
    expect((await client.post({ query })).errors).toMatchObject([{ extensions: { code: "RATE_LIMITED" } }]);
    expect(await app.database.sql.query({ name: "agents", text: "SELECT count(*)::int AS n FROM agent" }, [])).toEqual([
      { n: 0 },
    ]);
  });
});

it.each([
  ["keys that are not there", (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`states${i}`, 1]))],
  ["entries of another type", (count: number) => ({ templateIds: Array.from({ length: count }, () => ({})) })],
])("variables with 100,000 %s are refused at once, with one problem, and end no server", async (_name, filterOf) => {
  const client = connect((await startTestApp()).url);
  const query = "query($filter: AgentFilter) { agents(filter: $filter) { asOf } }";
  const before = process.cpuUsage();
  const { errors } = await client.post({ query, variables: { filter: filterOf(100_000) } });
  expect(errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
  expect(errors[0]?.message.length).toBeLessThanOrEqual(1_000);
  expect(process.cpuUsage(before).user).toBeLessThan(1_500_000);
});

describe("a list of more than 1,000 entries", () => {
  const many = (count: number): string[] => Array.from({ length: count }, () => "x");
  const tooLong = (place: string, count: number) => [
    {
      message: `${place} has ${count} entries; a list may have at most 1000: split it into several operations`,
      extensions: { code: "BAD_USER_INPUT" },
    },
  ];

  it.each([
    ["query($filter: AgentFilter) { agents(filter: $filter) { asOf } }", { templateIds: many(33_000) }, "templateIds"],
    ["query($filter: ToolCallFilter!) { toolCalls(filter: $filter) { asOf } }", { tools: many(300_000) }, "tools"],
  ])("in %s is refused before it is read", async (query, filter, name) => {
    const client = connect((await startTestApp()).url);
    const before = process.cpuUsage();
    const { errors } = await client.post({ query, variables: { filter } });
    expect(errors).toMatchObject(tooLong(`\`${name}\` of \`$filter\``, Object.values(filter)[0]?.length ?? 0));
    expect(process.cpuUsage(before).user).toBeLessThan(1_500_000);
  });

  it("as a variable itself, within entries of a list, in the document, and for a subscription is refused, too", async () => {
    const client = connect((await startTestApp()).url);
    const ids = many(1_001);
    const nodes = await client.post({ query: "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", variables: { ids } });
    expect(nodes.errors).toMatchObject(tooLong("`$ids`", 1_001));
    const inDocument = await client.post({ query: `{ agents(filter: { states: [${"READY ".repeat(1_001)}] }) { asOf } }` });
    expect(inDocument.errors).toMatchObject(tooLong("a list of the document", 1_001));
    const asDefault = `query($states: [AgentState!] = [${"READY ".repeat(1_001)}]) { agents(filter: { states: $states }) { asOf } }`;
    expect((await client.post({ query: asDefault })).errors).toMatchObject(tooLong("a list of the document", 1_001));
    const followed = await client
      .iteratePayload({ query: "subscription($ids: [ID!]) { timeline(agentIds: $ids) { cursor } }", variables: { ids } })
      .next()
      .catch((error: unknown) => ({ value: error }));
    expect(JSON.stringify(followed.value)).toContain("`$ids` has 1001 entries");
  });

  it("is refused in lists of the contract only: JSON may have any, and 1,000 entries are looked for", async () => {
    const client = connect((await startTestApp()).url);
    const { id } = await client.createAgent();
    const query =
      'query($id: ID!, $input: JSON!) { explainPermission(agentId: $id, tool: "none", input: $input) { problems { code } } }';
    const asked = await client.post({ query, variables: { id, input: { all: many(5_000) } } });
    expect(asked).toMatchObject({ errors: [], data: { explainPermission: { problems: [{ code: "INVALID" }] } } });
    const written = `{ explainPermission(agentId: "${id}", tool: "none", input: { all: [${"1 ".repeat(1_001)}] }) { problems { code } } }`;
    expect((await client.post({ query: written })).errors).toEqual([]);
    const filter = { tools: many(1_000), agentIds: many(1_000), createdBy: many(1_000), decidedBy: many(1_000) };
    const found = await client.post({
      query:
        "query($filter: ToolCallFilter!) { toolCalls(filter: $filter) { nodes { id } totalCount } toolCallStats(filter: $filter) { tools { tool } } }",
      variables: { filter },
    });
    expect(found).toMatchObject({ errors: [], data: { toolCalls: { nodes: [], totalCount: 0 } } });
  });
});

describe("the dearest documents that are refused", () => {
  const names = (count: number, of: (index: number) => string): string =>
    Array.from({ length: count }, (_, i) => of(i)).join(" ");
  it.each<[string, (salt: string) => string]>([
    ["2,000 aliases", (salt) => `query ${salt} { ${names(2_000, (i) => `a${i}:toolCallStats{tools{tool}}`)} }`],
    ["the same field again and again", (salt) => `query ${salt} { ${names(700, () => "viewer{tenant}")} x }`],
    ["the same field, just within the bound", (salt) => `query ${salt} { ${names(118, () => "viewer{tenant}")} x }`],
    [
      "the same field in many fragments",
      (salt) =>
        `query ${salt} { ${names(68, (i) => `...f${i}`)} x } ${names(68, (i) => `fragment f${i} on Query { viewer { tenant } }`)}`,
    ],
    [
      "fragments of one place",
      (salt) => `query ${salt} { ${names(84, (i) => `...f${i}`)} } ${names(84, (i) => `fragment f${i} on Query { a${i} }`)}`,
    ],
    [
      "fields of one name below fields of one name",
      (salt) =>
        `query ${salt} { ${names(4, (i) => `...f${i}`)} x } ${names(4, (i) => `fragment f${i} on Query { ${names(24, () => "agents{nodes{id}}")} }`)}`,
    ],
    ["fields that are not there", (salt) => `query ${salt} { ${names(2_400, (i) => `agentz${i}`)} }`],
    ["arguments that differ", (salt) => `query ${salt} { ${names(270, (i) => `agent(id:"${i}"){id}`)} }`],
    ["inputs that are not there", (salt) => `query ${salt} { agents(filter:{${names(800, (i) => `states${i}:1`)}}){asOf} }`],
    [
      "fragments within fragments",
      (salt) =>
        `query ${salt} { ...f0 } ${names(40, (i) => `fragment f${i} on Query { ${names(18, (j) => `...f${(i + j + 1) % 40}`)} }`)}`,
    ],
    [
      "fragments that double",
      (salt) =>
        `query ${salt} { ...f0 } ${names(100, (i) => `fragment f${i} on Query { ...f${i + 1} ...f${i + 1} }`)} fragment f100 on Query { rateLimit { cost } }`,
    ],
    [
      "introspection in circles",
      (salt) => `query ${salt} { __schema { ${"types { fields { type { ".repeat(60)} name ${"} } }".repeat(60)} } }`,
    ],
    [
      "99 introspections",
      (salt) => `query ${salt} { ${names(99, (i) => `a${i}:__schema{types{name fields{name type{name}}}}`)} ...x }`,
    ],
    [
      "3 introspections of everything",
      (salt) =>
        `query ${salt} { ${names(3, (i) => `a${i}:__schema{...S}`)} } fragment S on __Schema { types { fields { args { type { fields { ${names(55, (i) => `d${i}:description`)} } } } } } }`,
    ],
    ["too many characters", (salt) => `query ${salt} { ${"rateLimit ".repeat(20_000)} }`],
  ])("%s cost at most 50 ms of CPU each", async (_name, document) => {
    const client = connect((await startTestApp()).url);
    const ROUNDS = 9;
    const post = async (salt: string) => {
      const { errors } = await client.post({ query: document(salt) });
      expect(errors.length).toBeGreaterThan(0);
    };
    // A server that has run for a while is measured: its first documents cost what their code's compilation costs, too.
    for (let round = 0; round < ROUNDS; round += 1) await post(`warm${round}`);
    // The round in the middle: what the process does besides, now and then, is not the document's.
    const costs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = process.cpuUsage();
      await post(`r${round}`);
      const { user, system } = process.cpuUsage(before);
      costs.push((user + system) / 1_000);
    }
    expect(median(costs)).toBeLessThan(50);
  });
});
