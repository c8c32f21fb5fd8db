import { expect } from "vitest";
import { TreeDocument, type TreeQuery } from "../generated/documents.ts";
import type { ModelEvent, ModelRequest } from "../../src/agent/models/model.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { startTestApp } from "./app.ts";
import { connect, type TestClient } from "./client.ts";
import { callsWith, says, type playedModel } from "./models.ts";
import type { ownTool } from "./tools.ts";

export type Player = (request: ModelRequest) => AsyncIterable<ModelEvent>;

/** A model that answers each kind of agent, known by its system prompt, in the order of that kind's calls. */
export function teamModel(players: Readonly<Record<string, readonly Player[]>>): ReturnType<typeof playedModel> {
  const calls: { request: ModelRequest; signal: AbortSignal }[] = [];
  const made = new Map<string, number>();
  return {
    name: "played by the test",
    price: null,
    calls,
    stream(request, signal) {
      calls.push({ request, signal });
      const own = players[request.system] ?? [];
      const nth = made.get(request.system) ?? 0;
      made.set(request.system, nth + 1);
      const player = own[Math.min(nth, own.length - 1)];
      if (player === undefined) throw new Error(`the test has no player for ${request.system}`);
      return player(request);
    },
  };
}

/** A player that makes these calls in each turn, and then says "End.". */
export function first(...calls: readonly (readonly [tool: string, input: object])[]): Player {
  return ({ messages }) => (JSON.stringify(messages.at(-1)).includes("tool_result") ? says("End.") : callsWith(...calls));
}

export const lead: Partial<TemplateConfig> = {
  systemPrompt: "lead",
  model: "test",
  selfApproval: true,
  subagents: { templates: ["worker"] },
  permission: { mode: "auto" },
};
export const worker: Partial<TemplateConfig> = { systemPrompt: "worker", model: "test", permission: { mode: "auto" } };

export const task = (input: object = {}): readonly [string, object] => [
  "task_run",
  { description: "count", prompt: "Count the files.", agentTemplateId: "worker", ...input },
];

/** A server with these templates, an agent of `assistant`, and a message that begins. */
export async function team(
  players: Readonly<Record<string, readonly Player[]>>,
  templates: Readonly<Record<string, Partial<TemplateConfig>>> = { assistant: lead, worker },
  tools: Parameters<typeof startTestApp>[0] extends infer _ ? readonly ReturnType<typeof ownTool>[] : never = [],
) {
  const model = teamModel(players);
  const app = await startTestApp({
    model,
    config: { templates: templates as Record<string, TemplateConfig>, tools: [...tools] },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "go");
  return { app, client, agent, model };
}

export const treeOf = async (client: TestClient, id: string) => {
  const { agent } = await client.get(TreeDocument, { id });
  if (agent === null) throw new Error("there is no such agent");
  return agent;
};

export async function until(client: TestClient, id: string, isSo: (tree: NonNullable<TreeQuery["agent"]>) => boolean) {
  await expect.poll(async () => isSo(await treeOf(client, id)), { timeout: 10_000 }).toBe(true);
  return treeOf(client, id);
}
