import { describe, expect, it } from "vitest";
import { answeredError, streamError, unreachable } from "../../../src/agent/models/provider-error.ts";
import { anthropicModel } from "../../../src/agent/models/anthropic.ts";
import { MODEL_CALL_SETTINGS } from "../../../src/agent/models/model-settings.ts";
import type { Model } from "../../../src/agent/models/model.ts";
import { openAiModel } from "../../../src/agent/models/openai.ts";
import { complete } from "../../../src/lib/setting.ts";
import { answers, messageStream, streamed } from "../../support/providers/anthropic-stream.ts";
import { startTestApp, type TestAppOptions } from "../../support/app.ts";
import { connect, ofType, textOf } from "../../support/client.ts";
import { freePort } from "../../support/free-port.ts";
import { chat, chatStream, chunks } from "../../support/providers/openai-stream.ts";
import { providerServer, type ProviderAnswer } from "../../support/providers/provider-server.ts";
import { InterruptAgentDocument, StandstillDocument, SendMessageDocument } from "../../generated/documents.ts";

const NO_SETTINGS = complete(MODEL_CALL_SETTINGS, {});

/** What the same failure looks like at each provider. */
type Provider = {
  readonly name: string;
  readonly model: (url: string) => Model;
  readonly error: (status: number, message: string, headers?: Record<string, string>) => ProviderAnswer;
  readonly says: (text: string, stop: "end" | "length" | "refusal") => ProviderAnswer;
  readonly beginsToSay: (text: string, then: "cut" | "silence") => ProviderAnswer;
  readonly callsRead: (args: string, stop: "tools" | "length") => ProviderAnswer;
  /** Cut after a whole tool call, before the end of the message. */
  readonly cutAfterCall: ProviderAnswer;
  /** A tool call whose arguments come in fragments, 100 ms apart, for more than half a second. */
  readonly callsSlowly: ProviderAnswer;
  readonly cutBeforeAnything: ProviderAnswer;
  /** Text, and then an error inside of the stream. */
  readonly failsAfter: (text: string) => ProviderAnswer;
  /** An error inside of the stream, before anything else. */
  readonly failsAtOnce: (message: string, type?: string) => ProviderAnswer;
  readonly malformed: ProviderAnswer;
  /** The input of a call that broke off after it had begun: the provider's count, if it gives one at once. */
  readonly brokenInput: number;
};

const SLOW = ['{"pa', "th", '": "', "a.t", "xt", '"}'];

const anthropicText = (text: string) => messageStream([{ text: [text] }], "end_turn").slice(0, 4);
const anthropicCall = (json: string, stop: string) => messageStream([{ tool: "fs_read", id: "toolu_a", json: [json] }], stop);

const ANTHROPIC: Provider = {
  name: "Claude",
  model: (baseUrl) =>
    anthropicModel({
      apiKey: "sk-secret",
      baseUrl,
      model: "m",
      maxTokens: 100,
      thinking: null,
      settings: NO_SETTINGS,
      price: null,
      window: null,
    }),
  error: (status, message, headers = {}) => ({
    status,
    headers,
    body: { type: "error", error: { type: "some_error", message } },
  }),
  says: (text, stop) => answers([{ text: [text] }], { end: "end_turn", length: "max_tokens", refusal: "refusal" }[stop]),
  beginsToSay: (text, then) => streamed(anthropicText(text), then),
  callsRead: (args, stop) => streamed(anthropicCall(args, { tools: "tool_use", length: "max_tokens" }[stop])),
  cutAfterCall: streamed(anthropicCall('{"path": "a.txt"}', "tool_use").slice(0, 5), "cut"),
  callsSlowly: { ...streamed(messageStream([{ tool: "fs_read", id: "toolu_a", json: SLOW }], "tool_use")), paceMs: 100 },
  cutBeforeAnything: streamed(anthropicText("x").slice(0, 1), "cut"),
  failsAfter: (text) =>
    streamed([...anthropicText(text), { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }]),
  failsAtOnce: (message, type = "invalid_request_error") => streamed([{ type: "error", error: { type, message } }]),
  malformed: { frames: ["event: message_start\ndata: {not json at all\n\n"] },
  brokenInput: 11,
};

