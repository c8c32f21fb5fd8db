import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { answered, jobOf, NO_METHOD, question, textOf, tool, type Message, type Tally } from "./tally.ts";

/** An MCP server of the older generation: `measures` takes its time, and `talks` asks a person while its call runs. */
export class OlderServer {
  readonly #tally: Tally;
  readonly #asking = new Map<string | number, (answer: Message) => void>();

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  async answer(message: Message, response: ServerResponse): Promise<void> {
    const { id, method } = message;
    if (id !== undefined && method === undefined) this.#asking.get(id)?.(message);
    if (id === undefined || method === undefined) return void response.writeHead(202).end();
    if (method === "tools/call" && message.params?.name === "talks") return this.#talk(id, message, response);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answered(id, await this.#outcome(message))));
  }

  async #outcome(message: Message): Promise<object> {
    switch (message.method) {
      case "initialize": {
        const serverInfo = { name: "queue", version: "1" };
        return { result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo } };
      }
      case "ping":
        return { result: {} };
      case "tools/list":
        return { result: { tools: [tool("measures"), tool("talks")] } };
      case "tools/call": {
        const { job, delayMs } = jobOf(message);
        this.#tally.note("ran", job);
        await delay(delayMs);
        return { result: textOf(`measured ${job}`) };
      }
      default:
        return NO_METHOD;
    }
  }

  /** Asks over the connection of the call. A refused question is no failure of the tool. */
  async #talk(id: string | number, message: Message, response: ServerResponse): Promise<void> {
    const { job } = jobOf(message);
    const asked = Promise.withResolvers<Message>();
    const key = `${job} ${String(id)}`;
    this.#asking.set(key, asked.resolve);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (event: object): unknown => response.write(`event: message\ndata: ${JSON.stringify(event)}\n\n`);
    send({ jsonrpc: "2.0", id: key, method: "elicitation/create", params: question(job) });
    this.#tally.note("asked", job);
    const { result, error } = await asked.promise;
    this.#asking.delete(key);
    this.#tally.note(result?.action === "accept" ? "ran" : "refused", job);
    const said = result === undefined ? `refused: ${error?.message}` : `${result.action} ${result.content?.value}`;
    send(answered(id, { result: textOf(`talked ${job}: ${said}`) }));
    response.end();
  }
}
