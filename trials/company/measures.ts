import { setTimeout as delay } from "node:timers/promises";
import type { Job } from "./plan.ts";

/** A request of JSON-RPC. Notifications have no id. */
type Request = {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: { readonly arguments?: Job };
};

const TOOL = {
  name: "measures",
  description: "Measures.",
  inputSchema: {
    type: "object",
    required: ["job", "way", "delayMs", "dueMs"],
    properties: {
      job: { type: "string" },
      way: { type: "string" },
      delayMs: { type: "number" },
      dueMs: { type: "number" },
    },
  },
};

/** An MCP server with one tool. It counts the calls of each job, over all connections. */
export class Measures {
  readonly counts: Record<string, number> = {};

  /** The answer to the body of a request; null for a notification. */
  async answer(body: string): Promise<object | null> {
    const { id, method, params } = JSON.parse(body) as Request;
    if (id === undefined) return null;
    switch (method) {
      case "initialize": {
        const serverInfo = { name: "queue", version: "1" };
        return answered(id, { result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo } });
      }
      case "ping":
        return answered(id, { result: {} });
      case "tools/list":
        return answered(id, { result: { tools: [TOOL] } });
      case "tools/call":
        return answered(id, { result: await this.#measure(params?.arguments) });
      default:
        return answered(id, { error: { code: -32601, message: "there is no such method" } });
    }
  }

  async #measure(job: Job | undefined): Promise<object> {
    if (job === undefined) throw new Error("a call has no arguments");
    this.counts[job.job] = (this.counts[job.job] ?? 0) + 1;
    await delay(job.delayMs);
    return { content: [{ type: "text", text: `measured ${job.job}` }] };
  }
}

function answered(id: string | number, outcome: object): object {
  return { jsonrpc: "2.0", id, ...outcome };
}
