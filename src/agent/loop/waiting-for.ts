import { shortIdOf } from "../../lib/global-id.ts";
import { TIMED_WAITS, type TimedWait } from "../../db/commit/change.ts";
import type { AgentState, ApprovalKind, Breakpoint } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { serverIn } from "../tools/tool.ts";
import { serverOf } from "../waits/wait.ts";
import { isAllowedWorkspace, type WorkspaceFolders } from "../workspace/roots.ts";

/** The facts that explain why an agent is waiting. Times are ISO 8601. */
export type Standstill = {
  readonly state: AgentState;
  readonly breakpoint: Breakpoint;
  readonly templateId: string;
  readonly model: string;
  readonly hooks: readonly string[];
  readonly workspace: string;
  readonly stepCount: number;
  /** True if a turn is to begin: a message waits, or the last turn is to be retried. */
  readonly isTurnWanted: boolean;
  readonly isInterrupted: boolean;
  /** The owner's state: it answers; its lease has expired; a runnable agent has none; none is needed until a person acts. */
  readonly owner: "ANSWERS" | "RUN_OUT" | "NOBODY" | "NOT_NEEDED";
  readonly asked: readonly { readonly id: string; readonly name: string; readonly kind: ApprovalKind }[];
  /** The calls whose results come later, their sources, and when they fail without. */
  readonly later: readonly { readonly name: string; readonly kind: TimedWait; readonly due: string }[];
  /** The waits for MCP servers that are to take an answer. */
  readonly servers: readonly string[];
  /** The agents that it waits for. */
  readonly children: readonly { readonly id: string; readonly title: string | null; readonly templateId: string }[];
  readonly isShellElsewhere: boolean;
  /** True if the newest event of the agent reports that its folder's file system hangs. */
  readonly isFolderHung: boolean;
  /** The time of the next model request; null unless the agent waits for it. */
  readonly retryAt: string | null;
  /** The running calls and their start times; a repeated run has a new start time. */
  readonly executing: readonly { readonly name: string; readonly since: string }[];
};

export const FOLDER_HUNG = "folder_hung";
const OF_PEOPLE =
  "'MESSAGE_RECEIVED', 'MESSAGE_WITHDRAWN', 'REMINDER_SENT', 'SCHEDULER_TRIGGERED', 'SCHEDULE_CHANGED', 'AGENT_RENAMED', 'PERMISSION_DECIDED', 'INTERRUPT_REQUESTED', 'TOOL_CANCEL_REQUESTED'";

/** The newest events of an agent that are searched for its wait for a model: people's events may follow it. */
const NEWEST = 20;

