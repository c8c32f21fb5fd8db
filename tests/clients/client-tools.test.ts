import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { Client, fetchExchange } from "urql";
import WebSocket from "ws";
import {
  answerClientTools,
  AnswerRefused,
  type ClientToolAnswer,
  type ClientToolEvent,
  type ClientToolOptions,
} from "../../clients/src/client-tools.ts";
import { CONVERSATION, type ConversationPage } from "../../clients/src/conversation.ts";
import { iterate } from "../../clients/src/index.ts";
import { overWebSocket } from "../../clients/src/websocket.ts";
import { CompleteToolCallDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { cuttingProxy } from "../support/cutting-proxy.ts";
import { callsWith, playedModel, says } from "../support/models.ts";

const waiting = (callId: string, name = "ask", agentId = "a1"): ClientToolEvent => ({
  __typename: "ToolWaiting",
  agent: { id: agentId },
  waitsFor: "CLIENT_TOOL",
  dueAt: "2030-01-01T00:00:00Z",
  call: { callId, name },
  toolCall: { input: { of: callId } },
});
const ended = (callId: string, name = "ask"): ClientToolEvent => ({
  __typename: "ToolEnd",
  agent: { id: "a1" },
  call: { callId, name },
});
const live = (...events: ClientToolEvent[]) => ({ caughtUp: true, events });
const past = (...events: ClientToolEvent[]) => ({ caughtUp: false, events });

/** A helper whose answers and errors a test reads. */
function tab(options: Partial<ClientToolOptions> = {}) {
  const answers: ClientToolAnswer[] = [];
  const errors: unknown[] = [];
  const handled: unknown[] = [];
  const tools = answerClientTools({
    handlers: {
      ask: (input: { of: string }) => {
        handled.push(input.of);
        return { said: input.of };
      },
    },
    complete: async (answer) => {
      answers.push(answer);
      return [];
    },
    onError: (error) => void errors.push(error),
    waitMs: () => 1,
    ...options,
  });
  onTestFinished(() => tools.close());
  return { tools, answers, errors, handled };
}

describe("answerClientTools", () => {
  it("answers a call with the result of its handler, and with a key", async () => {
    const { tools, answers } = tab();
    tools.take(live(waiting("1")));
    await expect.poll(() => answers).toEqual([{ callId: "1", result: { said: "1" }, idempotencyKey: expect.any(String) }]);
  });

  it("runs no handler for a call that has ended in the past: nothing is completed by a reload", async () => {
    const { tools, answers, handled } = tab();
    tools.take(past(waiting("1"), waiting("2")));
    await delay(5);
    expect(handled).toEqual([]);
    tools.take(past(ended("1")));
    tools.take(live());
    await expect.poll(() => answers.map(({ callId }) => callId)).toEqual(["2"]);
    expect(handled).toEqual(["2"]);
  });

  it("runs a handler once, however often pages repeat, and never after the end of the call", async () => {
    const { tools, handled } = tab();
    for (const page of [live(waiting("1")), live(waiting("1")), live(ended("1")), past(waiting("1")), live(waiting("1"))])
      tools.take(page);
    tools.open([{ callId: "1", name: "ask", input: { of: "1" }, dueAt: null, waitsFor: "CLIENT_TOOL" }]);
    await delay(5);
    expect(handled).toEqual(["1"]);
  });

  it("answers the calls that waited when the tab opened, once, also if an event tells of them", async () => {
    const { tools, answers } = tab();
    const call = { name: "ask", dueAt: null };
    tools.open([
      { ...call, callId: "1", input: { of: "1" }, waitsFor: "CLIENT_TOOL" },
      { ...call, callId: "2", input: { of: "2" }, waitsFor: "LATER" },
    ]);
    tools.take(live(waiting("1")));
    await delay(5);
    expect(answers.map(({ callId }) => callId)).toEqual(["1"]);
  });

  it("leaves calls without a handler, of other waits, of other agents, and without a visible row", async () => {
    const { tools, answers } = tab({ agentId: "a1" });
    tools.take(live(waiting("1", "other"), waiting("2", "constructor"), waiting("3", "ask", "a2")));
    tools.take(live({ ...waiting("4"), waitsFor: "LATER" }, { ...waiting("5"), toolCall: null }));
    await delay(5);
    expect(answers).toEqual([]);
  });

  it("aborts the handler of a call that ends in another way, and sends nothing for it", async () => {
    const signals: AbortSignal[] = [];
    const going = Promise.withResolvers<string>();
    const { tools, answers, errors } = tab({
      handlers: {
        ask: (_input, { signal }) => {
          signals.push(signal);
          return going.promise;
        },
      },
    });
    tools.take(live(waiting("1")));
    tools.take(live(ended("1")));
    going.resolve("late");
    await delay(5);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect([answers, errors]).toEqual([[], []]);
  });

  it.each<[string, unknown, unknown]>([
    ["nothing", undefined, null],
    ["null", null, null],
    ["a text", "", ""],
    ["a function", () => {}, null],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ])("sends the result of a handler that returns %s", async (_what, returned, result) => {
    const { tools, answers } = tab({ handlers: { ask: () => returned } });
    tools.take(live(waiting("1")));
    await expect.poll(() => answers).toMatchObject([{ result }]);
  });

  it.each<[string, () => unknown, string]>([
    [
      "throws",
      () => {
        throw new Error("no clipboard");
      },
      "no clipboard",
    ],
    ["rejects", () => Promise.reject(new Error("no clipboard")), "no clipboard"],
    [
      "throws no error",
      () => {
        throw "a text";
      },
      "a text",
    ],
    [
      "throws an empty error",
      () => {
        throw new Error();
      },
      "the client failed",
    ],
    ["returns what is no JSON", () => 1n, "Do not know how to serialize a BigInt"],
  ])("reports a handler that %s as the error of the call", async (_what, ask, message) => {
    const { tools, answers, errors } = tab({ handlers: { ask } });
    tools.take(live(waiting("1")));
    await expect.poll(() => answers).toHaveLength(1);
    expect(answers[0]).toEqual({ callId: "1", error: message, idempotencyKey: expect.any(String) });
    expect(errors).toHaveLength(1);
  });

  it("sends an answer again with its key until it is taken, and stops when the call ends", async () => {
    const keys: string[] = [];
    let results: (readonly { code: string; message: string }[] | null)[] = [null, [{ code: "UNAVAILABLE", message: "soon" }], []];
    const { tools, errors, handled } = tab({
      complete: async ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        const result = results.length > 1 ? results.shift() : results[0];
        if (result == null) throw new Error("no network");
        return result;
      },
    });
    tools.take(live(waiting("1")));
    await expect.poll(() => keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(errors).toHaveLength(2);
    expect(handled).toEqual(["1"]);
    results = [null];
    tools.take(live(waiting("2")));
    await expect.poll(() => keys.length).toBeGreaterThan(5);
    tools.take(live(ended("2")));
    const sent = keys.length;
    await delay(20);
    expect(keys.length - sent).toBeLessThanOrEqual(1);
  });

  it("takes CALL_ENDED for done, and reports other refusals once", async () => {
    for (const [code, count] of [
      ["CALL_ENDED", 0],
      ["INVALID", 1],
      ["FORBIDDEN", 1],
    ] as const) {
      const complete = vi.fn(async () => [{ code, message: "refused" }]);
      const { tools, errors } = tab({ complete });
      tools.take(live(waiting("1")));
      await delay(10);
      expect(complete).toHaveBeenCalledTimes(1);
      expect(errors).toHaveLength(count);
      for (const error of errors) expect(error).toBeInstanceOf(AnswerRefused);
    }
  });

  it("runs no handler after it was closed, and aborts those that run", async () => {
    const signals: AbortSignal[] = [];
    const ask: ClientToolOptions["handlers"][string] = (_input, { signal }) => void signals.push(signal);
    const { tools, answers } = tab({ handlers: { ask } });
    tools.take(live(waiting("1")));
    tools.close();
    tools.take(live(waiting("2")));
    await delay(5);
    expect(signals).toHaveLength(1);
    expect(answers).toEqual([]);
  });
});

const ASK = {
  description: "Asks.",
  readOnly: true,
  inputSchema: { type: "object", required: ["question"], properties: { question: { type: "string" } } },
} as const;

/** A server whose agent asks clients these questions in one answer. */
async function asking(...questions: readonly string[]) {
  const model = playedModel(
    () => callsWith(...questions.map((question) => ["ask", { question }] as const)),
    () => says("I have it."),
  );
  const app = await startTestApp({ model, template: { clientTools: { ask: ASK } } });
  const client = connect(app.url);
  const agent = await client.createAgent();
  return { app, client, agent, model };
}

/** Follows an agent in the way of a tab; returns the pages that came. */
function follow(url: string, agentId: string, took: (page: ConversationPage) => void): void {
  const transport = overWebSocket({ url: url.replace("http", "ws"), webSocketImpl: WebSocket });
  onTestFinished(() => transport.dispose());
  const pages = iterate<{ timeline: ConversationPage }>(
    transport,
    { query: CONVERSATION.document, variables: { agentId, since: "0" } },
    { waitMs: () => 10 },
  );
  onTestFinished(() => void pages.return());
  void (async () => {
    for await (const { data } of pages) if (data) took(data.timeline);
  })();
}

describe("the tabs of an agent whose client tools ask", () => {
  it("answer each call once, with Apollo Client and urql, over connections that are cut", async () => {
    const { app, client, agent, model } = await asking("one?", "two?", "three?");
    const proxy = await cuttingProxy(app.port);
    const through = `http://127.0.0.1:${proxy.port}/graphql`;
    const text = `mutation ($input: CompleteToolCallInput!) { completeToolCall(input: $input) { toolCall { id } userErrors { code message } } }`;
    type Answered = { completeToolCall: { userErrors: { code: string; message: string }[] } };
    const apollo = new ApolloClient({ link: new HttpLink({ uri: app.url }), cache: new InMemoryCache() });
    const urql = new Client({ url: app.url, preferGetMethod: false, exchanges: [fetchExchange] });
    const completes: ClientToolOptions["complete"][] = [
      async (input) => {
        const { data } = await apollo.mutate<Answered>({ mutation: gql(text), variables: { input } });
        return data?.completeToolCall.userErrors ?? [];
      },
      async (input) => {
        const { data, error } = await urql.mutation<Answered>(text, { input });
        if (data == null) throw error ?? new Error("no answer");
        return data.completeToolCall.userErrors;
      },
    ];
    const handled: string[][] = [[], []];
    const errors: unknown[] = [];
    for (const [index, complete] of completes.entries()) {
      const tools = answerClientTools({
        handlers: {
          ask: async ({ question }: { question: string }) => {
            handled[index]?.push(question);
            await delay(20 * (index + 1));
            return { by: index, question };
          },
        },
        complete,
        onError: (error) => void errors.push(error),
      });
      onTestFinished(() => tools.close());
      follow(through, agent.id, (page) => tools.take(page));
    }
    const cutting = setInterval(() => proxy.cutNow(), 40);
    onTestFinished(() => clearInterval(cutting));
    await client.send(agent.id, "go");
    const events = await client.until(agent.id, "DONE");
    clearInterval(cutting);
    expect(textOf(events)).toBe("I have it.");
    expect(ofType(events, "ToolEnd").map(({ call }) => call.state)).toEqual(["COMPLETED", "COMPLETED", "COMPLETED"]);
    expect(proxy.connections).toBeGreaterThan(2);
    for (const questions of handled) expect(new Set(questions).size).toBe(questions.length);
    expect(errors).toEqual([]);
    const told = JSON.stringify(model.calls[1]?.request.messages);
    const places = ["one?", "two?", "three?"].map((question) => told.lastIndexOf(question));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it("see a question in the conversation until it is answered, also in a tab that opens later", async () => {
    const question = `Which? ${"x".repeat(500)}`;
    const { app, client, agent } = await asking(question);
    let view = CONVERSATION.empty;
    const handled: unknown[] = [];
    const answer = Promise.withResolvers<string>();
    const tools = answerClientTools({
      handlers: { ask: (input) => (handled.push(input), answer.promise) },
      complete: async (input) => (await client.get(CompleteToolCallDocument, { input })).completeToolCall.userErrors,
    });
    await client.send(agent.id, "go");
    await client.until(agent.id, "TOOL_WAITING");
    follow(app.url, agent.id, (page) => {
      view = CONVERSATION.after(view, page);
      tools.follow(view);
    });
    const asked = () => view.items.find(({ kind }) => kind === "tool");
    await expect
      .poll(asked)
      .toMatchObject({ call: { name: "ask" }, toAnswer: { input: { question }, dueAt: expect.any(String) } });
    await expect.poll(() => handled).toEqual([{ question }]);
    answer.resolve("this");
    await expect.poll(asked).toMatchObject({ call: { state: "COMPLETED", output: "this" }, toAnswer: null });
    expect(handled).toHaveLength(1);
  });

  it("abort the handler of a call whose turn is interrupted, or that another tab has answered", async () => {
    const { app, client, agent } = await asking("Which?");
    let view = CONVERSATION.empty;
    const signals: AbortSignal[] = [];
    const tools = answerClientTools({
      handlers: { ask: (_input, { signal }) => (signals.push(signal), new Promise(() => {})) },
      complete: async () => [],
    });
    follow(app.url, agent.id, (page) => tools.follow((view = CONVERSATION.after(view, page))));
    await client.send(agent.id, "go");
    await expect.poll(() => signals.length).toBe(1);
    const callId = view.items.find(({ kind }) => kind === "tool")?.key ?? "";
    await client.get(CompleteToolCallDocument, { input: { callId, result: "from elsewhere" } });
    await expect.poll(() => signals[0]?.aborted).toBe(true);
  });
});
