import type { Model, ModelRequest } from "../../src/agent/models/model.ts";
import { callsOf, type MadeCall } from "./bash.ts";
import type { TestClient } from "./client.ts";
import { callsWith, says } from "./models.ts";

/** A call of the memory tool. */
export const memory = (command: string, input: object): MadeCall => ["memory", { command, ...input }];

export const create = (path: string, text = "text"): MadeCall => memory("create", { path, file_text: text });

/** A model that makes the calls that the newest message lists as JSON, in one step, and then says that it is done. */
export function obedientModel(): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    name: "played by the test",
    price: null,
    requests,
    stream(request) {
      requests.push(request);
      const texts = (request.messages.at(-1)?.content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : []));
      const wanted = texts.find((text) => text.startsWith('[["'));
      return wanted === undefined ? says("Done.") : callsWith(...(JSON.parse(wanted) as MadeCall[]));
    },
  };
}

/** The calls that an agent makes in a turn, as they ended. */
export async function makeCalls(client: TestClient, agentId: string, ...calls: readonly MadeCall[]) {
  await client.turn(agentId, JSON.stringify(calls));
  return (await callsOf(client, agentId)).slice(-calls.length);
}