const READ: Statement<{ standstill: Standstill | null }, [agentIds: readonly string[]]> = {
  name: "read_standstills",
  text: `SELECT CASE WHEN a.id IS NOT NULL THEN json_build_object('state', a.state, 'breakpoint', a.breakpoint, 'templateId', a.template_id, 'model', a.model, 'hooks', coalesce(a.hooks, '[]'), 'workspace', a.workspace, 'stepCount', a.step_count, 'isInterrupted', a.interrupt_at IS NOT NULL,
    'isTurnWanted', a.retry_turn IS NOT NULL OR EXISTS (SELECT FROM message m WHERE m.agent_id = a.id AND m.ordinal IS NULL AND m.withdrawn_at IS NULL AND (m.reminder IS NULL OR (m.reminder ->> 'startsTurn')::boolean))
      OR a.archived_at IS NULL AND EXISTS (SELECT FROM notice n WHERE n.agent_id = a.id AND n.source = 'CHILD' AND n.told_at_step IS NULL),
    'owner', CASE WHEN a.lease_until < clock_timestamp() THEN 'RUN_OUT' WHEN a.lease_owner IS NOT NULL THEN 'ANSWERS' WHEN a.runnable_at IS NOT NULL THEN 'NOBODY' ELSE 'NOT_NEEDED' END,
    'asked', (SELECT coalesce(json_agg(json_build_object('id', p.id, 'name', coalesce(t.name, p.host || ':' || p.port, 'its budget'), 'kind', p.kind) ORDER BY p.requested_at), '[]') FROM approval p LEFT JOIN tool_call t ON t.id = p.tool_call_id
      WHERE p.agent_id = a.id AND p.state = 'PENDING' AND EXISTS (SELECT FROM wait w WHERE w.ref = p.id AND w.settled_at IS NULL AND w.kind IN ('APPROVAL', 'BUDGET', 'HOST'))),
    'later', (SELECT coalesce(json_agg(json_build_object('name', t.name, 'kind', w.kind, 'due', w.due) ORDER BY t.ordinal), '[]') FROM wait w JOIN tool_call t ON t.id = w.call_id
      WHERE w.agent_id = a.id AND w.settled_at IS NULL AND w.kind IN (${TIMED_WAITS.map((kind) => `'${kind}'`).join(", ")})),
    'servers', (SELECT coalesce(json_agg(w.ref), '[]') FROM wait w WHERE w.agent_id = a.id AND w.settled_at IS NULL AND w.kind = 'MCP_SERVER'),
    'children', (SELECT coalesce(json_agg(json_build_object('id', c.id, 'title', c.title, 'templateId', c.template_id) ORDER BY t.ordinal), '[]') FROM wait w JOIN tool_call t ON t.id = w.call_id AND t.state = 'WAITING' JOIN agent c ON c.id = w.ref
      WHERE w.agent_id = a.id AND w.settled_at IS NULL AND w.kind = 'CHILD'),
    'isShellElsewhere', EXISTS (SELECT FROM shell s WHERE s.agent_id = a.id AND s.state = 'RUNNING' AND s.server <> a.lease_owner),
    'isFolderHung', coalesce((SELECT e.payload->>'detail' = '${FOLDER_HUNG}' FROM (SELECT kind, payload, position FROM event WHERE agent_id = a.id ORDER BY position DESC LIMIT ${NEWEST}) e
      WHERE e.kind NOT IN (${OF_PEOPLE}) ORDER BY e.position DESC LIMIT 1), false),
    'retryAt', CASE WHEN a.breakpoint = 'PRE_MODEL' THEN (SELECT e.payload->>'retryAt' FROM (SELECT kind, payload FROM event WHERE agent_id = a.id ORDER BY position DESC LIMIT ${NEWEST}) e
      WHERE e.kind = 'ERROR' AND (e.payload->>'retryAt')::timestamptz > clock_timestamp() LIMIT 1) END,
    'executing', (SELECT coalesce(json_agg(json_build_object('name', t.name, 'since', t.updated_at) ORDER BY t.ordinal), '[]') FROM tool_call t WHERE t.agent_id = a.id AND t.step = a.step_count AND t.state = 'EXECUTING')
  ) END AS standstill FROM unnest($1::text[]) WITH ORDINALITY AS g(id, place) LEFT JOIN agent a ON a.id = g.id ORDER BY g.place`,
};

/** The reasons for which agents wait, in the order of `agentIds`; null for an unknown agent. */
export async function readStandstills(sql: Sql, agentIds: readonly string[]): Promise<readonly (Standstill | null)[]> {
  return (await sql.query(READ, [agentIds])).map(({ standstill }) => standstill);
}

export type KnownNames = WorkspaceFolders & {
  readonly templates: { has(name: string): boolean };
  readonly models: { has(name: string): boolean };
  readonly agentHooks: { has(name: string): boolean };
  readonly mcpServers: { get(name: string): { readonly state: { readonly kind: string } } | undefined };
};

/** What an agent waits for, as words after "waits for"; null if it waits only for a message. */
export function waitingFor(now: Standstill, known: KnownNames): string | null {
  if (now.state === "READY" && !now.isTurnWanted) return null;
  if (now.owner === "NOBODY" || now.owner === "RUN_OUT") {
    const missing = missingPart(now, known);
    if (missing !== null) return `a server that has ${missing} in its configuration: the one that was asked has not`;
  }
  if (now.owner === "NOBODY") return "a server to continue it";
  if (now.owner === "RUN_OUT") return "another server to continue it: the one that worked on it does not answer";
  if (now.isInterrupted) return "its turn to end: somebody interrupted it";
  if (now.isFolderHung) return "the file system of its folder to answer";
  const awaited = [
    ...people(now.asked),
    ...laterResults(now.later, known),
    ...serversToAnswer(now.servers),
    ...childrenToEnd(now.children),
  ];
  // A tool that asks while it runs waits for a person, too.
  const isAsking = now.asked.some(({ kind, name }) => kind === "TOOL_INPUT" && now.executing.some((call) => call.name === name));
  if (awaited.length > 0 && (now.executing.length === 0 || isAsking)) return awaited.join(", and ");
  if (now.isShellElsewhere && now.executing.length === 0 && ["TOOL_PENDING", "POST_TOOL"].includes(now.breakpoint))
    return "a background shell on another server to end";
  return atBreakpoint(now);
}

function missingPart({ templateId, model, hooks, workspace }: Standstill, known: KnownNames): string | null {
  if (!known.templates.has(templateId)) return `the template ${templateId}`;
  if (!known.models.has(model)) return `the model ${model}`;
  const hook = hooks.find((name) => !known.agentHooks.has(name));
  if (hook !== undefined) return `the set of hooks ${hook} (agentHooks)`;
  return isAllowedWorkspace(known, workspace) ? null : `a workspace root, or a data folder, around ${workspace}`;
}

