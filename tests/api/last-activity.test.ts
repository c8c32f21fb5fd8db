import { expect, it } from "vitest";
import { rowId } from "../../src/lib/global-id.ts";
import { clockOf } from "../support/clock.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { calls, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

it("an agent's last activity is a message, a question, its answer or the end of a turn, and never goes back; text does not move it", async () => {
  let minute = 0;
  const atMinute = (value: number): string => new Date(Date.UTC(2031, 0, 1, 0, value)).toISOString();
  const spoke = Promise.withResolvers<void>();
  const ends = Promise.withResolvers<void>();
  const model = playedModel(
    () => calls("effect"),
    async function* () {
      for await (const event of says("Done.")) {
        if (event.type === "end") await ends.promise;
        yield event;
        if (event.type === "text_delta") spoke.resolve();
      }
    },
  );
  const app = await startTestApp({
    model,
    config: { tools: [ownTool("effect", () => ({ output: "done", details: null }), false)] },
    overrides: {
      clock: clockOf(() => new Date(atMinute(minute))),
      // A renewal of the lease would write the agent's row.
      leaseTimes: { ttlMs: 600_000, renewMs: 300_000, startMs: 60_000 },
    },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  const lastActivity = async (): Promise<unknown> => {
    const { data } = await client.post<{ agent: { lastActivityAt: string } }>({
      query: `{ agent(id: ${JSON.stringify(agent.id)}) { lastActivityAt } }`,
    });
    return data?.agent.lastActivityAt;
  };
  expect(await lastActivity()).toBe(atMinute(0));
  minute = 1;
  await client.send(agent.id, "go");
  const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
  expect(await lastActivity()).toBe(atMinute(1));
  const { approvalId = "", inputHash = "" } = required?.request ?? {};
  minute = 3;
  await client.decide({ approvalId, inputHash, decision: "ALLOW" });
  expect(await lastActivity()).toBe(atMinute(3));
  minute = 4;
  await spoke.promise;
  await client.until(agent.id, "TEXT_CHUNK");
  expect(await lastActivity()).toBe(atMinute(3));
  // Text leaves the agent's row where it lies: its versions are not counted, since there are none.
  const row = (): Promise<unknown> => app.database.sql.query({ name: "r", text: "SELECT ctid::text, xmin::text FROM agent" }, []);
  const before = await row();
  const body = { kind: "TEXT_CHUNK", step: 2, block: 0, delta: "more" } as const;
  await app.services.log.append("local", [
    { agentId: rowId("Agent", agent.id), createdBy: "local", events: [{ at: new Date(), body }] },
  ]);
  expect(await row()).toEqual(before);
  minute = 5;
  ends.resolve();
  await client.until(agent.id, "DONE");
  expect(await lastActivity()).toBe(atMinute(5));
  minute = 2;
  await client.send(agent.id, "again");
  expect(await lastActivity()).toBe(atMinute(5));
  minute = 9;
  await client.post({ query: `mutation { interruptAgent(input: { agentId: ${JSON.stringify(agent.id)} }) { cursor } }` });
  expect([atMinute(5), atMinute(9)]).toContain(await lastActivity());
});

it("a question moves an agent's last activity at the time at which it is asked", async () => {
  let minute = 0;
  const asks = Promise.withResolvers<void>();
  const app = await startTestApp({
    model: playedModel(async function* () {
      await asks.promise;
      yield* calls("effect");
    }),
    config: { tools: [ownTool("effect", () => ({ output: "done", details: null }), false)] },
    overrides: { clock: clockOf(() => new Date(Date.UTC(2031, 0, 1, 0, minute))) },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "go");
  minute = 7;
  asks.resolve();
  await client.until(agent.id, "PERMISSION_REQUIRED");
  const { data } = await client.post({ query: `{ agent(id: ${JSON.stringify(agent.id)}) { lastActivityAt } }` });
  expect(data).toEqual({ agent: { lastActivityAt: new Date(Date.UTC(2031, 0, 1, 0, 7)).toISOString() } });
});