const openAiText = (text: string) => chatStream([{ content: text }], null, null);
const openAiCall = (args: string) => ({
  tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "fs_read", arguments: args } }],
});

const openAiMore = (args: string) => ({ tool_calls: [{ index: 0, function: { arguments: args } }] });

const OPENAI: Provider = {
  name: "a chat completions server",
  model: (url) =>
    openAiModel({
      apiKey: "sk-secret",
      baseUrl: `${url}/v1`,
      model: "m",
      maxTokens: null,
      price: null,
      window: null,
      compat: {},
      settings: NO_SETTINGS,
    }),
  error: (status, message, headers = {}) => ({ status, headers, body: { error: { message, type: "some_error", code: null } } }),
  says: (text, stop) => chat([{ content: text }], { end: "stop", length: "length", refusal: "content_filter" }[stop]),
  beginsToSay: (text, then) => chunks(openAiText(text), then),
  callsRead: (args, stop) => chat([openAiCall(args)], { tools: "tool_calls", length: "length" }[stop]),
  cutAfterCall: chunks(chatStream([openAiCall('{"path": "a.txt"}')], null, null), "cut"),
  callsSlowly: {
    ...chat(
      SLOW.map((args, index) => (index === 0 ? openAiCall(args) : openAiMore(args))),
      "tool_calls",
    ),
    paceMs: 100,
  },
  cutBeforeAnything: chunks(chatStream([], null, null), "cut"),
  failsAfter: (text) => chunks([...openAiText(text), { error: { message: "Overloaded", type: "overloaded_error" } }], "cut"),
  failsAtOnce: (message, type = "server_error") => ({
    frames: [`event: error\ndata: ${JSON.stringify({ error: { message, type } })}\n\n`],
  }),
  malformed: { frames: ["data: {not json at all\n\n"] },
  brokenInput: 0,
};

async function appWith(provider: Provider, script: readonly ProviderAnswer[], template: TestAppOptions["template"] = {}) {
  const server = await providerServer(script);
  const app = await startTestApp({ model: provider.model(server.url), template: { modelRetryMs: 1, ...template } });
  const client = connect(app.url);
  return { ...server, app, client, agent: await client.createAgent() };
}

