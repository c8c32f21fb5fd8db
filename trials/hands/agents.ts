import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { ask } from "../processes.ts";
import { send, stateOf, type TrialAgent } from "../agents.ts";
import { until } from "../trial.ts";

/** The name of the template, which says if programs of its agents run in a box. */
export type HandsTemplate = "boxed" | "unboxed";

/** A call as the trial looks at it. */
export type HandsCall = {
  readonly state: string;
  readonly output: string | null;
  readonly keptOutput: { readonly bytes: number } | null;
};

/** Creates an agent that works in the workspace of this name. Its calls end after `toolTimeoutMs`, or the template's time. */
export async function createHands(
  url: string,
  templateId: HandsTemplate,
  workspaces: string,
  name: string,
  toolTimeoutMs: number | null = null,
): Promise<TrialAgent> {
  const folder = join(workspaces, name);
  await mkdir(folder, { recursive: true });
  const { createAgent } = await ask<{
    createAgent: { agent: { id: string } | null; userErrors: readonly { message: string }[] };
  }>(url, "mutation($input: CreateAgentInput!) { createAgent(input: $input) { agent { id } userErrors { message } } }", {
    input: { templateId, workspace: await realpath(folder), toolTimeoutMs },
  });
  const { agent, userErrors } = createAgent;
  if (agent === null) throw new Error(userErrors.map(({ message }) => message).join("; "));
  return {
    id: agent.id,
    row: Buffer.from(agent.id, "base64")
      .toString()
      .replace(/^Agent:/, ""),
  };
}

/** Sends a message, waits for the end of its turn, and gives the newest call of the agent. */
export async function work(url: string, agent: TrialAgent, text: string, timeoutMs = 60_000): Promise<HandsCall> {
  const [call] = await workAll(url, agent, text, 1, timeoutMs);
  if (call === undefined) throw new Error(`the agent made no call for "${text.slice(0, 60)}"`);
  return call;
}

/** The same for a turn of several calls: gives the newest so many of the agent, the oldest first. */
export async function workAll(
  url: string,
  agent: TrialAgent,
  text: string,
  count: number,
  timeoutMs = 60_000,
): Promise<readonly HandsCall[]> {
  const { turn: before } = await stateOf(url, agent);
  await send(url, agent, text);
  const isDone = async (): Promise<boolean> => {
    const { state, turn, waitingFor } = await stateOf(url, agent);
    if (state === "PAUSED") throw new Error(`"${text.slice(0, 60)}" waits for ${waitingFor}`);
    return state === "READY" && turn > before;
  };
  await until(`"${text.slice(0, 60)}" is done`, isDone, timeoutMs);
  const { agent: found } = await ask<{ agent: { toolCalls: { nodes: readonly HandsCall[] } } }>(
    url,
    "query($id: ID!, $count: Int!) { agent(id: $id) { toolCalls(last: $count) { nodes { state output keptOutput { bytes } } } } }",
    { id: agent.id, count },
  );
  return found.toolCalls.nodes;
}
