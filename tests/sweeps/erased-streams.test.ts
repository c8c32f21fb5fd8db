import { expect, it } from "vitest";
import type { ModelRequest } from "../../src/agent/models/model.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { DELETED_AGENTS } from "../../src/sweeps/deleted-agents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, type Page } from "../support/client.ts";
import { movableClock } from "../support/clock.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { deleteArchived, eraseOld, idle, SECRET } from "../support/erasure.ts";
import { windowedModel } from "../support/windowed-model.ts";

type Told = { readonly cursor: string; readonly kind: string };

/** Two servers of one database, each with its own memory of the log. */
async function twoServers() {
  const url = await testDatabaseUrl();
  const clock = movableClock();
  const server = async () => {
    const reply = ({ messages }: ModelRequest) => ({
      text: `it is ${JSON.stringify(messages).includes("again") ? "new" : SECRET}`,
    });
    const app = await startTestApp({
      database: { kind: "postgres", url, connections: 3 },
      model: windowedModel({ window: 200_000, reply, summary: () => "A summary." }),
      overrides: { clock },
    });
    return { app, client: connect(app.url) };
  };
  const [one, other] = [await server(), await server()];
  return { one, other, clock, sql: one.app.database.sql };
}

/** The events since a cursor up to the head, over SSE, and the whole of its text. */
async function overSse(url: string, since: string): Promise<{ readonly events: readonly Told[]; readonly text: string }> {
  const leaving = new AbortController();
  const query = `subscription { timeline(since: "${since}") { caughtUp events { cursor kind
    ... on TextChunkEnd { text } ... on TextChunk { delta } ... on MessageReceived { text } } } }`;
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ query }),
    signal: leaving.signal,
  });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('"caughtUp":true')) break;
  }
  leaving.abort();
  const pages = [...text.matchAll(/^data: (\{.*\})$/gm)].map(
    (match) => JSON.parse(match[1] ?? "") as { readonly data: { readonly timeline: { readonly events: readonly Told[] } } },
  );
  return { events: pages.flatMap(({ data }) => data.timeline.events), text };
}

it("streams over WebSocket and SSE resume over erased and deleted events, before and after, on each server", async () => {
  const { one, other, clock, sql } = await twoServers();
  const { id } = await one.client.createAgent();
  const neighbour = await one.client.createAgent();
  await one.client.turn(id, `remember ${SECRET}`);
  await one.client.turn(neighbour.id, "a neighbour");
  await idle(sql);

  const open = other.client.timeline({ since: "0" });
  const heard: Page["events"][number][] = [];
  const until = async (isEnough: () => boolean): Promise<void> => {
    while (!isEnough()) heard.push(...((await open.next()).value?.events ?? []));
  };
  await until(() => heard.filter(({ kind }) => kind === "DONE").length === 2);
  const before = await overSse(one.app.url, "0");
  expect(before.text).toContain(SECRET);
  const cursors = before.events.map(({ cursor }) => cursor);
  const middle = cursors[Math.floor(cursors.length / 3)] ?? "";

  await clock.passHours(2, [one.app.database]);
  await eraseOld(sql);
  // The open stream goes on with what comes later, and no event comes twice.
  await one.client.turn(neighbour.id, "again");
  await until(() => heard.filter(({ kind }) => kind === "DONE").length === 3);
  expect(new Set(heard.map(({ cursor }) => cursor)).size).toBe(heard.length);
  for (const { app } of [one, other])
    for (const since of ["0", middle]) {
      const expected = cursors.filter((cursor) => since === "0" || cursor > since);
      await expect.poll(async () => (await overSse(app.url, since)).text.includes(SECRET)).toBe(false);
      expect((await overSse(app.url, since)).events.slice(0, expected.length).map(({ cursor }) => cursor)).toEqual(expected);
    }
  const resumed = await other.client.timeline({ since: middle }).next();
  expect(JSON.stringify(resumed.value?.events)).not.toContain(SECRET);

  await deleteArchived(sql, one.client, id);
  const left = await sql.query<{ position: number }, [string]>(
    { name: "", text: "SELECT position::int FROM event WHERE agent_id <> $1 OR agent_id IS NULL ORDER BY position" },
    [rowId("Agent", id)],
  );
  for (const remove of [async () => {}, () => DELETED_AGENTS.remove(sql, () => true)]) {
    await remove();
    for (const { app } of [one, other])
      await expect.poll(async () => (await overSse(app.url, "0")).events.length).toBe(left.length);
    for (const { app } of [one, other]) {
      const { events } = await overSse(app.url, middle);
      expect(events.at(-1)?.kind).toBe("AGENT_DELETED");
      expect(cursors.filter((cursor) => events.some((event) => event.cursor === cursor)).every((cursor) => cursor > middle)).toBe(
        true,
      );
    }
  }
  await until(() => heard.at(-1)?.kind === "AGENT_DELETED");
  await open.return();
});