describe.for([ANTHROPIC, OPENAI])("What goes wrong with $name", (provider) => {
  const hello = provider.says("Hello.", "end");

  it("429, 500, 503 and 529 before anything was said: the call is made again, when the provider asks for it", async () => {
    const { requests, client, agent } = await appWith(
      provider,
      [429, 500, 503, 529].map((status) => provider.error(status, "later", { "retry-after-ms": "5" })).concat(hello),
      { modelRetries: 4 },
    );
    const events = await client.turn(agent.id, "hi");
    expect(requests).toHaveLength(5);
    expect(ofType(events, "ErrorRaised").map((event) => [event.severity, event.phase, event.detail])).toEqual([
      ["INFO", "MODEL", "rate_limited"],
      ["INFO", "MODEL", "unavailable"],
      ["INFO", "MODEL", "unavailable"],
      ["INFO", "MODEL", "overloaded"],
    ]);
    expect(ofType(events, "ErrorRaised").map(({ retryAt }) => typeof retryAt)).toEqual(Array(4).fill("string"));
    expect(ofType(events, "ErrorRaised")[0]?.message).toContain("429: later; the call is made again in 5 ms");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", step: 1 }]);
    expect(textOf(events)).toBe("Hello.");
  });

  it("gives up after the retries, and says why in the provider's words", async () => {
    const { requests, client, agent } = await appWith(provider, [provider.error(529, "Overloaded", { "retry-after": "0" })]);
    const events = await client.turn(agent.id, "hi");
    expect(requests).toHaveLength(4);
    expect(ofType(events, "ErrorRaised").at(-1)).toMatchObject({
      severity: "ERROR",
      detail: "overloaded",
      message: expect.stringContaining("529: Overloaded"),
    });
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
  });

  it("a request that is refused is not made again, the key is nowhere, and the agent answers the next message (invariant 11)", async () => {
    const { requests, client, agent, app } = await appWith(provider, [provider.error(400, "prompt is too long"), hello]);
    const events = await client.turn(agent.id, "hi");
    expect(requests).toHaveLength(1);
    expect(ofType(events, "ErrorRaised")).toMatchObject([
      {
        message: expect.stringMatching(
          /^the model's provider answered 400: prompt is too long\. The system prompt has about 4 tokens, the tools have about \d{4} tokens, and the newest input has about \d tokens$/,
        ),
      },
    ]);
    const dump = await app.database.sql.query({ name: "d", text: "SELECT string_agg(payload::text, '') AS dump FROM event" }, []);
    expect(JSON.stringify(dump)).not.toContain("sk-secret");
    expect(textOf(await client.turn(agent.id, "again"))).toBe("Hello.");
  });

  it.for([
    ["with a status", provider.error(400, "prompt is too long: 5 tokens > 4 maximum")],
    ["inside of the stream", provider.failsAtOnce("Trying to keep 5 tokens: the model is loaded with context length of only 4")],
    ["inside of the stream, in other words", provider.failsAtOnce("Context size has been exceeded.")],
  ] as const)(
    "a conversation that is longer than the model reads, as it is told %s, is shortened until it is read, and stays so",
    async ([, tooLong]) => {
      const script = [hello, hello, hello, tooLong, tooLong, tooLong, hello, hello];
      const { requests, client, agent } = await appWith(provider, script);
      const words = ["alpha", "bravo", "charlie", "delta", "echo"];
      const texts = words.map((word) => `${word} ${"x".repeat(40_000)}`);
      for (const text of texts.slice(0, 3)) await client.turn(agent.id, text);
      const events = await client.turn(agent.id, texts[3] ?? "");
      expect(ofType(events, "ErrorRaised").map(({ severity, detail }) => [severity, detail])).toEqual([
        ["WARN", "too_long"],
        ["WARN", "compaction_failed"],
        ["WARN", "too_long"],
      ]);
      expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
      await client.turn(agent.id, "echo");
      const sent = requests.map(({ body }) => words.filter((word) => JSON.stringify(body).includes(word)));
      expect(sent.slice(3)).toEqual([
        ["alpha", "bravo", "charlie", "delta"],
        // The request for a summary.
        ["alpha", "bravo", "charlie"],
        ["charlie", "delta"],
        ["delta"],
        ["delta", "echo"],
      ]);
    },
  );

  it.for([
    ["not_found_error", "the model's provider refused the request: sk-s***ret has no such model"],
    ["authentication_error", "the model's provider answered authentication_error: it does not admit the key that the server has"],
  ] as const)(
    "%s inside of the stream: the call is not made again, and words that may hold the key are not told (invariant 11)",
    async ([type, message]) => {
      const { requests, client, agent } = await appWith(provider, [
        provider.failsAtOnce("sk-s***ret has no such model", type),
        hello,
      ]);
      const events = await client.turn(agent.id, "hi");
      expect(requests).toHaveLength(1);
      expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "ERROR", detail: "rejected", message }]);
      expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
    },
  );

  it("a message that alone is longer than the model reads ends its turn, and the next message goes without it", async () => {
    const tooLong = provider.error(413, "request too large");
    const { requests, client, agent } = await appWith(provider, [tooLong, tooLong, hello]);
    const events = await client.turn(agent.id, `alpha ${"x".repeat(60_000)}`);
    expect(requests).toHaveLength(1);
    expect(ofType(events, "ErrorRaised").map(({ severity, detail }) => [severity, detail])).toEqual([["ERROR", "too_long"]]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
    expect(textOf(await client.turn(agent.id, "bravo"))).toBe("Hello.");
    // The third request is for a summary.
    expect(requests.map(({ body }) => JSON.stringify(body).includes("alpha"))).toEqual([true, true, true, false]);
  });

  it.for(["cutBeforeAnything", "cutAfterCall", "malformed"] as const)(
    "%s: nothing was said, so the same step makes the call again",
    async (failure) => {
      const { requests, client, agent } = await appWith(provider, [provider[failure], hello]);
      const events = await client.turn(agent.id, "hi");
      expect(requests).toHaveLength(2);
      expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "WARN", detail: "broken" }]);
      expect(ofType(events, "ToolStart")).toEqual([]);
      expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", step: 1 }]);
    },
  );

  it.for([
    ["a cut", provider.beginsToSay("half of", "cut"), "broken"],
    ["an error inside of the stream", provider.failsAfter("half of"), "overloaded"],
    ["silence", provider.beginsToSay("half of", "silence"), "silent"],
  ] as const)("%s in the text: the block is closed as aborted, and a new step says it anew", async ([, answer, detail]) => {
    const { requests, client, agent } = await appWith(provider, [answer, hello], {
      modelIdleMs: detail === "silent" ? 500 : 60_000,
    });
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "TextChunkEnd").map((event) => [event.step, event.text, event.aborted])).toEqual([
      [1, "half of", true],
      [2, "Hello.", false],
    ]);
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "WARN", detail }]);
    expect(JSON.stringify(requests[1]?.body)).not.toContain("half of");
    const kept = (await client.agent(agent.id)).messages.nodes.map((message) => message.text);
    const aborted = new Set(ofType(events, "TextChunkEnd").flatMap((end) => (end.aborted ? [`${end.step}/${end.block}`] : [])));
    const rebuilt = ofType(events, "TextChunk").filter((chunk) => !aborted.has(`${chunk.step}/${chunk.block}`));
    expect(kept).toEqual(["hi", textOf(rebuilt)]);
  });

  it("calls that broke off are paid for: input as reported, output estimated by what came", async () => {
    const { client, agent } = await appWith(provider, [provider.beginsToSay("half of it", "cut"), provider.cutAfterCall, hello]);
    const events = await client.turn(agent.id, "hi");
    const used = ofType(events, "TokensUsed");
    const { usage: whole } = await client.agent((await client.createAgent()).id);
    expect(whole.isEstimated).toBe(false);
    expect(used).toMatchObject([
      { step: 1, inputTokens: provider.brokenInput, outputTokens: 3, isEstimated: true },
      // The first call of the second step broke off after a tool call of 17 characters, before anything of it was in the log.
      { step: 2, isEstimated: true },
    ]);
    const [first, second] = used;
    const { usage } = await client.agent(agent.id);
    expect(usage).toMatchObject({
      inputTokens: (first?.inputTokens ?? 0) + (second?.inputTokens ?? 0),
      outputTokens: (first?.outputTokens ?? 0) + (second?.outputTokens ?? 0),
      isEstimated: true,
    });
    expect(second?.inputTokens).toBeGreaterThan(provider.brokenInput);
  });

  it("an answer that is refused is paid for, as the provider counts it", async () => {
    const { client, agent } = await appWith(provider, [provider.says("I", "refusal"), hello]);
    const [used] = ofType(await client.turn(agent.id, "hi"), "TokensUsed");
    expect(used).toMatchObject({ step: 1, isEstimated: false });
    expect(used?.totalTokens).toBeGreaterThan(10);
    expect((await client.agent(agent.id)).usage.totalTokens).toBe(used?.totalTokens);
  });

  it("arguments that take longer than the limit of silence are no silence, as long as something comes", async () => {
    const { requests, client, agent } = await appWith(provider, [provider.callsSlowly, hello], {
      modelIdleMs: 300,
      modelRetries: 0,
    });
    const events = await client.turn(agent.id, "read");
    expect(ofType(events, "ErrorRaised").filter(({ phase }) => phase === "MODEL")).toEqual([]);
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { name: "fs_read" } }]);
    expect(requests).toHaveLength(2);
  });

  it.for([401, 403])(
    "%s: says that the key is not admitted, and not the provider's words, which may hold it (invariant 11)",
    async (status) => {
      const { client, agent } = await appWith(provider, [provider.error(status, "Incorrect API key provided: sk-secret")]);
      const events = await client.turn(agent.id, "hi");
      expect(ofType(events, "ErrorRaised")).toMatchObject([
        { message: `the model's provider answered ${status}: it does not admit the key that the server has` },
      ]);
    },
  );

  it("an answer of text that is only space is empty: it is made again once, is no part of the conversation, and DONE says so", async () => {
    const { client, agent } = await appWith(provider, [provider.says("\n\n", "end")], { modelRetryMs: 1 });
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "TextChunkEnd")).toMatchObject([
      { step: 1, text: "\n\n", aborted: true },
      { step: 2, text: "\n\n", aborted: true },
    ]);
    expect(ofType(events, "ErrorRaised")).toMatchObject([
      { severity: "WARN", detail: "empty" },
      { severity: "WARN", detail: "empty" },
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", detail: "empty" }]);
    expect((await client.agent(agent.id)).messages.nodes).toHaveLength(1);
  });

  it("a wait of a minute and more that the provider asks for is honoured, and whoever watches is told until when", async () => {
    const { requests, client, agent } = await appWith(provider, [provider.error(429, "later", { "retry-after": "300" }), hello]);
    const { sendMessage } = await client.get(SendMessageDocument, { input: { agentId: agent.id, text: "hi" } });
    for await (const page of client.timeline({ agentId: agent.id, since: sendMessage.cursor, until: "DONE" })) {
      const [error] = ofType(page.events, "ErrorRaised");
      if (error === undefined) continue;
      expect(error).toMatchObject({ severity: "INFO", detail: "rate_limited" });
      const waitMs = Date.parse(String(error.retryAt)) - Date.parse(error.timestamp);
      expect(waitMs).toBeGreaterThan(290_000);
      expect((await client.get(StandstillDocument, { id: agent.id })).agent?.waitingFor).toContain(String(error.retryAt));
      await client.get(InterruptAgentDocument, { input: { agentId: agent.id } });
    }
    expect(requests).toHaveLength(1);
    expect((await client.get(StandstillDocument, { id: agent.id })).agent?.waitingFor).toBeNull();
  });

  it("a wait of more than a quarter of an hour is not waited for: the turn ends, and says what the provider asked for", async () => {
    const { requests, client, agent } = await appWith(provider, [provider.error(429, "later", { "retry-after": "3600" }), hello]);
    const events = await client.turn(agent.id, "hi");
    expect(requests).toHaveLength(1);
    expect(ofType(events, "ErrorRaised")).toMatchObject([
      { severity: "ERROR", detail: "rate_limited", message: expect.stringContaining("in 60 minutes") },
    ]);
  });

  it("an interrupt aborts the request at once", async () => {
    const { requests, client, agent } = await appWith(provider, [provider.beginsToSay("half of", "silence"), hello]);
    const { sendMessage } = await client.get(SendMessageDocument, { input: { agentId: agent.id, text: "hi" } });
    for await (const page of client.timeline({ agentId: agent.id, since: sendMessage.cursor, until: "DONE" })) {
      if (ofType(page.events, "TextChunk").length > 0) await client.get(InterruptAgentDocument, { input: { agentId: agent.id } });
      const [done] = ofType(page.events, "Done");
      if (done !== undefined) expect(done.reason).toBe("INTERRUPTED");
    }
    await requests[0]?.closed;
    expect(requests).toHaveLength(1);
  });

  it("max_tokens in the text: what was said is kept, and operators are told", async () => {
    const { client, agent } = await appWith(provider, [provider.says("A long", "length")]);
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "TextChunkEnd")).toMatchObject([{ text: "A long", aborted: false }]);
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "WARN", phase: "MODEL", detail: "max_tokens" }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });

  it.for([
    ["in the middle of arguments", '{"path": "a.t'],
    ["after complete arguments", '{"path": "a.txt"}'],
  ])("max_tokens %s: the call never runs, and the model is told", async ([, args]) => {
    const { requests, client, agent } = await appWith(provider, [provider.callsRead(args ?? "", "length"), hello]);
    const events = await client.turn(agent.id, "read");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "FAILED", isError: true } }]);
    expect(ofType(events, "ToolEnd")[0]?.call.startedAt).toBeNull();
    expect(JSON.stringify(requests[1]?.body)).toMatch(/max_tokens/);
    expect(textOf(events)).toBe("Hello.");
  });

  it("a refusal: nothing of it is kept, and the turn ends with the reason", async () => {
    const { requests, client, agent } = await appWith(provider, [provider.says("Well, first", "refusal"), hello]);
    const events = await client.turn(agent.id, "hi");
    expect(requests).toHaveLength(1);
    expect(ofType(events, "TextChunkEnd")).toMatchObject([{ text: "Well, first", aborted: true }]);
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "ERROR", detail: "refused" }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
    await client.turn(agent.id, "then something else");
    expect(JSON.stringify(requests.at(-1)?.body)).not.toContain("Well, first");
  });
});

