import { describe, expect, it } from "vitest";
import { ControlDocument, type PageFragment } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";

const ASKS = {
  replies: [
    { when: { user: "." }, call: [{ tool: "fs_write", input: { path: "a", content: "b" } }] },
    { when: {}, say: ["done"] },
  ],
};

async function* control(client: TestClient, since: string | null = null): AsyncGenerator<PageFragment, void> {
  for await (const { data } of client.subscribe(ControlDocument, { since })) if (data) yield data.control;
}

type Place = { readonly kind: string; readonly cursor: string };
type OpenPage = { readonly events: readonly Place[]; readonly cursor: string; readonly startCursor: string };
const PAGE = "{ cursor startCursor events { kind cursor } }";

/** The events of the control plane after one place and up to another, in the order of the log. */
async function between(client: TestClient, since: string, to: string): Promise<readonly Place[]> {
  const query = `{ timeline(channels: [CONTROL], since: "${since}", to: "${to}", last: 500) ${PAGE} }`;
  const { data } = await client.post<{ timeline: OpenPage }>({ query });
  return data?.timeline.events ?? [];
}

describe("the control plane", () => {
  it("leaves nothing out between the startCursor and the cursor of pages that begin with open requests", async () => {
    const app = await startTestApp({ script: ASKS });
    const client = connect(app.url);
    // A page of open requests has 20: the last is read with what comes later.
    const names = Array.from({ length: 23 }, (_, index) => `agent${index}`);
    const create = names.map((name) => `${name}: createAgent(input: { templateId: "assistant" }) { agent { id } }`);
    const created = await client.post<Record<string, { agent: { id: string } }>>({ query: `mutation { ${create.join(" ")} }` });
    const ids = Object.values(created.data ?? {}).map(({ agent }) => agent.id);
    const send = ids.map((id, index) => `m${index}: sendMessage(input: { agentId: "${id}", text: "go" }) { cursor }`);
    await client.post({ query: `mutation { ${send.join(" ")} }` });
    const asked: PageFragment["events"] = [];
    for await (const { events } of control(client, "0")) {
      asked.push(...events);
      if (asked.length === ids.length) break;
    }
    for (const event of [asked[1], asked[21]]) {
      const approvalId = event?.__typename === "PermissionRequired" ? event.request.approvalId : "";
      expect((await client.decide({ approvalId, decision: "DENY" })).userErrors).toEqual([]);
    }
    const opened = client.iterate(`subscription { control ${PAGE} }`);
    const open: string[] = [];
    for (const count of [20, 1]) {
      const page = ((await opened.next()).value?.data as { control: OpenPage } | undefined)?.control;
      if (page === undefined) throw new Error("no page came");
      expect(page.events).toHaveLength(count);
      open.push(...page.events.map(({ cursor }) => cursor));
      const shown = page.events.filter(({ cursor }) => cursor > page.startCursor && cursor <= page.cursor);
      expect(await between(client, page.startCursor, page.cursor)).toEqual(shown);
      // Who goes on backwards finds all that the page lacks.
      const past = (await between(client, "0", page.startCursor)).map(({ cursor }) => cursor);
      expect([...past, ...shown.map(({ cursor }) => cursor)]).toEqual(
        (await between(client, "0", page.cursor)).map(({ cursor }) => cursor),
      );
      expect(past).toEqual(expect.arrayContaining(open));
    }
  });

  it("first delivers what is open, then what changes, for all agents; a closed request does not come again", async () => {
    const app = await startTestApp({ script: ASKS });
    const client = connect(app.url);
    const agents = [await client.createAgent(), await client.createAgent(), await client.createAgent()];
    for (const agent of agents) {
      await client.send(agent.id, "go");
      await client.until(agent.id, "PERMISSION_REQUIRED");
    }
    const [first] = (await client.agent(agents[0]?.id ?? "")).pendingApprovals;
    await client.decide({ approvalId: first?.id ?? "", decision: "DENY" });

    const inbox = control(client);
    const page = (await inbox.next()).value;
    expect(page).toMatchObject({ caughtUp: true });
    expect(page?.events.map((event) => [event.kind, event.agent?.id])).toEqual([
      ["PERMISSION_REQUIRED", agents[1]?.id],
      ["PERMISSION_REQUIRED", agents[2]?.id],
    ]);
    const [second] = (await client.agent(agents[1]?.id ?? "")).pendingApprovals;
    const next = inbox.next();
    await client.decide({ approvalId: second?.id ?? "", decision: "ALLOW", inputHash: second?.inputHash ?? "" });
    expect((await next).value?.events.map((event) => event.kind)).toEqual(["PERMISSION_DECIDED"]);

    const history = control(client, "0");
    expect((await history.next()).value?.events.map((event) => event.kind)).toEqual([
      "PERMISSION_REQUIRED",
      "PERMISSION_REQUIRED",
      "PERMISSION_REQUIRED",
      "PERMISSION_DECIDED",
      "PERMISSION_DECIDED",
    ]);
  });
});
