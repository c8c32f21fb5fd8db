import { describe, expect, it } from "vitest";
import { Registry } from "prom-client";
import { measured, MODEL_OUTCOMES } from "../../src/agent/models/measured.ts";
import { ModelError, NO_TOKENS, type Model } from "../../src/agent/models/model.ts";
import type { Sql } from "../../src/db/sql.ts";
import { Meters } from "../../src/telemetry/meters.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { metric, metricsText, seriesOf } from "../support/metrics.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { ask, office } from "../support/office.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { ownTool } from "../support/tools.ts";

const fine = ownTool("fine", () => ({ output: "fine", details: null }));
const broken = ownTool("broken", () => {
  throw new Error("out of tea");
});

async function* fails(): AsyncGenerator<never> {
  yield await Promise.reject(new ModelError("rejected", "no"));
}

describe("the metrics of work", () => {
  it("count turns, tool calls by tool and outcome, stages, and what the calls of the model were and cost", async () => {
    const played = playedModel(
      () => callsWith(["fine", {}], ["broken", {}], ["invented", {}]),
      () => says("Done."),
      fails,
    );
    const model: Model = { ...played, price: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 } };
    const app = await startTestApp({
      model,
      config: { tools: [fine, broken] },
      template: { permission: { mode: "auto" }, modelRetries: 0 },
      expectsErrors: true,
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    // Each is there from the start: an alarm sees the first of its kind.
    const before = seriesOf(await metricsText(app.url));
    const zeros = before.filter(({ name }) => name === "triplane_model_calls_total");
    expect(zeros.map(({ labels, value }) => [labels["model"], labels["outcome"], value])).toEqual(
      expect.arrayContaining(MODEL_OUTCOMES.map((outcome) => ["test", outcome, 0])),
    );
    await client.turn(agent.id, "go");
    await client.turn(agent.id, "go on");

    const of = (name: string, labels: Record<string, string> = {}): Promise<number> => metric(app.url, name, labels);
    expect(await of("triplane_turns_total", { reason: "COMPLETED" })).toBe(1);
    expect(await of("triplane_turns_total", { reason: "ERROR" })).toBe(1);
    expect(await of("triplane_tool_calls_total", { tool: "fine", outcome: "completed" })).toBe(1);
    expect(await of("triplane_tool_calls_total", { tool: "broken", outcome: "execution_failed" })).toBe(1);
    expect(await of("triplane_tool_calls_total", { tool: "unknown", outcome: "not_found" })).toBe(1);
    expect(await of("triplane_tool_call_seconds_count", { tool: "fine" })).toBe(1);
    expect(await metricsText(app.url)).not.toContain("invented");
    for (const stage of ["discovery", "validation", "permission", "confirmation", "execution", "formatting"])
      expect(await of("triplane_stage_seconds_count", { stage })).toBeGreaterThan(0);
    expect(await of("triplane_model_calls_total", { model: "test", outcome: "answered" })).toBe(2);
    expect(await of("triplane_model_calls_total", { model: "test", outcome: "rejected" })).toBe(1);
    expect(await of("triplane_model_calls_total")).toBe(3);
    expect(await of("triplane_model_call_seconds_count", { model: "test" })).toBe(3);
    expect(await of("triplane_model_first_token_seconds_count", { model: "test" })).toBe(2);
    const { usage } = await client.agent(agent.id);
    expect(await of("triplane_model_tokens_total", { kind: "input" })).toBe(usage.inputTokens);
    expect(await of("triplane_model_tokens_total", { kind: "output" })).toBe(usage.outputTokens);
    expect(await of("triplane_model_cost_usd_total")).toBeCloseTo(usage.costUsd ?? NaN);
  });

  it("tell of questions to people: asked, open and since when, closed and after how long", async () => {
    const { app, as } = await office({ approvalExpiresMs: 3_600_000 });
    const admin = async (name: string, labels: Record<string, string> = {}): Promise<number> => metric(app.url, name, labels);
    expect(await admin("triplane_approvals_asked_total", { kind: "TOOL_CALL" })).toBe(0);
    const { approvalId } = await ask(as("anna"));
    await ask(as("ulf"));
    expect(await admin("triplane_approvals_asked_total", { kind: "TOOL_CALL" })).toBe(2);
    await as("paul").decide({ approvalId, decision: "DENY" });
    expect(await admin("triplane_approvals_closed_total", { outcome: "DENIED" })).toBe(1);
    expect(await admin("triplane_approval_seconds_count")).toBe(1);
    expect(await admin("triplane_approval_seconds_sum")).toBeLessThan(60);
  });

  it("tell of open questions of all tenants what the database says, and nothing of one that hangs", async () => {
    const hanging = { value: false };
    const maybe = (sql: Sql): Sql => ({
      ...sql,
      query: (statement, values) =>
        hanging.value && statement.name === "pending_approvals" ? new Promise<never>(() => {}) : sql.query(statement, values),
    });
    const { app, as } = await office({}, { overrides: { sql: maybe } });
    await ask(as("anna"));
    await ask(as("ulf"));
    expect(await metric(app.url, "triplane_approvals_pending")).toBe(2);
    expect(await metric(app.url, "triplane_approvals_oldest_seconds")).toBeGreaterThan(0);
    hanging.value = true;
    // What was said holds for some seconds.
    expect(await metric(app.url, "triplane_approvals_pending")).toBe(2);

    const other = await office({}, { overrides: { sql: maybe } });
    const began = performance.now();
    await expect(metric(other.app.url, "triplane_approvals_pending")).rejects.toThrow("there is no series");
    expect(performance.now() - began).toBeLessThan(3_000);
    expect(await metric(other.app.url, "triplane_storage_outage")).toBe(0);
  });

  it("tell of readers by transport, of sockets, of answers over HTTP, and of the database", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const pages = client.timeline({ since: "0" });
    await pages.next();
    const leaving = new AbortController();
    const query = 'subscription { timeline(since: "0") { cursor } }';
    const stream = await fetch(app.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ query }),
      signal: leaving.signal,
    });
    await stream.body?.getReader().read();
    const readers = async (): Promise<readonly number[]> => [
      await metric(app.url, "triplane_readers", { transport: "websocket", state: "live" }),
      await metric(app.url, "triplane_readers", { transport: "sse", state: "live" }),
    ];
    expect(await readers()).toEqual([1, 1]);
    expect(await metric(app.url, "triplane_websockets")).toBe(1);
    await pages.return();
    leaving.abort();
    await expect.poll(readers).toEqual([0, 0]);
    await expect.poll(() => metric(app.url, "triplane_websockets_closed_total", { code: "1000" })).toBe(1);
    expect(await metric(app.url, "triplane_http_requests_total", { route: "/graphql", status: "200" })).toBe(1);
    // A stream lasts as long as its reader wants.
    await expect(metric(app.url, "triplane_http_request_seconds_count", { route: "/graphql" })).rejects.toThrow("no series");
    await fetch(app.url, { method: "POST", headers: { "content-type": "application/json" }, body: '{"query":"{__typename}"}' });
    await expect.poll(() => metric(app.url, "triplane_http_request_seconds_count", { route: "/graphql" })).toBe(1);
    await fetch(new URL("/no/such/place", app.url));
    expect(await metric(app.url, "triplane_http_requests_total", { route: "other", status: "404" })).toBe(1);
    expect(await metric(app.url, "triplane_http_request_seconds_count", { route: "other" })).toBe(1);
    expect(await metric(app.url, "triplane_statement_seconds_count", { pool: "leases" })).toBeGreaterThan(0);
    expect(await metric(app.url, "triplane_database_connections", { pool: "leases" })).toBeGreaterThan(0);
    expect(await metric(app.url, "triplane_event_loop_busy_seconds_total")).toBeGreaterThan(0);
  });

  it("have few series, whatever names a model invents, and no name of a tenant, an agent or a person", async () => {
    const names = Array.from({ length: 300 }, (_none, number) => `invented_${number}`);
    const { app, as } = await office(
      {},
      {
        model: playedModel(
          () => callsWith(...names.map((name): [string, object] => [name, {}])),
          () => says("Done."),
        ),
      },
    );
    const agent = await as("anna").createAgent();
    await as("anna").turn(agent.id, "go");
    const text = await metricsText(app.url);
    expect(text).not.toMatch(/invented|acme|anna/);
    expect(await metric(app.url, "triplane_tool_calls_total", { tool: "unknown" })).toBe(300);
    expect(seriesOf(text).length).toBeLessThan(1_500);
  });
});

describe("a figure of a provider that is none", () => {
  it.each([NaN, -1, Infinity, null, "many", undefined])("%s does not spoil the sum", async (odd) => {
    const usage = { ...NO_TOKENS, inputTokens: odd as number, outputTokens: 3 };
    const model: Model = {
      name: "odd",
      price: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
      async *stream() {
        yield { type: "text_start", block: 0 };
        yield { type: "text_delta", block: 0, text: "Hello." };
        yield { type: "end", stopReason: "end_turn", usage };
      },
    };
    const registry = new Registry();
    const request = {
      system: "",
      messages: [],
      tools: [],
      exposeThinking: false,
      settings: {},
      isFirstOfTurn: true,
      shape: null,
    };
    const stream = measured("own", model, new Meters(registry), silentLogger).stream(
      request,
      new AbortController().signal,
      () => {},
    );
    for await (const _event of stream);
    const series = seriesOf(await registry.metrics());
    const of = (kind: string) =>
      series.find(({ name, labels }) => name === "triplane_model_tokens_total" && labels["kind"] === kind);
    expect([of("input")?.value, of("output")?.value]).toEqual([0, 3]);
    expect(series.every(({ value }) => Number.isFinite(value))).toBe(true);
  });
});
