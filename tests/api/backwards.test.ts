import { describe, expect, it } from "vitest";
import type { EventKind } from "../generated/documents.ts";
import { globalId, rowId } from "../../src/lib/global-id.ts";
import { startTestApp } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";

type Asked = { readonly agentIds?: readonly string[]; readonly kinds?: readonly EventKind[]; readonly since?: string };
type Page = {
  readonly events: readonly { readonly cursor: string }[];
  readonly cursor: string;
  readonly startCursor: string;
  readonly caughtUp: boolean;
};

const QUERY = `query ($agentIds: [ID!], $kinds: [EventKind!], $since: Cursor, $to: Cursor, $first: Int, $last: Int) {
  timeline(agentIds: $agentIds, kinds: $kinds, since: $since, to: $to, first: $first, last: $last) { cursor startCursor caughtUp events { cursor } }
}`;

async function page(client: TestClient, variables: object): Promise<Page> {
  const { data, errors } = await client.post<{ timeline: Page }>({ query: QUERY, variables: { ...variables } });
  if (data === null) throw new Error(JSON.stringify(errors));
  return data.timeline;
}

const cursors = ({ events }: Page): string[] => events.map(({ cursor }) => cursor);

/** All that is asked for, read backwards from a place, or from now, and in how many pages. */
async function backwards(client: TestClient, asked: Asked, last: number, from?: string) {
  const found: string[] = [];
  let to = from;
  for (let pages = 1; ; pages += 1) {
    const read = await page(client, { ...asked, last, ...(to === undefined ? {} : { to }) });
    found.unshift(...cursors(read));
    if (read.startCursor === (to ?? "") || read.startCursor === read.cursor) return { found, pages };
    to = read.startCursor;
  }
}

async function forwards(client: TestClient, asked: Asked): Promise<string[]> {
  const found: string[] = [];
  for (let since = asked.since ?? "0"; ;) {
    const read = await page(client, { ...asked, since });
    found.push(...cursors(read));
    if (read.caughtUp) return found;
    since = read.cursor;
  }
}

/** Two agents whose events lie far apart in a log that others fill. */
async function scattered() {
  const app = await startTestApp();
  const client = connect(app.url);
  const [rare, often] = [await client.createAgent(), await client.createAgent()];
  const say = async (agentId: string, count: number, length = 1): Promise<void> => {
    const delta = "x".repeat(length);
    const events = Array.from({ length: count }, () => ({
      at: new Date(),
      body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta } as const,
    }));
    await app.services.log.append("local", [{ agentId: rowId("Agent", agentId), createdBy: "local", events }]);
  };
  await say(rare.id, 3);
  for (let round = 0; round < 12; round += 1) await say(often.id, 500);
  await say(rare.id, 2);
  for (let round = 0; round < 4; round += 1) await say(often.id, 40, 8_000);
  await say(rare.id, 4);
  return { app, client, rare, often };
}

