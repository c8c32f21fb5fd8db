import type { Model, ModelRequest } from "../../src/agent/models/model.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "./app.ts";
import { connect, type TestClient } from "./client.ts";
import { callsWith, playedModel, says } from "./models.ts";

/** A call of a tool, as a test makes it. */
export type MadeCall = readonly [name: string, input: object];

/** A model that makes each of these calls in a step of its own, and then says that it is done. */
export function makes(...made: readonly MadeCall[]): Model & { readonly calls: readonly { readonly request: ModelRequest }[] } {
  return playedModel(...made.map((call) => () => callsWith(call)), () => says("Done."));
}

/** A server whose agents may run everything, with one agent and the calls that it makes in its first turn. */
export async function bashApp(
  made: readonly MadeCall[],
  options: TestAppOptions = {},
): Promise<{ app: TestApp; client: TestClient; agentId: string; turn: () => ReturnType<typeof callsOf> }> {
  const app = await startTestApp({
    model: makes(...made),
    ...options,
    template: { permission: { mode: "auto" }, ...options.template },
  });
  const client = connect(app.url);
  const { id: agentId } = await client.createAgent();
  const turn = async () => {
    await client.turn(agentId, "go");
    return callsOf(client, agentId);
  };
  return { app, client, agentId, turn };
}

/** The calls of an agent, in their order, with details whose fields a test may look at. */
export async function callsOf(client: TestClient, agentId: string) {
  const { toolCalls } = await client.agent(agentId);
  type Call = (typeof toolCalls.nodes)[number] & { readonly details: Readonly<Record<string, unknown>> };
  return toolCalls.nodes as readonly Call[];
}
