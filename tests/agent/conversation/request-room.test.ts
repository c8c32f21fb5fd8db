import { describe, expect, it } from "vitest";
import { RequestRoom } from "../../../src/agent/conversation/request-room.ts";
import { InterruptAgentDocument } from "../../generated/documents.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType } from "../../support/client.ts";
import { playedModel, says } from "../../support/models.ts";

const NEVER = new AbortController().signal;

/** A room of 100 bytes, and who is in it, in the order in which they entered. */
function roomOf100() {
  const room = new RequestRoom(100, 9);
  const entered: string[] = [];
  const enter = async (name: string, tenant: string, bytes: number, signal = NEVER): Promise<() => void> => {
    const leave = await room.enter(tenant, bytes, signal);
    entered.push(leave === null ? `${name} gave up` : name);
    return leave ?? (() => {});
  };
  return { room, entered, enter };
}

describe("the room for requests of models (invariant 13)", () => {
  it("holds so many bytes of all tenants together; the others wait, in their order, however small", async () => {
    const { room, entered, enter } = roomOf100();
    await enter("first", "one", 60);
    const leave = await enter("second", "two", 40);
    void enter("third", "three", 40);
    void enter("fourth", "three", 10);
    await expect.poll(() => room.load).toEqual({ bytes: 100, waiting: 2 });
    leave();
    await expect.poll(() => entered).toEqual(["first", "second", "third"]);
    expect(room.load).toEqual({ bytes: 100, waiting: 1 });
  });

  it("lets small requests pass", async () => {
    const { entered, enter } = roomOf100();
    await enter("first", "one", 60);
    void enter("second", "one", 10);
    await enter("small", "one", 9);
    expect(entered).toEqual(["first", "small"]);
  });

  it("is never one tenant's alone", async () => {
    const { entered, enter } = roomOf100();
    await enter("a1", "a", 40);
    void enter("a2", "a", 40);
    await enter("b1", "b", 60);
    expect(entered).toEqual(["a1", "b1"]);
  });

  it("is given to the tenant that has the least of it", async () => {
    const { entered, enter } = roomOf100();
    await enter("a1", "a", 30);
    const leave = await enter("b1", "b", 60);
    void enter("a2", "a", 30);
    void enter("c1", "c", 50);
    leave();
    await expect.poll(() => entered).toEqual(["a1", "b1", "c1"]);
  });

  it("is left once, and a request that nobody waits for any more is passed over", async () => {
    const { room, entered, enter } = roomOf100();
    const leave = await enter("first", "one", 60);
    const giving = new AbortController();
    const second = enter("second", "one", 60, giving.signal);
    void enter("third", "one", 50);
    giving.abort();
    await second;
    leave();
    leave();
    await expect.poll(() => entered).toEqual(["first", "second gave up", "third"]);
    expect(room.load).toEqual({ bytes: 50, waiting: 0 });
    expect(await room.enter("one", 50, AbortSignal.abort())).toBeNull();
  });

  it("takes a request that is larger than all of it alone", async () => {
    const { entered, enter } = roomOf100();
    const leave = await enter("large", "one", 500);
    void enter("next", "two", 50);
    expect(entered).toEqual(["large"]);
    leave();
    await expect.poll(() => entered).toEqual(["large", "next"]);
  });

  it("is entered by each agent before its request is made, and one that waits may be interrupted", async () => {
    const answering: (() => void)[] = [];
    const model = playedModel(async function* () {
      await new Promise<void>((resolve) => answering.push(resolve));
      yield* says("done");
    });
    const app = await startTestApp({ model, overrides: { requests: new RequestRoom(75_000, 5_000) } });
    const client = connect(app.url);
    const agents = await Promise.all(Array.from({ length: 4 }, () => client.createAgent()));
    await Promise.all(agents.map(({ id }) => client.send(id, "x".repeat(20_000))));
    const metrics = async (): Promise<string> => (await fetch(app.url.replace("/graphql", "/metrics"))).text();
    await expect.poll(metrics).toMatch(/^triplane_model_requests_waiting 2$/m);
    expect(model.calls).toHaveLength(2);
    const small = await client.createAgent();
    await client.send(small.id, "short");
    await expect.poll(() => model.calls.length).toBe(3);
    const asked = new Set(model.calls.map(({ request }) => JSON.stringify(request.messages).length > 20_000));
    expect(asked).toEqual(new Set([true, false]));

    for (const { id } of agents) await client.get(InterruptAgentDocument, { input: { agentId: id } });
    const reasons = await Promise.all(agents.map(async ({ id }) => ofType(await client.until(id, "DONE"), "Done")));
    expect(reasons.flat().map(({ reason }) => reason)).toEqual(Array(4).fill("INTERRUPTED"));
    await expect.poll(metrics).toMatch(/^triplane_model_request_bytes 0$/m);
    for (const answer of answering) answer();
    expect(ofType(await client.until(small.id, "DONE"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });
});
