import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anthropicModel, type AnthropicOptions } from "../../../src/agent/models/anthropic.ts";
import { diagnosisIn, isOwnAddress, refusesDiagnosis } from "../../../src/agent/models/cache-diagnosis.ts";
import { messagesAnswer } from "../../../src/agent/models/messages-answer.ts";
import { MODEL_CALL_SETTINGS } from "../../../src/agent/models/model-settings.ts";
import type { ModelEvent } from "../../../src/agent/models/model.ts";
import { serverSentEvents } from "../../../src/agent/models/provider-requests.ts";
import { CACHE_MISS_REASONS } from "../../../src/events/cache-miss.ts";
import { complete } from "../../../src/lib/setting.ts";
import { startTestApp, type TestAppOptions } from "../../support/app.ts";
import { connect, ofType, textOf } from "../../support/client.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { metric } from "../../support/metrics.ts";
import { messageStream, streamed, type MessagesBody, type StreamEvent } from "../../support/providers/anthropic-stream.ts";
import { oddStreams, sseBody } from "../../support/providers/odd-values.ts";
import { providerServer, type ProviderAnswer } from "../../support/providers/provider-server.ts";

const PLAIN = {
  apiKey: "sk-test",
  model: "claude-test",
  maxTokens: 1_000,
  thinking: null,
  settings: complete(MODEL_CALL_SETTINGS, {}),
  price: null,
  window: null,
} as const;

/** An answer with an id of its own, and the diagnosis of its request. */
function diagnosedStream(id: string, diagnostics: unknown, usage: object = {}): StreamEvent[] {
  const [start, ...rest] = messageStream([{ text: ["Hello."] }], "end_turn", usage);
  return [{ type: "message_start", message: { ...(start?.["message"] as object), id, diagnostics } }, ...rest];
}

const diagnosed = (...stream: Parameters<typeof diagnosedStream>): ProviderAnswer => streamed(diagnosedStream(...stream));

const changed = { cache_miss_reason: { type: "system_changed", cache_missed_input_tokens: 900 } };
const WRITTEN = { input_tokens: 10, cache_creation_input_tokens: 990 };
const READ = { input_tokens: 10, cache_read_input_tokens: 990 };

async function claude(script: readonly ProviderAnswer[], options: Partial<AnthropicOptions> = {}, refusal?: string) {
  const refuses = (body: MessagesBody): string | null => (body["diagnostics"] === undefined ? null : (refusal ?? null));
  const { url, requests } = await providerServer<MessagesBody>(script, { refusal: refuses });
  const model = anthropicModel({ ...PLAIN, baseUrl: url, cacheDiagnostics: true, ...options });
  return { model, asked: () => requests.map(({ body }) => body["diagnostics"]) };
}

async function agentOf(options: TestAppOptions) {
  const app = await startTestApp(options);
  const client = connect(app.url);
  return { app, client, id: (await client.createAgent()).id };
}

