import Anthropic from "@anthropic-ai/sdk";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "graphql-ws";
import pg from "pg";
import WebSocket from "ws";
import { createAgent, sendMessage } from "./client.ts";
import type { Figure } from "./figure.ts";
import { pacedInsertion } from "./insertion.ts";
import { startServerProcess } from "./server-process.ts";
import { median } from "../tests/support/median.ts";

const ROUNDS = 5;
const TURNS = 40;
/** Turns before the first round: a server that works for days is warm, and V8 compiles a turn only after hundreds of it. */
const WARM = 300;

/**
 * What commit and delivery add to the model's time until the first token is with a subscriber: the median of turns, less that of
 * the provider's SDK alone. Against one INSERT that is made each 40 ms, in turns with both: a turn takes as long. The same
 * for an agent with a budget, whose call waits for the commit of its step.
 */
export async function firstToken(url: string): Promise<Figure[]> {
  let wroteAt = 0;
  const provider = createServer((request, response) => {
    request.resume().once("end", () => speak(response, () => (wroteAt = performance.now())));
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const providerUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const server = await startServerProcess("triplane-server.ts", url, providerUrl);
  const inserts = new pg.Client({ connectionString: url });
  await inserts.connect();
  const client = createClient({ url: `ws://127.0.0.1:${server.port}/graphql`, webSocketImpl: WebSocket });
  const follow = async (templateId: string): Promise<Followed> => {
    const agentId = await createAgent(server.port, templateId);
    const pages = client.iterate<Page>({
      query: "subscription ($agentId: ID!) { progress(agentId: $agentId) { events { kind ... on TextChunk { delta } } } }",
      variables: { agentId },
    });
    await pages.next();
    return { agentId, pages };
  };
  const plain = await follow("wire");
  const budgeted = await follow("budgeted");
  const sdk = new Anthropic({ apiKey: "bench", baseURL: providerUrl });

  const ours = async ({ agentId, pages }: Followed, turns: number): Promise<number> => {
    const times: number[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      await sendMessage(server.port, agentId);
      for (let isDone = false; !isDone;) {
        const { value } = (await pages.next()) as { value: { data: Page } };
        const kinds = new Set(value.data.progress.events.map((event) => event.kind));
        if (kinds.has("TEXT_CHUNK")) times.push(performance.now() - wroteAt);
        isDone = kinds.has("DONE");
      }
    }
    return median(times);
  };
  const straight = async (turns: number): Promise<number> => {
    const times: number[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const stream = await sdk.messages.create({
        model: "bench",
        max_tokens: 10,
        messages: [{ role: "user", content: "go" }],
        stream: true,
      });
      for await (const event of stream) if (event.type === "content_block_delta") times.push(performance.now() - wroteAt);
    }
    return median(times);
  };

  await ours(plain, WARM);
  await ours(budgeted, WARM);
  await straight(WARM);
  const rounds: { readonly added: number; readonly withBudget: number; readonly insert: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const alone = await straight(TURNS);
    const added = (await ours(plain, TURNS)) - alone;
    const withBudget = (await ours(budgeted, TURNS)) - alone;
    rounds.push({ added, withBudget, insert: await pacedInsertion(inserts, TURNS) });
  }
  await client.dispose();
  await server.stop();
  await inserts.end();
  provider.close();
  const figure = (name: string, of: "added" | "withBudget"): Figure => ({
    name,
    value: median(rounds.map((round) => round[of])),
    unit: "ms added",
    baseline: median(rounds.map(({ insert }) => insert)),
    ratio: median(rounds.map((round) => round[of] / round.insert)),
  });
  return [figure("first token", "added"), figure("first token, budget", "withBudget")];
}

type Page = { progress: { events: { kind: string }[] } };
type Followed = { readonly agentId: string; readonly pages: AsyncIterator<{ readonly data?: Page | null | undefined }> };

/** One token, told apart from what comes before it: the clock starts when it is written. */
function speak(response: ServerResponse, wrote: () => void): void {
  const write = (event: { readonly type: string; readonly [field: string]: unknown }): void =>
    void response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const usage = { input_tokens: 1, output_tokens: 1 };
  write({ type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "bench", content: [], usage } });
  setTimeout(() => {
    wrote();
    write({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
    write({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } });
    setTimeout(() => {
      write({ type: "content_block_stop", index: 0 });
      write({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 1 } });
      write({ type: "message_stop" });
      response.end();
    }, 10);
  }, 20);
}
