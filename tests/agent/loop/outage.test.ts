import { describe, expect, it } from "vitest";
import type { LeaseTimes } from "../../../src/agent/loop/lease.ts";
import { SendMessageDocument } from "../../generated/documents.ts";
import { startTestApp, temporaryFolder, type TestApp, type TestAppOptions } from "../../support/app.ts";
import { connect, ofType, type Page, type PageEvent } from "../../support/client.ts";
import { cuttingProxy } from "../../support/cutting-proxy.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { metric } from "../../support/metric.ts";
import { calls, playedModel, says } from "../../support/models.ts";
import { ownTool } from "../../support/tools.ts";

const SHORT: LeaseTimes = { ttlMs: 1_500, renewMs: 300, startMs: 1_000 };

/** A server whose way to its PostgreSQL can be cut, with a tool that ends when the test says so. */
async function server(options: Pick<TestAppOptions, "overrides"> = {}, emitted = 50, isPatient = false) {
  const direct = new URL(await testDatabaseUrl());
  const proxy = await cuttingProxy(Number(direct.port));
  const cut = new URL(direct);
  cut.port = String(proxy.port);
  const result = Promise.withResolvers<{ output: string; details: null }>();
  let runs = 0;
  const tool = ownTool("works", async (_input, { emit }) => {
    runs += 1;
    const answer = await result.promise;
    for (let index = 0; index < emitted; index += 1) {
      const room = emit("progress", index);
      if (isPatient) await room;
    }
    return answer;
  });
  const workspace = await temporaryFolder();
  const same = {
    config: { tools: [tool], workspaceRoots: [workspace], defaultWorkspace: workspace },
    template: { permission: { mode: "auto" } },
    model: playedModel(
      () => calls("works"),
      () => says("It worked."),
    ),
    ...options,
    overrides: { leaseTimes: SHORT, ...options.overrides },
  } as const;
  const app = await startTestApp({ ...same, database: { kind: "postgres", url: cut.href, connections: 4 } });
  return {
    app,
    client: connect(app.url),
    finish: () => result.resolve({ output: "done", details: null }),
    runs: () => runs,
    /** Another server that reaches the same database all the time. */
    other: () => startTestApp({ ...same, database: { kind: "postgres", url: direct.href, connections: 4 } }),
    goAway: () => {
      proxy.leadTo(1);
      proxy.cutNow();
    },
    comeBack: () => proxy.leadTo(Number(direct.port)),
  };
}

/** Reads pages until one fits. */
async function pageWhere(
  pages: AsyncIterator<Page>,
  fits: (page: Page) => boolean,
): Promise<{ page: Page; events: PageEvent[] }> {
  const events: PageEvent[] = [];
  for (;;) {
    const next = await pages.next();
    if (next.done === true) throw new Error("the subscription ended");
    events.push(...next.value.events);
    if (fits(next.value)) return { page: next.value, events };
  }
}

const isReady = async ({ url }: TestApp): Promise<boolean> => (await fetch(url.replace("/graphql", "/readyz"))).ok;

describe("while the database is away", () => {
  it("tools finish, readers are told, new work is refused with a type, and everything is committed once afterwards", async () => {
    const { app, client, goAway, comeBack, finish, runs } = await server();
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TOOL_START");
    const pages = client.timeline({ agentId: agent.id, since: "0" });
    await pageWhere(pages, (page) => page.caughtUp);

    goAway();
    const away = await pageWhere(pages, (page) => page.outage !== null);
    expect(away.page.outage).toMatchObject({ since: expect.any(String) });
    await expect.poll(() => isReady(app)).toBe(false);
    const refused = await client.ask(SendMessageDocument, { input: { agentId: agent.id, text: "more" } });
    expect(refused.errors[0]?.extensions?.["code"]).toBe("STORAGE_UNAVAILABLE");
    finish();
    await expect.poll(() => metric(app, "triplane_events_waiting")).toBeGreaterThan(0);

    comeBack();
    let isBack = false;
    let isTold = false;
    const { events: rest } = await pageWhere(pages, (page) => {
      isBack ||= page.outage === null;
      isTold ||= page.events.some((event) => event.kind === "STORAGE_FAILURE");
      return isBack && isTold;
    });
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { name: "works", state: "COMPLETED" } }]);
    expect(ofType(events, "AgentResumed")).toEqual([]);
    expect(ofType(rest, "StorageFailure")).toMatchObject([
      { severity: "CRITICAL", failedEvent: "TOOL_CUSTOM_EVENT", lostCount: 0, bufferedCount: expect.any(Number) },
    ]);
    expect(runs()).toBe(1);
    await expect.poll(() => isReady(app)).toBe(true);
    await pages.return();
  });

  it("a server that comes back too late finds its agent taken: the call is sealed once, and the loss is reported", async () => {
    const { app, client, goAway, comeBack, finish, runs, other } = await server();
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TOOL_START");
    const second = connect((await other()).url);
    goAway();
    const events = await second.until(agent.id, "DONE");
    finish();
    await expect.poll(() => metric(app, "triplane_events_waiting")).toBeGreaterThan(0);
    comeBack();
    const failures = await second.until(agent.id, "STORAGE_FAILURE");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "SEALED" } }]);
    expect(ofType(failures, "StorageFailure")).toMatchObject([{ severity: "CRITICAL" }]);
    expect(ofType(failures, "StorageFailure")[0]?.lostCount).toBeGreaterThan(0);
    expect(ofType(await second.until(agent.id, "STORAGE_FAILURE"), "ToolEnd")).toHaveLength(1);
    expect(runs()).toBe(1);
  });

  it.each([
    ["waits for room, so that nothing is left out", true],
    ["does not wait has left out what is beyond its agent's share, and that is said; its agent goes on", false],
  ])("a tool that %s (invariant 13)", async (_name, isPatient) => {
    const { app, client, goAway, comeBack, finish } = await server(
      { overrides: { waitingLimits: { events: 60, bytes: 1_000_000 } } },
      200,
      isPatient,
    );
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TOOL_START");
    goAway();
    await expect.poll(() => metric(app, "triplane_storage_outage")).toBe(1);
    finish();
    await expect.poll(() => metric(app, "triplane_events_waiting")).toBeGreaterThanOrEqual(60);
    comeBack();
    await expect.poll(() => isReady(app)).toBe(true);
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED" } }]);
    expect(ofType(events, "AgentResumed")).toEqual([]);
    const kept = ofType(events, "ToolCustomEvent").length;
    const said = ofType(events, "ErrorRaised").map(({ detail, message }) => `${detail} ${message}`);
    if (isPatient) expect([kept, said]).toEqual([200, []]);
    else expect(said).toEqual([expect.stringContaining(`events_left_out ${200 - kept} events that works emitted`)]);
  });
});