describe("the diagnosis of the prompt cache", () => {
  it("compares each request with the answer before, and STEP_COMPLETE and the usage tell its result", async () => {
    const { model, asked } = await claude([
      diagnosed("msg_a", null, WRITTEN),
      diagnosed("msg_b", null, READ),
      diagnosed("msg_c", changed, WRITTEN),
      diagnosed("msg_d", { cache_miss_reason: null }, READ),
    ]);
    const { app, client, id } = await agentOf({ model });
    const steps = [];
    for (const text of ["one", "two", "three", "four"]) steps.push(...ofType(await client.turn(id, text), "StepComplete"));
    expect(asked()).toEqual([null, "msg_a", "msg_b", "msg_c"].map((previous) => ({ previous_message_id: previous })));
    const missed = { reason: "SYSTEM_CHANGED", tokens: 900, expected: null };
    expect(steps.map(({ cachedShare, cacheMiss }) => ({ cachedShare, cacheMiss }))).toEqual([
      { cachedShare: 0, cacheMiss: null },
      { cachedShare: 0.99, cacheMiss: null },
      { cachedShare: 0, cacheMiss: missed },
      { cachedShare: 0.99, cacheMiss: null },
    ]);
    expect((await client.agent(id)).usage.cachedShare).toBeCloseTo(0.495, 6);
    const misses = (reason: string) => metric(app.url, "triplane_model_cache_misses_total", { model: "test", reason });
    expect([await misses("SYSTEM_CHANGED"), await misses("TOOLS_CHANGED")]).toEqual([1, 0]);
  });

  it("goes on where another server takes over", async () => {
    const { model, asked } = await claude([diagnosed("msg_a", null), diagnosed("msg_b", null)]);
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
    const { app, client, id } = await agentOf({ model, database });
    await client.turn(id, "one");
    await app.close();
    const config = { workspaceRoots: [app.workspace], defaultWorkspace: app.workspace };
    const second = connect((await startTestApp({ model, database, config })).url);
    await second.turn(id, "two");
    expect(asked()).toEqual([{ previous_message_id: null }, { previous_message_id: "msg_a" }]);
  });

  it("begins again with a model that takes over: the miss is expected", async () => {
    const overloaded = { status: 529, body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } } };
    const first = await claude([diagnosed("msg_a", null, WRITTEN), overloaded]);
    const second = await claude([diagnosed("msg_b", null, WRITTEN)], { model: "claude-small" });
    const scripted = { provider: "scripted", script: { replies: [{ when: {} }] } } as const;
    const { client, id } = await agentOf({
      template: { fallbackModel: "small", modelRetries: 0 },
      config: { models: { test: scripted, small: scripted } },
      overrides: {
        models: new Map([
          ["test", first.model],
          ["small", second.model],
        ]),
      },
    });
    await client.turn(id, "one");
    const [step] = ofType(await client.turn(id, "two"), "StepComplete");
    expect(step?.cacheMiss).toEqual({ reason: null, tokens: 990, expected: "MODEL" });
    expect(first.asked()).toEqual([{ previous_message_id: null }, { previous_message_id: "msg_a" }]);
    expect(second.asked()).toEqual([{ previous_message_id: null }]);
  });
});

describe("a server that knows no diagnosis", () => {
  it("is not asked unless it is Anthropic's own, or the configuration says so", async () => {
    const { model, asked } = await claude([diagnosed("msg_a", changed)], { cacheDiagnostics: null });
    const { app, client, id } = await agentOf({ model });
    const [step] = ofType(await client.turn(id, "one"), "StepComplete");
    expect(asked()).toEqual([undefined]);
    expect(step).toMatchObject({ cacheMiss: null });
    const rows = await app.database.sql.query({ name: "requests", text: "SELECT request::text FROM step" }, []);
    expect(JSON.stringify(rows)).not.toContain("msg_a");
    expect(isOwnAddress(null)).toBe(true);
    for (const own of ["https://api.anthropic.com", "https://API.anthropic.com/"]) expect(isOwnAddress(own), own).toBe(true);
    for (const other of [
      "https://api.anthropic.com.example.org",
      "http://127.0.0.1:1",
      "https://example.org/api.anthropic.com",
      "no",
    ])
      expect(isOwnAddress(other), other).toBe(false);
  });

  // anthropics/claude-code #82539
  it("and refuses the question loses no turn, and is not asked again", async () => {
    const answers = [diagnosed("msg_a", null), diagnosed("msg_b", null), diagnosed("msg_c", null)];
    const { model, asked } = await claude(answers, {}, "diagnostics: Extra inputs are not permitted");
    const { client, id } = await agentOf({ model });
    expect(textOf(await client.turn(id, "one"))).toBe("Hello.");
    expect(ofType(await client.turn(id, "two"), "ErrorRaised")).toEqual([]);
    expect(asked()).toEqual([{ previous_message_id: null }, undefined, undefined]);
  });

  it("is told from one that refuses something else", () => {
    const headers = new Headers();
    const body = { error: { message: "diagnostics: Extra inputs are not permitted" } };
    expect(refusesDiagnosis({ status: 400, headers, body })).toBe(true);
    expect(refusesDiagnosis({ status: 400, headers, body: { error: { message: "prompt is too long" } } })).toBe(false);
    expect(refusesDiagnosis({ status: 529, headers, body })).toBe(false);
    expect(refusesDiagnosis({ status: 400, headers, body: undefined })).toBe(false);
    expect(refusesDiagnosis(null)).toBe(false);
  });
});

