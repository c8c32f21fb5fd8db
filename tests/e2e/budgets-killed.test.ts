import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { administrator, testDatabaseUrl } from "../support/database.ts";
import { messageStream, type MessagesBody, type StreamBlock } from "../support/providers/anthropic-stream.ts";
import { startServerProcess } from "../support/server-process.ts";

const CHILDREN = 20;
/** Millionths of a dollar. */
const STEP = 100_000;
const LIMIT = 5_000_000;
/** The numbers of the calls during which the servers are killed. */
const DEATHS = [9, 26];

/** `lost` are calls without an answer, and `lostFirst` those of agents without an earlier step. */
type Bill = { made: number; lost: number; lostFirst: number };

/** A provider with a bill: each call that it has begun costs a step. `during` is told the number of each. `lose` notes that those under way get no answer. */
async function providerWithBill(
  during: (call: number) => void,
): Promise<{ readonly url: string; readonly bill: Bill; readonly lose: () => void }> {
  const bill: Bill = { made: 0, lost: 0, lostFirst: 0 };
  const flying = new Set<MessagesBody>();
  const lose = (): void => {
    bill.lost += flying.size;
    bill.lostFirst += [...flying].filter(({ messages }) => messages.length === 1).length;
    flying.clear();
  };
  const server = createServer((request, response) => void respond(request, response));
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") return void response.writeHead(404).end("{}");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = JSON.parse(text) as MessagesBody;
    bill.made += 1;
    flying.add(body);
    during(bill.made);
    await delay(40);
    flying.delete(body);
    const [blocks, reason] = repliesTo(body, text);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of messageStream(blocks, reason, { input_tokens: 1_000 }))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bill, lose };
}

/** The lead starts its children; each of them calls a tool without end. */
function repliesTo({ system, messages }: MessagesBody, text: string): [readonly StreamBlock[], string] {
  const call = (tool: string, input: object, id: number): StreamBlock => ({
    tool,
    id: `call_${messages.length}_${id}`,
    json: [JSON.stringify(input)],
  });
  if (JSON.stringify(system).includes("worker")) return [[call("todo_write", { todos: [] }, 0)], "tool_use"];
  if (text.includes("tool_result")) return [[{ text: ["Done."] }], "end_turn"];
  const task = { description: "count", prompt: "Count.", agentTemplateId: "worker" };
  return [Array.from({ length: CHILDREN }, (_, index) => call("task_run", task, index)), "tool_use"];
}

/** Two servers on one database. `killAll` kills them, and starts two others. */
async function twoServers({ url: providerUrl, lose }: { readonly url: string; readonly lose: () => void }) {
  const folder = await temporaryFolder();
  const config = {
    models: { m: { provider: "anthropic", model: "m", price: { input: 100, output: 0, cacheRead: 0, cacheWrite: 0 } } },
    templates: {
      assistant: {
        systemPrompt: "lead",
        model: "m",
        tools: ["task_run"],
        permission: { mode: "auto" },
        subagents: { templates: ["worker"], atOnce: CHILDREN },
        toolConcurrency: CHILDREN,
        budgets: [{ per: "TREE", usd: LIMIT / 1_000_000, then: "stop" }],
      },
      worker: { systemPrompt: "worker", model: "m", tools: ["todo_write"], permission: { mode: "auto" } },
    },
  };
  const path = join(folder, "triplane.config.ts");
  await writeFile(path, `export default ${JSON.stringify(config)};`);
  const database = await testDatabaseUrl();
  const env = {
    DATABASE_URL: database,
    TRIPLANE_CONFIG: path,
    TRIPLANE_DATA_DIR: folder,
    ANTHROPIC_API_KEY: "key",
    ANTHROPIC_BASE_URL: providerUrl,
  };
  const start = () => startServerProcess(env, "tests/support/short-lease-server.ts");
  let servers = Promise.all([start(), start()]);
  const killAll = async (): Promise<void> => {
    for (const { child } of await servers) child.kill("SIGKILL");
    lose();
    servers = Promise.all([start(), start()]);
    await servers;
  };
  const url = async (): Promise<string> => (await servers)[0]?.url ?? "";
  await servers;
  return { database, url, killAll };
}

const SUMS = `SELECT (SELECT sum(spent_millionths)::float8 FROM budget_period) AS spent,
  (SELECT sum(held_millionths + held_tokens)::float8 FROM budget_period) + (SELECT count(*) FROM budget_hold)::float8 AS held,
  (SELECT count(*)::int FROM step WHERE state = 'STARTED') AS open,
  (SELECT count(*)::int FROM agent WHERE parent_id IS NOT NULL AND done_reason = 'BUDGET') AS stopped`;

it("20 children on one budget overrun it by a step each at most while servers are killed, and no hold is left", async () => {
  let killAll = async (): Promise<void> => {};
  const kills: Promise<void>[] = [];
  const provider = await providerWithBill((call) => void (DEATHS.includes(call) && kills.push(killAll())));
  const world = await twoServers(provider);
  killAll = world.killAll;
  const { id, cursor } = await connect(await world.url()).createAgent();
  await connect(await world.url()).send(id, "go");
  await expect.poll(() => kills.length, { timeout: 30_000 }).toBe(DEATHS.length);
  await Promise.all(kills);
  const events = await connect(await world.url()).until(id, "DONE", cursor);
  expect(ofType(events, "Done")).toMatchObject([{ reason: "BUDGET" }]);
  const client = await administrator(world.database);
  const [sums] = (await client.query<{ spent: number; held: number; open: number; stopped: number }>(SUMS)).rows;
  expect(sums).toMatchObject({ held: 0, open: 0, stopped: CHILDREN });
  expect(sums?.spent).toBeLessThanOrEqual(LIMIT + (CHILDREN + 1) * STEP);
  expect(sums?.spent).toBeGreaterThan(LIMIT - STEP);
  const { bill } = provider;
  expect(bill.lost).toBeGreaterThan(0);
  // The provider's own bill. A first call that is lost has no usage, and is estimated.
  expect((bill.made - bill.lostFirst) * STEP).toBeLessThanOrEqual(LIMIT + (CHILDREN + 1) * STEP);
}, 120_000);