function laterResults(later: Standstill["later"], known: KnownNames): readonly string[] {
  const results = later.filter(({ kind }) => kind === "LATER");
  const missing = new Set(results.flatMap(({ name }) => missingServer(name, known) ?? []));
  const answers = later.filter(({ kind }) => kind === "CLIENT_TOOL");
  return [
    ...awaitedOf(results, `the ${results.length === 1 ? "result" : "results"} of`),
    ...missing,
    ...awaitedOf(answers, `the ${answers.length === 1 ? "answer" : "answers"} of a client to`),
  ];
}

/** The MCP server of a tool if it cannot come back as things stand; null otherwise. */
function missingServer(tool: string, { mcpServers }: KnownNames): string | null {
  const name = serverIn(tool);
  if (name === null) return null;
  const kind = mcpServers.get(name)?.state.kind;
  if (kind === undefined) return `the MCP server ${name}, which is not in the configuration`;
  return kind === "DISABLED" ? `the MCP server ${name}, which is disabled` : null;
}

function awaitedOf(later: Standstill["later"], what: string): readonly string[] {
  if (later.length === 0) return [];
  const until = later.map(({ due }) => new Date(due).toISOString()).toSorted()[0] ?? "";
  return [`${what} ${later.map(({ name }) => name).join(", ")}, until ${until}`];
}

/** They are away, or they said that they take it later. */
function serversToAnswer(refs: Standstill["servers"]): readonly string[] {
  const names = new Set(refs.map((ref) => serverOf(ref).server));
  return [...names].map((name) => `the MCP server ${name} to take the answer to its question`);
}

function childrenToEnd(children: Standstill["children"]): readonly string[] {
  if (children.length === 0) return [];
  return [`${children.length === 1 ? "the agent" : "the agents"} ${children.map(nameOfChild).join(", ")} to end`];
}

function nameOfChild({ id, title, templateId }: Standstill["children"][number]): string {
  return `${title ?? templateId} (${shortIdOf(id)})`;
}

/** A question or an agent that `waitingFor` names, by the row's id. */
export type Awaited = { readonly kind: "Approval" | "Agent"; readonly id: string; readonly name: string };

/** The questions and agents whose names `waitingFor` may have, in its order. */
export function awaitedNodes({ asked, children }: Standstill): readonly Awaited[] {
  const inputs = ({ kind }: Standstill["asked"][number]): boolean => kind === "TOOL_INPUT";
  const outcomes = ({ kind }: Standstill["asked"][number]): boolean => kind === "OUTCOME_UNKNOWN";
  const decisions = asked.filter((each) => !inputs(each) && !outcomes(each));
  return [
    ...[...decisions, ...asked.filter(inputs), ...asked.filter(outcomes)].map(
      ({ id, name }) => ({ kind: "Approval", id, name }) as const,
    ),
    ...children.map((child) => ({ kind: "Agent", id: child.id, name: nameOfChild(child) }) as const),
  ];
}

function people(asked: Standstill["asked"]): readonly string[] {
  const decisions = asked.filter(({ kind }) => kind !== "OUTCOME_UNKNOWN" && kind !== "TOOL_INPUT").map(({ name }) => name);
  const inputs = asked.filter(({ kind }) => kind === "TOOL_INPUT").map(({ name }) => name);
  const outcomes = asked.filter(({ kind }) => kind === "OUTCOME_UNKNOWN").map(({ name }) => name);
  return [
    ...(decisions.length === 0 ? [] : [`a person to decide on ${decisions.join(", ")}`]),
    ...(inputs.length === 0 ? [] : [`a person to give ${inputs.join(", ")} its input`]),
    ...(outcomes.length === 0 ? [] : [`a person to say what came of ${outcomes.join(", ")}`]),
  ];
}

function atBreakpoint({ breakpoint, model, stepCount, executing, retryAt }: Standstill): string {
  switch (breakpoint) {
    case "READY":
      return "its turn to begin";
    case "PRE_MODEL":
      if (retryAt !== null) return `the model ${model}, which is asked again at ${retryAt} (step ${stepCount})`;
      return `the model ${model} to begin its answer (step ${stepCount})`;
    case "STREAMING_MODEL":
      return `the model ${model} to end its answer (step ${stepCount})`;
    case "TOOL_PENDING":
      return "its tool calls to be judged";
    case "AWAITING_APPROVAL":
      return "what was decided to be carried out";
    case "PRE_TOOL":
      return "a place among the running tools of its server";
    case "TOOL_EXECUTING":
      return executing.length === 0
        ? "the results of its tools to be stored"
        : executing.map(({ name, since }) => `${name} (since ${new Date(since).toISOString()})`).join(", ");
    case "POST_TOOL":
      return "its next step to begin";
  }
}