/** The last event of an answer, as it reaches the loop. */
async function endOf(body: string): Promise<ModelEvent | undefined> {
  const response = new Response(body, { headers: { "content-type": "text/event-stream" } });
  const events = serverSentEvents(response, new AbortController().signal);
  let last: ModelEvent | undefined;
  for await (const event of messagesAnswer(events, { ids: new Set(), apiKey: null, isDiagnosed: true })) last = event;
  return last;
}

describe("a diagnosis as servers send it", () => {
  it("is none if it is pending, and of another reason if that is unknown", () => {
    const of = (reason: unknown) => diagnosisIn({ id: "msg_a", diagnostics: { cache_miss_reason: reason } }).miss;
    expect(of(null)).toBeNull();
    expect(of({ type: "unavailable" })).toEqual({ reason: "UNAVAILABLE", tokens: null });
    expect(of({ type: "previous_message_not_found" })).toEqual({ reason: "PREVIOUS_NOT_FOUND", tokens: null });
    expect(of({ type: "moon_changed", cache_missed_input_tokens: 7 })).toEqual({ reason: "OTHER", tokens: 7 });
    expect(of({ type: "tools_changed", cache_missed_input_tokens: 1e300 })).toEqual({ reason: "TOOLS_CHANGED", tokens: null });
    expect(of({ type: "__proto__" })).toEqual({ reason: "OTHER", tokens: null });
    expect(diagnosisIn({ id: "msg_".padEnd(500, "x") }).answerId).toBeNull();
    expect(diagnosisIn({ id: "msg_a\0" }).answerId).toBeNull();
  });

  it("may be anything, and is read as one of ours", () => {
    const reads = (message: unknown): void => {
      const { answerId, miss } = diagnosisIn(message);
      expect(answerId ?? "msg").toMatch(/^[\w-]{1,128}$/);
      if (miss === null) return;
      expect(CACHE_MISS_REASONS).toContain(miss.reason);
      expect(Number.isInteger(miss.tokens ?? 0)).toBe(true);
    };
    fc.assert(fc.property(fc.anything(), reads));
    fc.assert(
      fc.property(fc.anything(), (value) => {
        for (const message of [{ id: value, diagnostics: value }, { diagnostics: { cache_miss_reason: value } }]) reads(message);
        reads({ diagnostics: { cache_miss_reason: { type: value, cache_missed_input_tokens: value } } });
      }),
    );
  });

  it("with any odd value in its stream spoils no answer", async () => {
    const start = diagnosedStream("msg_a", changed)[0] as StreamEvent;
    await fc.assert(
      fc.asyncProperty(oddStreams([start]), async ({ events }) => {
        const [, ...rest] = diagnosedStream("msg_a", changed);
        const end = await endOf(sseBody([...events, ...rest])).catch((error: unknown) => error);
        if (!(end instanceof Error)) expect(end).toMatchObject({ type: "end" });
      }),
      { numRuns: 50 },
    );
  });

  // envoyproxy/ai-gateway #2241
  it("counts tokens once that come in the first event and again in the last one", async () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 990, cache_creation_input_tokens: null };
    const [start, ...rest] = diagnosedStream("msg_a", null, usage);
    const last = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { ...usage, output_tokens: 7 } };
    const again = [...rest.filter(({ type }) => type !== "message_delta"), last];
    const end = await endOf(sseBody([start, ...again]));
    expect(end).toMatchObject({ usage: { inputTokens: 10, cacheReadTokens: 990, cacheWriteTokens: 0 } });
  });
});