describe("a provider that is not reached", () => {
  it.for([ANTHROPIC, OPENAI])("is reported with the reason of the system: $name", async ({ model }) => {
    const port = await freePort();
    const app = await startTestApp({ model: model(`http://127.0.0.1:${port}`), template: { modelRetries: 0 } });
    const client = connect(app.url);
    const events = await client.turn((await client.createAgent()).id, "hi");
    const [{ message } = { message: "" }] = ofType(events, "ErrorRaised");
    expect(message).toMatch(new RegExp(`does not answer \\(Connection error: .*ECONNREFUSED 127\\.0\\.0\\.1:${port}\\)`));
    expect(message).not.toContain("sk-secret");
  });

  it("is reported without the key, and without the name and password of an address (invariant 11)", () => {
    const refused = new TypeError('"Bearer sk-secret" is no value for a header of http://anna:hush@127.0.0.1:9/v1');
    const cause = new Error("Connection error.", { cause: new TypeError("fetch failed", { cause: refused }) });
    const { message } = unreachable(cause, "sk-secret");
    expect(message).toContain("Connection error: fetch failed: ");
    expect(message).toContain("http://…@127.0.0.1:9/v1");
    expect(message).not.toMatch(/sk-secret|anna|hush/);
    const endless = new Error("a");
    endless.cause = endless;
    expect(unreachable(endless, null).message).toBe("the model's provider does not answer (a)");
  });
});

