import { describe, expect, it } from "vitest";
import { ControlDocument, PollTimelineDocument } from "../generated/documents.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, type PageEvent, type TestClient } from "../support/client.ts";
import { says } from "../support/models.ts";
import { ACTORS, PEOPLE } from "../support/office.ts";
import { first, lead, task, teamModel, treeOf, until, worker } from "../support/team.ts";

const templates = {
  assistant: { ...lead, subagents: { templates: ["middle"], depth: 2 } },
  middle: { ...lead, systemPrompt: "middle", subagents: { templates: ["worker"] } },
  worker,
} as Record<string, TemplateConfig>;

/** A root that starts two agents, each of which starts another. */
const players = {
  lead: [first(task({ agentTemplateId: "middle" }), task({ agentTemplateId: "middle" }))],
  middle: [first(task())],
  worker: [() => says("Worker.")],
};

/** Two servers of one database, and a tree whose root is asked. */
async function twoServers() {
  const model = teamModel(players);
  const one = await startTestApp({ model, config: { ...ACTORS, templates } });
  const other = await startTestApp({
    model,
    database: one.database.config,
    config: { ...ACTORS, templates, workspaceRoots: [one.workspace] },
  });
  const clients = [one, other].map(({ url }) => connect(url, PEOPLE.pia.token));
  const [client] = clients;
  if (client === undefined) throw new Error("there are two servers");
  const { id, cursor } = await client.createAgent();
  return { urls: [one.url, other.url], clients, client, id, cursor };
}

type Of = { readonly agentIds: readonly string[]; readonly since: string };

/** The events of trees, until the turn of their first agent is over and the log was read to its end. */
async function follow(client: TestClient, rootId: string, { agentIds, since }: Of): Promise<readonly PageEvent[]> {
  const events: PageEvent[] = [];
  for await (const page of client.timeline({ agentIds: [...agentIds], since, withDescendants: true })) {
    events.push(...page.events);
    const isOver = events.some((event) => event.__typename === "Done" && event.agent?.id === rootId);
    if (isOver && page.caughtUp) return events;
  }
  throw new Error("the stream ended");
}

async function poll(client: TestClient, agentIds: readonly string[], since: string): Promise<readonly PageEvent[]> {
  const events: PageEvent[] = [];
  for (let cursor = since; ;) {
    const { timeline } = await client.get(PollTimelineDocument, {
      agentIds: [...agentIds],
      withDescendants: true,
      since: cursor,
      first: 7,
    });
    events.push(...timeline.events);
    if (timeline.caughtUp) return events;
    cursor = timeline.cursor;
  }
}

const cursors = (events: readonly PageEvent[]): readonly string[] => events.map(({ cursor }) => cursor);

