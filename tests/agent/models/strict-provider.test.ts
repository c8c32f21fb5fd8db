import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { anthropicModel } from "../../../src/agent/models/anthropic.ts";
import { MODEL_CALL_SETTINGS } from "../../../src/agent/models/model-settings.ts";
import { complete } from "../../../src/lib/setting.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType } from "../../support/client.ts";
import { messageStream, type MessagesBody, type StreamBlock } from "../../support/providers/anthropic-stream.ts";
import { ownTool } from "../../support/tools.ts";

const WINDOW = 10_000;

type Block = MessagesBody["messages"][number]["content"][number];

async function bodyOf(request: IncomingMessage): Promise<MessagesBody> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString()) as MessagesBody;
}

/** Why the Messages API would refuse a request; null for none. Four characters are a token. */
function refusalOf(body: MessagesBody): string | null {
  const tokens = tokensOf(body);
  if (tokens > WINDOW) return `prompt is too long: ${tokens} tokens > ${WINDOW} maximum`;
  if (body.messages[0]?.role !== "user") return "messages: first message must use the user role";
  for (const [index, { content }] of body.messages.entries()) {
    if (content.length === 0) return `messages.${index}: content must be non-empty`;
    if (content.some((block) => block["type"] === "text" && String(block["text"]).trim() === ""))
      return `messages.${index}: text content blocks must be non-empty`;
    const asked = ids(body.messages[index - 1]?.content ?? [], "tool_use", "id");
    const answered = ids(content, "tool_result", "tool_use_id");
    if (asked.toSorted().join() !== answered.toSorted().join())
      return `messages.${index}: tool_use ids ${asked.join()} have results ${answered.join()}`;
  }
  return null;
}

function ids(content: readonly Block[], type: string, field: string): readonly string[] {
  return content.flatMap((block) => (block["type"] === type ? [String(block[field])] : []));
}

function tokensOf({ system, messages, tools }: MessagesBody): number {
  return Math.ceil(JSON.stringify({ system, messages, tools }).length / 4);
}

/** A server as strict as the provider, which reads so many tokens, counts them, and says that it reads so many. */
async function strictProvider() {
  const bodies: MessagesBody[] = [];
  const refusals: string[] = [];
  let counts = 0;
  const server = createServer((request, response) => {
    const json = (status: number, body: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.method === "GET") return json(200, { id: "claude-test", max_input_tokens: WINDOW });
    void bodyOf(request).then((body) => {
      const refusal = refusalOf(body);
      if (refusal !== null) {
        refusals.push(refusal);
        return json(400, { type: "error", error: { type: "invalid_request_error", message: refusal } });
      }
      if (request.url?.includes("count_tokens") === true) {
        counts += 1;
        return json(200, { input_tokens: tokensOf(body) });
      }
      bodies.push(body);
      const last = JSON.stringify(body.messages.at(-1));
      const isSummary = last.includes("Write the summary now");
      const calls = !isSummary && last.includes("look") && !last.includes("tool_result");
      const blocks: StreamBlock[] = calls
        ? [{ tool: "reads", id: `toolu_${bodies.length}`, json: ["{}"] }]
        : [{ text: [isSummary ? "Facts: the colour is blue." : "ok"] }];
      const events = messageStream(blocks, calls ? "tool_use" : "end_turn", { input_tokens: tokensOf(body) });
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
      return undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, refusals, counts: () => counts };
}

it("a long conversation with a provider as strict as Claude's is never refused, and the provider counts near the mark", async () => {
  const { url, bodies, refusals, counts } = await strictProvider();
  const options = { apiKey: "sk-test", baseUrl: url, model: "claude-test", maxTokens: 1_000, thinking: null };
  const model = anthropicModel({ ...options, settings: complete(MODEL_CALL_SETTINGS, {}), price: null, window: WINDOW });
  const reads = ownTool("reads", async () => ({ output: "x".repeat(2_000), details: null }));
  const template = { tools: ["reads"], permission: { mode: "auto" as const } };
  const app = await startTestApp({ model, config: { tools: [reads] }, template });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  for (let turn = 0; turn < 40; turn += 1) {
    const events = await client.turn(id, `${turn % 2 === 0 ? "look" : "talk"} ${turn} ${"m".repeat(500)}`);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    await expect.poll(async () => (await client.agent(id)).state).toBe("READY");
  }
  const events = await client.events(id);
  expect(refusals).toEqual([]);
  expect(ofType(events, "ErrorRaised")).toEqual([]);
  const ends = ofType(events, "ContextCompression").filter(({ compressionPhase }) => compressionPhase === "END");
  expect(ends.length).toBeGreaterThan(1);
  expect(counts()).toBeGreaterThan(0);
  expect(Math.max(...bodies.map(tokensOf))).toBeLessThan(WINDOW);
  expect(JSON.stringify(bodies.at(-1)?.messages)).toContain("Facts: the colour is blue.");
}, 60_000);