describe("the failure that a body says", () => {
  const answered = (status: number, body: unknown, apiKey: string | null = null) =>
    answeredError(
      Object.assign(new Error("it failed"), { status, headers: undefined, error: body }),
      { status, headers: new Headers(), body },
      apiKey,
    );
  const quota = "You exceeded your current quota, please check your plan and billing details.";

  it.each([
    [
      "a limit that passes, with a word of plans",
      429,
      { error: { message: `${quota} Please retry in 34.07s.` } },
      "rate_limited",
      34_070,
    ],
    [
      "a limit in minutes",
      429,
      { error: { message: "Limit reached. Please try again in 1m2.5s. Upgrade: x.org/billing" } },
      "rate_limited",
      62_500,
    ],
    ["a limit in words", 429, { error: { message: "Try again in 1 minute, 3 seconds" } }, "rate_limited", 63_000],
    ["hours", 429, { error: { message: "try again in 3 hours" } }, "rate_limited", 10_800_000],
    ["milliseconds", 429, { error: { message: "try again in 500 milliseconds" } }, "rate_limited", 500],
    ["an account that has run out", 429, { error: { message: quota, code: "insufficient_quota" } }, "rejected", null],
    [
      "too long, as a failure of the server",
      500,
      { error: { message: "the request exceeds the available context size" } },
      "too_long",
      null,
    ],
  ] as const)("%s", (_what, status, body, kind, retryAfterMs) => {
    expect(answered(status, body)).toMatchObject({ kind, retryAfterMs });
  });

  it("in a stream has a wait, and an account that has run out is not asked again", () => {
    expect(streamError({ type: "rate_limit_error", message: "Try again in 20s" }, null)).toMatchObject({ retryAfterMs: 20_000 });
    expect(streamError({ code: "insufficient_quota", message: quota }, null)).toMatchObject({ kind: "rejected" });
  });

  it("never has a part of the key, however it is written and wherever it is cut (invariant 11)", () => {
    const key = 'SEC"RET/KEY+1';
    for (const form of [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key)]) {
      const raw = answered(400, { error: { message: "no", metadata: { raw: "x".repeat(995) + form } } }, key);
      const listed = streamError({ zz: "x".repeat(492) + form }, key);
      for (const { message, cause } of [raw, listed]) expect(`${message} ${String(cause)}`).not.toMatch(/SEC|RET/);
    }
    expect(answered(400, { error: { message: "bad" } }, "").message).toContain("bad");
  });
});
