import { describe, expect, it } from "vitest";
import { AgentsDocument, PollTimelineDocument, TimelineDocument, ToolCallsDocument } from "../generated/documents.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";

describe("cursors and pages", () => {
  it("that do not fit get a typed error before the stream starts, never silence", async () => {
    const app = await startTestApp({ config: NEIGHBOURS });
    const client = connect(app.url, "anna-token");
    const other = connect(app.url, "zoe-token");
    const agent = await client.createAgent();
    const foreign = await other.createAgent();
    const future = agent.cursor.replace(/.{4}$/, "ffff");
    const restored = agent.cursor.replace(/\.[0-9a-f]{8}\.([0-9a-f]{14})$/, ".00000000.$1");
    const cases: [string, string][] = [
      ["nonsense", "CURSOR_MALFORMED"],
      ["", "CURSOR_MALFORMED"],
      ["-1", "CURSOR_MALFORMED"],
      ["0x10", "CURSOR_MALFORMED"],
      ["1e309", "CURSOR_MALFORMED"],
      [`${agent.cursor}0`, "CURSOR_MALFORMED"],
      [future, "CURSOR_FUTURE"],
      [foreign.cursor, "CURSOR_FOREIGN"],
      [restored, "CURSOR_RESTORED"],
    ];
    for (const [since, code] of cases) {
      expect((await client.ask(PollTimelineDocument, { since })).errors, since).toMatchObject([{ extensions: { code } }]);
      const { value } = await client
        .subscribe(TimelineDocument, { since })
        .next()
        .catch((error: unknown) => ({ value: { errors: error } }));
      expect(JSON.stringify(value), since).toContain(code);
    }
    await app.database.sql.query(
      {
        name: "f",
        text: "UPDATE tenant_log SET floor = (SELECT max(position) FROM event WHERE tenant = 'acme') + 5 WHERE tenant = 'acme'",
      },
      [],
    );
    expect((await client.ask(PollTimelineDocument, { since: agent.cursor })).errors).toMatchObject([
      { extensions: { code: "CURSOR_EXPIRED" } },
    ]);
    expect((await client.ask(PollTimelineDocument, { since: "0" })).errors).toEqual([]);
  });

  it("of unknown kinds, and of sizes that make no sense, are refused", async () => {
    const client = connect((await startTestApp()).url);
    expect((await client.post({ query: "{ timeline(kinds: [NONSENSE]) { cursor } }" })).errors[0]?.message).toContain("NONSENSE");
    for (const first of [0, -1, 101, 2_147_483_647]) {
      expect((await client.ask(AgentsDocument, { first })).errors, String(first)).toMatchObject([
        { extensions: { code: "BAD_USER_INPUT" } },
      ]);
      expect((await client.ask(ToolCallsDocument, { first })).errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
    }
    expect((await client.ask(PollTimelineDocument, { first: 501 })).errors).toMatchObject([
      { extensions: { code: "BAD_USER_INPUT" } },
    ]);
    expect((await client.ask(AgentsDocument, { after: "nonsense" })).errors).toMatchObject([
      { extensions: { code: "BAD_USER_INPUT" } },
    ]);
    expect((await client.ask(AgentsDocument, { first: 1 })).errors).toEqual([]);
  });
});

describe("streams", () => {
  it.each(["kinds", "channels", "agentIds"])("of an empty list of %s are refused: nothing would ever come", async (name) => {
    const client = connect((await startTestApp()).url);
    const refused = { code: "BAD_USER_INPUT" };
    const { errors } = await client.post({ query: `{ timeline(${name}: []) { cursor } }` });
    expect(errors).toMatchObject([{ message: expect.stringContaining(`\`${name}\` is empty`), extensions: refused }]);
    const { value } = await client.subscribe(TimelineDocument, { agentIds: null, [name]: [] }).next();
    expect(JSON.stringify(value)).toContain("BAD_USER_INPUT");
  });

  it("end after the first event of one of several kinds: a turn is done, or a person is asked", async () => {
    const script = {
      replies: [
        { when: { user: "write" }, call: [{ tool: "fs_write", input: { path: "a.txt", content: "x" } }] },
        { when: {}, say: ["Hello."] },
      ],
    };
    const client = connect((await startTestApp({ script })).url);
    const last = async (text: string): Promise<string | undefined> => {
      const agent = await client.createAgent();
      const { cursor } = await client.agent(agent.id);
      await client.send(agent.id, text);
      const kinds: string[] = [];
      const until = ["DONE", "PERMISSION_REQUIRED"] as const;
      for await (const page of client.timeline({ agentId: agent.id, since: cursor, until: [...until] }))
        kinds.push(...page.events.map(({ kind }) => kind));
      expect(kinds.filter((kind) => kind === "DONE" || kind === "PERMISSION_REQUIRED")).toHaveLength(1);
      return kinds.at(-1);
    };
    expect(await last("hello")).toBe("DONE");
    expect(await last("write")).toBe("PERMISSION_REQUIRED");
    const agent = await client.createAgent();
    const { value } = await client.subscribe(TimelineDocument, { agentIds: [agent.id], until: [] }).next();
    expect(JSON.stringify(value)).toContain("`until` is empty");
  });

  it("that would never end are refused: until must be among what is asked for", async () => {
    const client = connect((await startTestApp()).url);
    const agent = await client.createAgent();
    for (const asked of [{ kinds: ["TEXT_CHUNK" as const] }, { channels: ["MONITOR" as const] }]) {
      const { value } = await client.subscribe(TimelineDocument, { agentIds: [agent.id], until: "DONE", ...asked }).next();
      expect(JSON.stringify(value)).toContain("BAD_USER_INPUT");
    }
  });
});

describe("places of a list that are well formed and out of range", () => {
  const place = (...parts: readonly unknown[]): string => Buffer.from(JSON.stringify(parts)).toString("base64url");
  const row = "11111111-1111-4111-8111-111111111111";
  const times = ["1", "2026-01-31T12:00:00Z", "2026-02-31T00:00:00.000Z", "+275760-09-13T00:00:00.000Z"];
  const early = ["-271821-04-20T00:00:00.000Z", "0000-12-31T23:59:59.999Z"];
  const numbers = [1e300, 2 ** 40, 2 ** 31, 1.5];

  it("are refused with BAD_USER_INPUT, in lists by time as by number", async () => {
    const client = connect((await startTestApp()).url);
    const { id } = await client.createAgent();
    const ofAgent = (field: string) => `query($after: String) { agent(id: "${id}") { ${field}(after: $after) { asOf } } }`;
    const asked: [string, string][] = [
      ...[...times, ...early].flatMap((time): [string, string][] => [
        ["query($after: String) { agents(after: $after) { asOf } }", place("agents CREATED_AT DESC", time, row)],
        ["query($after: String) { approvals(after: $after) { asOf } }", place("approvals", time, row)],
        [
          'query($after: String) { simulatePolicy(permission: { mode: "auto" }, after: $after) { simulation { examined } } }',
          Buffer.from(`${time} ${row}`).toString("base64"),
        ],
      ]),
      ...numbers.flatMap((number): [string, string][] => [
        [ofAgent("messages"), place("messages", number, 1)],
        [ofAgent("messages"), place("messages", 1, number)],
        [ofAgent("toolCalls"), place("toolCallsOfAgent", number, 1)],
        [ofAgent("forkPoints"), place("forkPoints", number)],
      ]),
      [
        "query($after: String) { toolCalls(orderBy: { field: DURATION, direction: ASC }, after: $after) { asOf } }",
        Buffer.from(`["toolCalls DURATION asc",1e400,"${row}"]`).toString("base64url"),
      ],
    ];
    for (const [query, after] of asked) {
      const { errors } = await client.post({ query, variables: { after } });
      expect(errors, `${query} ${after}`).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
    }
  });

  it("are none if they can be: durations are no integers, and rows without one stand at the end", async () => {
    const client = connect((await startTestApp()).url);
    const query =
      "query($after: String) { toolCalls(orderBy: { field: DURATION, direction: ASC }, after: $after) { nodes { id } } }";
    for (const number of [1.5, 1e300, null])
      expect(await client.post({ query, variables: { after: place("toolCalls DURATION asc", number, row) } })).toMatchObject({
        errors: [],
        data: { toolCalls: { nodes: [] } },
      });
  });
});

it("a span of the audit that begins in the last hour of the year 9999 has no whole hour, and is counted", async () => {
  const client = connect((await startTestApp()).url);
  const query =
    "query($from: DateTime) { toolCallStats(filter: { created: { from: $from } }) { tools { tool } } toolCalls(filter: { created: { from: $from } }) { totalCount } }";
  for (const from of ["9999-12-31T23:30:00Z", "9999-12-31T23:00:00Z"])
    expect(await client.post({ query, variables: { from } })).toMatchObject({
      errors: [],
      data: { toolCallStats: { tools: [] }, toolCalls: { totalCount: 0 } },
    });
});
