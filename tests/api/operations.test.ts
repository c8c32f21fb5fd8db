import { createServer } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { CreateScheduleDocument, OperationsDocument, TenantSchedulesDocument } from "../generated/documents.ts";
import { tokenActor } from "../support/actors.ts";
import { connect } from "../support/client.ts";
import { ACTORS, ask, office, PEOPLE } from "../support/office.ts";

/** An address whose server refuses every post. */
async function refusing(): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(500).end());
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return `http://127.0.0.1:${address.port}`;
}

it("administrators see servers, deliveries, the log and retention of their own tenant; others see none of it (invariant 12)", async () => {
  const other = tokenActor("otto", ["admin"], "other");
  const secret = `whsec_${Buffer.from("0".repeat(32)).toString("base64")}`;
  const webhooks = { inbox: { url: await refusing(), secret, allowPrivateTarget: true } };
  const config = { actors: [...Object.values(PEOPLE), other].map(({ actor }) => actor), webhooks, retention: { eventsDays: 90 } };
  const { app, as } = await office({}, { config: { ...ACTORS, ...config } });
  for (const person of ["anna", "vera", "paul"] as const)
    expect(await as(person).get(OperationsDocument, {})).toEqual({ operations: null });
  const { agent } = await ask(as("anna"));
  const read = async () => (await as("ada").get(OperationsDocument, {})).operations;
  await expect.poll(async () => (await read())?.consumers[0]?.failedTries, { timeout: 10_000 }).toBeGreaterThan(0);
  const seen = await read();
  expect(seen).toMatchObject({
    servers: [{ serverId: app.services.serverId, isAnswering: true, version: expect.any(String), isLost: false }],
    consumers: [{ name: "webhook.inbox", lag: expect.any(Number), behindSince: expect.any(String), givenUp: 0 }],
    log: { positions: expect.any(Number), overdueWaits: 0, oldestAt: expect.any(String), newestAt: expect.any(String) },
    outage: null,
    retention: { eventsMs: 90 * 86_400_000, deltasMs: null },
  });
  expect(seen?.log.positions).toBeGreaterThan(5);
  expect(new Date(seen?.servers[0]?.startedAt ?? 0).getTime()).toBeLessThanOrEqual(Date.now());
  // Another tenant has the same webhook, and nothing was sent to it of theirs.
  const otto = connect(app.url, other.token);
  const theirs = (await otto.get(OperationsDocument, {})).operations;
  expect(theirs).toMatchObject({
    consumers: [{ name: "webhook.inbox", failedTries: 0, behindSince: null }],
    log: { overdueWaits: 0 },
  });
  expect(theirs?.log.head).not.toBe(seen?.log.head);

  await as("anna").get(CreateScheduleDocument, { input: { agentId: agent, text: "look", trigger: { everySteps: 5 } } });
  const { schedules } = await as("vera").get(TenantSchedulesDocument, { filter: { isPaused: false } });
  expect(schedules).toMatchObject({ totalCount: 1, nodes: [{ text: "look", agent: { id: agent } }] });
  expect((await as("vera").get(TenantSchedulesDocument, { filter: { isPaused: true } })).schedules.nodes).toEqual([]);
  for (const stranger of [as("ulf"), otto]) expect((await stranger.get(TenantSchedulesDocument, {})).schedules.nodes).toEqual([]);
});
