import type pg from "pg";
import type { TrialRun } from "../trial.ts";
import { treeOf, type PlannedAgent, type PlannedChild } from "./plan.ts";
import type { CallRow, EventRow } from "./rows.ts";

/** An agent at the end. */
export type AgentRow = {
  readonly id: string;
  readonly title: string | null;
  readonly parentId: string | null;
  readonly parentCallId: string | null;
  readonly depth: number;
  readonly turn: number;
  readonly doneReason: string | null;
  /** The texts of the messages that it received. */
  readonly received: readonly string[];
  /** The steps of its parent that told its end in the background; null for a notice that no step told. */
  readonly toldAt: readonly (number | null)[];
  /** The messages of its parent's conversation that tell its end in the background. */
  readonly tellings: number;
};

const AGENTS = `SELECT a.id, a.title, a.parent_id AS "parentId", a.parent_call_id AS "parentCallId", a.depth, a.turn, a.done_reason AS "doneReason",
    (SELECT coalesce(json_agg(m.content #>> '{0,text}'), '[]') FROM message m WHERE m.agent_id = a.id AND m.arrival IS NOT NULL) AS received,
    (SELECT coalesce(json_agg(n.told_at_step), '[]') FROM notice n WHERE n.agent_id = a.parent_id AND n.ref = a.id) AS "toldAt",
    (SELECT count(*)::int FROM message m WHERE m.agent_id = a.parent_id AND m.content::text LIKE '%The agent ' || a.id || ' (%) has ended%') AS tellings
  FROM agent a`;

export async function readAgents(database: pg.Client): Promise<readonly AgentRow[]> {
  return (await database.query<AgentRow>(AGENTS)).rows;
}

/** The agents, calls and events of the trial at the end. */
export type Found = {
  readonly agents: readonly AgentRow[];
  readonly calls: readonly CallRow[];
  readonly events: readonly EventRow[];
};

type Fail = TrialRun["fail"];

/** Checks that each planned child below an agent ran once, returned once, and was told once. Returns the number of children. */
export function checkFamily(planned: PlannedAgent, agent: AgentRow, found: Found, fail: Fail): number {
  const children = found.agents.filter(({ parentId }) => parentId === agent.id);
  if (children.length !== planned.children.length)
    fail(`the agent ${planned.text} has ${children.length} children, not ${planned.children.length}`);
  const inBackground = planned.children.filter(({ isBackground }) => isBackground).length;
  const done = found.events.filter(({ agentId, kind }) => agentId === agent.id && kind === "DONE").length;
  if (done !== agent.turn || agent.turn > 1 + inBackground)
    fail(`the agent ${planned.text} has ${done} DONE in ${agent.turn} turns, with ${inBackground} children in the background`);
  const below = planned.children.map((child) => {
    const own = children.filter(({ title }) => title === child.text);
    const [only] = own;
    if (only === undefined || own.length > 1) {
      const call = found.calls.find(({ job }) => job === child.text);
      fail(`the child ${child.text} has ${own.length} rows, and its call is ${JSON.stringify(call ?? null)}`);
      return 0;
    }
    checkChild(child, agent, only, found, (problem) => fail(`the child ${child.text}: ${problem}`));
    return checkFamily(child, only, found, fail);
  });
  return below.reduce((sum, count) => sum + count, children.length);
}

function checkChild(planned: PlannedChild, parent: AgentRow, child: AgentRow, { calls, events }: Found, fail: Fail): void {
  if (child.depth !== parent.depth + 1) fail(`its depth is ${child.depth}, below one of ${parent.depth}`);
  if (child.received.length !== 1 || child.received[0] !== planned.text) fail(`it received ${JSON.stringify(child.received)}`);
  if (child.doneReason !== "COMPLETED") fail(`it ended with ${child.doneReason}`);
  const ofAgent = (id: string, kind: string): readonly EventRow[] =>
    events.filter((event) => event.agentId === id && event.kind === kind && (id === child.id || event.childId === child.id));
  const [spawned, returned] = [ofAgent(parent.id, "AGENT_SPAWNED"), ofAgent(parent.id, "AGENT_RETURNED")];
  if (spawned.length !== 1 || returned.length !== 1)
    fail(`its parent has ${spawned.length} AGENT_SPAWNED and ${returned.length} AGENT_RETURNED`);
  for (const kind of ["AGENT_CREATED", "MESSAGE_RECEIVED"])
    if (ofAgent(child.id, kind).length !== 1) fail(`it has ${ofAgent(child.id, kind).length} ${kind}`);
  const first = events.find(({ agentId }) => agentId === child.id);
  if ((first?.position ?? 0) < (spawned[0]?.position ?? Infinity)) fail("its events begin before AGENT_SPAWNED");
  const call = calls.find(({ id }) => id === child.parentCallId);
  if (call === undefined || call.job !== planned.text) return fail(`its call is ${JSON.stringify(call)}`);
  checkResult(planned, child, call, events, fail);
  const { toldAt, tellings } = child;
  const times = planned.isBackground ? 1 : 0;
  if (toldAt.length !== times || toldAt.includes(null) || tellings !== times)
    fail(`its parent has ${toldAt.length} notices of its end, told in the steps ${toldAt.join(", ")}, in ${tellings} messages`);
}

/** The call of a child has one end, with the child's result or its receipt. */
function checkResult(
  { isBackground }: PlannedChild,
  child: AgentRow,
  call: CallRow,
  events: readonly EventRow[],
  fail: Fail,
): void {
  for (const kind of ["TOOL_START", "TOOL_END", "TOOL_EXECUTED"]) {
    const count = events.filter((event) => event.callId === call.id && event.kind === kind).length;
    if (count !== 1) fail(`its call has ${count} ${kind}`);
  }
  const { status, agentId } = (call.details ?? {}) as { readonly status?: string; readonly agentId?: string };
  if (call.state !== "COMPLETED" || status !== (isBackground ? "started" : "ok") || agentId !== child.id)
    fail(`its call is ${call.state} with ${JSON.stringify(call.details)}`);
  const waited = call.passed.filter((state) => state === "WAITING").length;
  if (waited !== (isBackground ? 0 : 1)) fail(`its call was WAITING ${waited} times`);
  if (call.openWaits > 0) fail(`${call.openWaits} waits for it are open`);
}

/** The runs after which the outcome of a call is unknown, though it may be repeated. */
const MOST_RUNS = 3;

/** The texts of children that never began: the servers of three runs of their calls died. */
export function givenUp(told: readonly PlannedAgent[], calls: readonly CallRow[]): ReadonlySet<string> {
  const texts = new Set(told.flatMap(treeOf).flatMap(({ children }) => children.map(({ text }) => text)));
  const isGivenUp = ({ job, state, passed }: CallRow): boolean =>
    texts.has(job) && state === "SEALED" && passed.filter((each) => each === "EXECUTING").length >= MOST_RUNS;
  return new Set(calls.filter(isGivenUp).map(({ job }) => job));
}

/** The agent without such children, and without all below them. */
export function without<Agent extends PlannedAgent>(agent: Agent, texts: ReadonlySet<string>): Agent {
  const children = agent.children.filter(({ text }) => !texts.has(text)).map((child) => without(child, texts));
  return { ...agent, children };
}