describe("the past of the timeline", () => {
  it("read backwards is what is read forwards, each event once, however far apart the events lie and however large they are", async () => {
    const { client, rare, often } = await scattered();
    const asks: Asked[] = [
      { agentIds: [rare.id] },
      { agentIds: [rare.id, often.id], kinds: ["AGENT_CREATED"] },
      { agentIds: [often.id] },
      { kinds: ["TEXT_CHUNK"] },
      {},
    ];
    for (const asked of asks) {
      const whole = await forwards(client, asked);
      for (const last of [7, 499])
        if (whole.length / last < 100)
          expect((await backwards(client, asked, last)).found, JSON.stringify({ asked, last })).toEqual(whole);
    }
    // Of an agent whose events lie 6,000 places apart a page is full all the same.
    expect((await page(client, { agentIds: [rare.id, often.id], kinds: ["AGENT_CREATED"], last: 2 })).events).toHaveLength(2);
  });

  it("and what comes since a cursor meet at it: the event whose cursor it is is the last of the past", async () => {
    const { client, rare } = await scattered();
    const whole = await forwards(client, { agentIds: [rare.id] });
    for (const cursor of whole) {
      const { found: past } = await backwards(client, { agentIds: [rare.id] }, 3, cursor);
      expect(past.at(-1)).toBe(cursor);
      expect([...past, ...(await forwards(client, { agentIds: [rare.id], since: cursor }))]).toEqual(whole);
    }
    const { cursor } = await client.agent(rare.id);
    expect((await page(client, { agentIds: [rare.id], last: 1, to: cursor })).events).toHaveLength(1);
    const some = await page(client, { agentIds: [rare.id], since: whole[1], to: whole[4] });
    expect(cursors(some)).toEqual(whole.slice(2, 5));
    expect(cursors(await page(client, { agentIds: [rare.id], since: whole[1], to: whole[4], last: 2 }))).toEqual(
      whole.slice(3, 5),
    );
    expect(some.caughtUp).toBe(false);
  });

  it("refuses what makes no sense, and shows nothing of others", async () => {
    const { client, rare } = await scattered();
    const [first, second] = await forwards(client, { agentIds: [rare.id] });
    for (const wrong of [{ first: 1, last: 1 }, { last: 0 }, { last: 501 }, { since: second, to: first }, { to: "nonsense" }]) {
      const { errors } = await client.post({ query: QUERY, variables: wrong as never });
      expect(errors, JSON.stringify(wrong)).toMatchObject([
        { extensions: { code: expect.stringMatching(/BAD_USER_INPUT|CURSOR_MALFORMED/) } },
      ]);
    }
    const empty = await page(client, { agentIds: [rare.id], last: 5, to: "0" });
    expect(empty).toMatchObject({ events: [], startCursor: empty.cursor });
  });

  it("a time has a place: what comes since it happened then or later, what lies up to it before (half-open)", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    const at = (minute: number): Date => new Date(Date.UTC(2040, 0, 1, 0, minute));
    for (const minute of [1, 2, 2, 5, 9, 9, 9, 12])
      await app.services.log.append("local", [
        {
          agentId: rowId("Agent", agent.id),
          createdBy: "local",
          events: [{ at: at(minute), body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta: String(minute) } }],
        },
      ]);
    // As retention does with old deltas: places without events.
    await app.database.sql.query({ name: "hole", text: "DELETE FROM event WHERE payload ->> 'delta' = '5'" }, []);
    const minutes = async (from: number, to: number): Promise<string[]> => {
      const { data, errors } = await client.post<Record<"from" | "to", string>>({
        query: `{ from: cursorAt(time: "${at(from).toISOString()}") to: cursorAt(time: "${at(to).toISOString()}") }`,
      });
      if (data === null) throw new Error(JSON.stringify(errors));
      const { data: found } = await client.post<{ timeline: { events: { delta: string }[] } }>({
        query:
          "query ($since: Cursor, $to: Cursor) { timeline(kinds: [TEXT_CHUNK], since: $since, to: $to) { events { ... on TextChunk { delta } } } }",
        variables: { since: data.from, to: data.to },
      });
      return (found?.timeline.events ?? []).map(({ delta }) => delta);
    };
    const all = [1, 2, 2, 9, 9, 9, 12];
    for (const from of [0, 1, 2, 3, 5, 9, 10, 12, 13])
      for (const to of [0, 2, 4, 9, 12, 14].filter((minute) => minute >= from))
        expect(await minutes(from, to), `from ${from} to ${to}`).toEqual(
          all.filter((minute) => minute >= from && minute < to).map(String),
        );
  });

  it("is of 100 agents at most", async () => {
    const client = connect((await startTestApp()).url);
    const agentIds = Array.from({ length: 101 }, (_, index) =>
      globalId("Agent", `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`),
    );
    const { errors } = await client.post({ query: QUERY, variables: { agentIds } });
    expect(errors).toMatchObject([
      { message: expect.stringContaining("at most 100 agents"), extensions: { code: "BAD_USER_INPUT" } },
    ]);
  });
});
