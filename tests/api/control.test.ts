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

describe("the control plane", () => {
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