describe("the timeline of a tree", () => {
  it("has each event of all agents once, live on every server and in replay; AGENT_SPAWNED comes before all of its child", async () => {
    const { clients, client, id, cursor } = await twoServers();
    const other = await client.createAgent();
    const live = clients.map((one) => follow(one, id, { agentIds: [id], since: cursor }));
    await client.send(id, "go");
    await client.send(other.id, "go");
    const [events = [], ofOther = []] = await Promise.all(live);
    expect(cursors(ofOther)).toEqual(cursors(events));
    const { children } = await treeOf(client, id);
    const all = [id, ...[...children, ...children.flatMap((child) => child.children)].map((each) => each.id)];
    expect(all.length).toBeGreaterThanOrEqual(5);
    expect(new Set(events.map(({ agent }) => agent?.id))).toEqual(new Set(all));
    for (const agentId of all) {
      const own = await client.events(agentId);
      expect(cursors(events.filter((event) => event.agent?.id === agentId))).toEqual(
        cursors(own).filter((place) => place > cursor),
      );
    }
    const spawned = ofType([...events], "AgentSpawned");
    expect(spawned.map(({ childId }) => childId).toSorted()).toEqual(all.slice(1).toSorted());
    for (const { childId, cursor: place } of spawned)
      expect(events.find(({ agent }) => agent?.id === childId)?.cursor.localeCompare(place)).toBe(1);
    for (const [index, since] of [cursor, ...cursors(events)].entries())
      if (index % 20 === 0) expect(cursors(await poll(client, [id], since))).toEqual(cursors(events).slice(index));
    expect(cursors(await follow(clients[1] ?? client, id, { agentIds: [id], since: cursor }))).toEqual(cursors(events));
  });

  it("may begin in the middle, and lists an agent once if an agent above it is named, too", async () => {
    const { client, id, cursor } = await twoServers();
    await client.send(id, "go");
    await client.until(id, "DONE", cursor);
    const { children } = await until(client, id, (tree) => tree.children.every(({ state }) => state === "READY"));
    const [one] = children;
    if (one === undefined) throw new Error("it has children");
    const below = await poll(client, [one.id], "0");
    expect(new Set(below.map(({ agent }) => agent?.id))).toEqual(new Set([one.id, ...one.children.map((each) => each.id)]));
    const whole = await poll(client, [id], "0");
    expect(cursors(await poll(client, [id, one.id], "0"))).toEqual(cursors(whole));
    const { timeline } = await client.get(PollTimelineDocument, { agentIds: [id], withDescendants: true, kinds: ["DONE"] });
    expect(timeline.events.length).toBe(1 + children.length + children.flatMap((child) => child.children).length);
    const past = await client.post<{ readonly timeline: { readonly events: readonly { readonly cursor: string }[] } }>({
      query: `{ timeline(agentIds: ["${id}"], withDescendants: true, last: 9) { events { cursor } } }`,
    });
    expect(past.data?.timeline.events.map((event) => event.cursor)).toEqual(cursors(whole).slice(-9));
  });

  it("is read by those who may read its first agent, and by nobody else", async () => {
    const { urls, client, id, cursor } = await twoServers();
    await client.send(id, "go");
    await client.until(id, "DONE", cursor);
    const { children } = await treeOf(client, id);
    const ids = [id, children[0]?.id ?? ""];
    const anna = connect(urls[0] ?? "", PEOPLE.anna.token);
    for (const agentId of ids) {
      expect((await anna.ask(PollTimelineDocument, { agentIds: [agentId], withDescendants: true })).errors).toMatchObject([
        { extensions: { code: "NOT_FOUND" } },
      ]);
      expect((await client.ask(PollTimelineDocument, { agentIds: [agentId], withDescendants: true })).errors).toEqual([]);
    }
    const paul = connect(urls[1] ?? "", PEOPLE.paul.token);
    expect(cursors(await poll(paul, [id], "0"))).toEqual(cursors(await poll(client, [id], "0")));
  });

  it("of the control plane begins with the open requests of the tree", async () => {
    const asking = { ...worker, permission: { mode: "approval" } } as TemplateConfig;
    const model = teamModel({
      lead: [first(task())],
      worker: [first(["fs_write", { path: "a.txt", content: "a" }])],
    });
    const app = await startTestApp({ model, config: { templates: { assistant: lead as TemplateConfig, worker: asking } } });
    const client = connect(app.url);
    const [asked, other] = [await client.createAgent(), await client.createAgent()];
    await client.send(asked.id, "go");
    await client.send(other.id, "go");
    const isAsked = (tree: { readonly children: readonly { readonly pendingApprovals: readonly unknown[] }[] }) =>
      tree.children.some(({ pendingApprovals }) => pendingApprovals.length > 0);
    const { children } = await until(client, asked.id, isAsked);
    await until(client, other.id, isAsked);
    const { value } = await client.subscribe(ControlDocument, { agentId: asked.id, withDescendants: true }).next();
    expect((value as { data: { control: { events: readonly PageEvent[] } } }).data.control.events).toMatchObject([
      { __typename: "PermissionRequired", agent: { id: children[0]?.id } },
    ]);
  });
});
