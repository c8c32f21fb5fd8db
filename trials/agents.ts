import { ask } from "./processes.ts";
import type { TrialRun } from "./trial.ts";

/** An agent of a trial: its global id and the id of its row. */
export type TrialAgent = { readonly id: string; readonly row: string };

/** Creates an agent, of the template `trial` if no other is named. */
export async function createAgent(url: string, template = "trial"): Promise<TrialAgent> {
  const { createAgent: created } = await ask<{ createAgent: { agent: { id: string } } }>(
    url,
    `mutation($template: ID!) { createAgent(input: { templateId: $template }) { agent { id } } }`,
    { template },
  );
  const { id } = created.agent;
  return {
    id,
    row: Buffer.from(id, "base64")
      .toString()
      .replace(/^Agent:/, ""),
  };
}

/** Sends a message to an agent. */
export async function send(url: string, { id }: TrialAgent, text: string): Promise<void> {
  await ask(url, `mutation($id: ID!, $text: String!) { sendMessage(input: { agentId: $id, text: $text }) { cursor } }`, {
    id,
    text,
  });
}

/** Interrupts the turn of an agent, with what it runs. */
export async function interrupt(url: string, { id }: TrialAgent): Promise<void> {
  await ask(url, `mutation($id: ID!) { interruptAgent(input: { agentId: $id }) { userErrors { code } } }`, { id });
}

/** How an agent stands. */
export type AgentState = {
  readonly state: "READY" | "WORKING" | "PAUSED";
  readonly turn: number;
  readonly waitingFor: string | null;
  readonly pendingApprovals: readonly OpenApproval[];
};

/** An approval that waits for a decision. */
export type OpenApproval = { readonly id: string; readonly inputHash: string };

/** Which turn an agent has come to, in words that every version knows. */
export async function turnOf(url: string, { id }: TrialAgent): Promise<Pick<AgentState, "state" | "turn">> {
  const { agent } = await ask<{ agent: AgentState }>(url, `query($id: ID!) { agent(id: $id) { state turn } }`, { id });
  return agent;
}

/** How an agent stands now. */
export async function stateOf(url: string, { id }: TrialAgent): Promise<AgentState> {
  const { agent } = await ask<{ agent: AgentState }>(
    url,
    `query($id: ID!) { agent(id: $id) { state turn waitingFor pendingApprovals { id inputHash } } }`,
    { id },
  );
  return agent;
}

/** Allows what is asked. Gives the codes of refusals. */
export async function allow(url: string, { id, inputHash }: OpenApproval): Promise<readonly string[]> {
  const { decideApproval } = await ask<{ decideApproval: { userErrors: readonly { code: string }[] } }>(
    url,
    `mutation($input: DecideApprovalInput!) { decideApproval(input: $input) { userErrors { code } } }`,
    { input: { approvalId: id, decision: "ALLOW", inputHash } },
  );
  return decideApproval.userErrors.map(({ code }) => code);
}

/** An event as trials look at it. */
export type TrialEvent = {
  readonly seq: number;
  readonly kind: string;
  readonly reason?: string;
  readonly delta?: string;
  readonly call?: { readonly callId: string; readonly state: string };
};

/** The whole timeline of an agent. */
export async function timelineOf(url: string, { id }: TrialAgent): Promise<readonly TrialEvent[]> {
  const events: TrialEvent[] = [];
  for (let since = "0"; ;) {
    const { timeline } = await ask<{ timeline: { events: readonly TrialEvent[]; cursor: string; caughtUp: boolean } }>(
      url,
      `query($id: ID!, $since: Cursor) { timeline(agentIds: [$id], since: $since) { cursor caughtUp events { seq kind
        ... on Done { reason } ... on TextChunk { delta } ... on ToolEvent { call { callId state } } } } }`,
      { id, since },
    );
    events.push(...timeline.events);
    if (timeline.caughtUp) return events;
    since = timeline.cursor;
  }
}

/** Checks that the events of an agent's timeline are all there, in order. */
export function checkSeqs({ row }: TrialAgent, events: readonly TrialEvent[], fail: TrialRun["fail"]): void {
  events.forEach(({ seq }, index) => {
    if (seq !== index + 1) fail(`agent ${row}: seq ${seq} is where ${index + 1} should be`);
  });
}

type Block = { readonly __typename: string; readonly toolCall?: { readonly callId: string } | null };

/** Every call of the conversation has one result in the next message, in order; says what is wrong, or null. */
export async function unpaired(url: string, { id }: TrialAgent): Promise<string | null> {
  type Blocks = { readonly blocks: readonly Block[] };
  const { agent } = await ask<{ agent: { messages: { nodes: readonly Blocks[] } } }>(
    url,
    `query($id: ID!) { agent(id: $id) { messages(first: 100) { nodes { blocks { __typename
      ... on ToolCallBlock { toolCall { callId } } ... on ToolResultBlock { toolCall { callId } } } } } } }`,
    { id },
  );
  const callsOf = (message: Blocks | undefined, type: Block["__typename"]): readonly string[] =>
    (message?.blocks ?? []).flatMap(({ __typename, toolCall }) => (__typename === type ? [toolCall?.callId ?? "none"] : []));
  const messages = agent.messages.nodes;
  for (const [index, message] of messages.entries()) {
    const calls = callsOf(message, "ToolCallBlock");
    if (calls.length === 0) continue;
    const results = callsOf(messages[index + 1], "ToolResultBlock");
    if (String(calls) !== String(results)) return `the calls ${calls.join(", ")} have the results ${results.join(", ")}`;
  }
  return null;
}
