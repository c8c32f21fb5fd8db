import type { Statement } from "../../db/sql.ts";
import { aborted } from "../../lib/aborted.ts";
import { accepted, type Result } from "../../lib/result.ts";
import { withCause } from "../../lib/text.ts";
import { isFinal, type CallView } from "../calls/call.ts";
import { endOfLater, failedElsewhere, LATER_FIELDS, toolOfLater, type LaterCall } from "../calls/later.ts";
import type { Refusal } from "../calls/refusals/refusal.ts";
import { templateOf } from "../conversation/agent-template.ts";
import { ToolReportedError } from "../mcp/call-result.ts";
import type { ServedServer } from "../mcp/server-state.ts";
import { PROCESS_ENDED } from "../mcp/tasks/processes.ts";
import { ASK_MS } from "../mcp/tasks/task-server.ts";
import type { SeenTask, TaskServer } from "../mcp/tasks/task.ts";
import { declinedQuestion } from "../mcp/mcp-tool.ts";
import { unlistedTool } from "../mcp/tasks/unlisted-tool.ts";
import { serverIn } from "../tools/tool.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import type { ChildServices } from "./child.ts";
import { AWAY_MS, MOVE, moveOn, type DueWait } from "./due.ts";
import { inputForTask } from "./task-input.ts";
import { taskIdOf } from "./wait.ts";

type Wake = (agent: { readonly agentId: string; readonly tenant: string }) => Promise<void>;

export type TaskServices = ChildServices & { readonly mcpServers: ReadonlyMap<string, ServedServer> };

/** For so long a wait is left to the server that asks for its task, in ms; then another one may ask. */
const CLAIM_MS = 2 * ASK_MS;

/** A server whose oldest question is open for so long counts as silent, in ms. */
const SILENT_MS = 2_000;

/** The questions to one MCP server at a time. Further ones wait until their claim is over. */
const MOST_QUESTIONS = 8;

type Found = {
  readonly later: LaterCall;
  /** The folder of the agent. */
  readonly root: string;
  /** The time since which the call waits (ISO 8601). */
  readonly since: string | null;
};

const READ: Statement<Found, [waitId: string]> = {
  name: "read_mcp_task",
  text: `SELECT json_build_object(${LATER_FIELDS}) AS later, a.workspace AS root,
      (SELECT x ->> 'timestamp' FROM jsonb_array_elements(t.audit_trail) x WHERE x ->> 'state' = 'WAITING' ORDER BY x ->> 'timestamp' LIMIT 1) AS since
    FROM wait w JOIN tool_call t ON t.id = w.call_id JOIN agent a ON a.id = w.agent_id WHERE w.id = $1 AND w.settled_at IS NULL`,
};

const SETTLE: Statement<{ id: string }, [id: string]> = {
  name: "settle_mcp_task",
  text: "UPDATE wait SET settled_at = policy_time() WHERE id = $1 AND settled_at IS NULL RETURNING id",
};

/**
 * The questions of this server for tasks of MCP servers. They run beside the ends of other waits: a server that does not
 * answer delays no other wait. A wait whose server of Triplane dies is due again when its claim is over.
 */
export class McpTasks {
  /** The open questions of each MCP server by their waits, with their times. */
  readonly #asking = new Map<string, Map<string, number>>();
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #wake: Wake;

  /** `wake` lets an agent continue here. */
  constructor(wake: Wake) {
    this.#wake = wake;
  }

  /** Asks for a task whose time has come. Of a call that has ended otherwise, the task is cancelled, once. */
  async look(services: TaskServices, wait: DueWait): Promise<void> {
    const { callId, tenant } = wait;
    const [found] = await services.sql.query(READ, [wait.id]);
    if (found === undefined || callId === null) return;
    const server = serverIn(found.later.call.name) ?? "";
    const key = `${wait.tenant}/${server}`;
    const asking = this.#asking.get(key) ?? new Map<string, number>();
    this.#asking.set(key, asking);
    if (asking.has(wait.id)) return;
    const now = services.clock.monotonicMs();
    if (asking.size >= MOST_QUESTIONS) {
      // A busy server is asked soon. One that is silent delays no other wait of the tenant.
      const [oldest = now] = asking.values();
      if (now - oldest >= SILENT_MS) await moveOn(services, wait, CLAIM_MS);
      return;
    }
    const [moved] = await services.sql.query(MOVE, [wait.id, wait.due, CLAIM_MS]);
    if (moved === undefined) return;
    const tasks = services.mcpServers.get(server)?.tasks ?? null;
    asking.set(wait.id, now);
    const mine = { ...wait, due: moved.due };
    const { agentId } = found.later;
    const asked = { tasks, taskId: taskIdOf(wait.ref, callId), process: wait.process, closing: this.#closing.signal };
    const running = answer(services, mine, found, asked)
      .then((isEnded) => (isEnded ? this.#wake({ agentId, tenant }) : undefined))
      .catch((error: unknown) =>
        services.logger.warn(`a task of the MCP server ${server} is asked for again (${withCause(error)})`),
      )
      .finally(() => {
        asking.delete(wait.id);
        if (asking.size === 0) this.#asking.delete(key);
        this.#running.delete(running);
      });
    this.#running.add(running);
  }

  /** Leaves open questions to other servers. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }
}

/** A task, and its server; null if this server of Triplane has none of the name. */
type Asked = {
  readonly tasks: TaskServer | null;
  readonly taskId: string;
  readonly process: string | null;
  readonly closing: AbortSignal;
};

const AWAY: SeenTask = { kind: "away", pollMs: null };

/** True if it has ended the call. */
async function answer(services: TaskServices, wait: DueWait, found: Found, asked: Asked): Promise<boolean> {
  const { later, since } = found;
  const { tasks, taskId, process, closing } = asked;
  if (isFinal(later.call.state)) {
    // Settled first: a task is cancelled once.
    const [settled] = await services.sql.query(SETTLE, [wait.id]);
    if (settled !== undefined && tasks?.knows(process) === true) await cancel(asked);
    return false;
  }
  if (tasks === null) return process === null ? moveOn(services, wait, AWAY_MS) : end(services, wait, later, lost(PROCESS_ENDED));
  using stopped = aborted(closing);
  const seen = await Promise.race([tasks.look(taskId, process), stopped.promise.catch(() => AWAY)]);
  if (seen.kind === "away") return moveOn(services, wait, closing.aborted ? 0 : (seen.pollMs ?? AWAY_MS));
  const waitedMs = since === null ? 0 : services.clock.now().getTime() - new Date(since).getTime();
  if (seen.kind === "working") {
    if (seen.ttlMs === null || waitedMs <= seen.ttlMs + seen.pollMs) return moveOn(services, wait, seen.pollMs);
    const isEnded = await end(services, wait, later, lost(`its time of ${seen.ttlMs} ms is over`));
    if (isEnded) await cancel(asked);
    return isEnded;
  }
  if (seen.kind === "input_required") {
    const input = await inputForTask(services, found, { tasks, taskId, process }, seen);
    if (input.kind === "waits") return moveOn(services, wait, input.ms);
    const isEnded = await end(
      services,
      wait,
      later,
      failedElsewhere(`the task of the MCP server asks for input, ${input.reason}`),
    );
    if (isEnded) await cancel(asked);
    return isEnded;
  }
  return end(services, wait, later, resultOf(tasks, later.call, seen));
}

/** Waits for the answer until this server closes. */
async function cancel({ tasks, taskId, process, closing }: Asked): Promise<void> {
  using stopped = aborted(closing);
  await Promise.race([tasks?.cancel(taskId, process), stopped.promise]).catch(() => {});
}

type EndedTask = Exclude<SeenTask, { readonly kind: "working" | "away" | "input_required" }>;

function resultOf(tasks: TaskServer, call: CallView, seen: EndedTask): Result<ToolResult, Refusal> {
  switch (seen.kind) {
    case "completed":
      try {
        return accepted(tasks.read(call.name, seen.result));
      } catch (error) {
        if (error instanceof ToolReportedError) return failedElsewhere(`${error.message}${declined(call)}`);
        throw error;
      }
    case "failed":
      return failedElsewhere(`the task of the MCP server failed${because(seen.reason)}${declined(call)}`);
    case "cancelled":
      return failedElsewhere(`the MCP server has cancelled the task${because(seen.reason)}`);
    case "lost":
      return lost(seen.reason);
  }
}

function because(reason: string): string {
  return reason === "" ? "" : `: ${reason}`;
}

/** The server may say only that it failed. */
function declined({ approval }: CallView): string {
  return approval?.kind === "TOOL_INPUT" && approval.decision === "DENY" ? `\n${declinedQuestion(approval.note)}` : "";
}

function lost(reason: string): Result<never, Refusal> {
  return failedElsewhere(
    `the outcome of the task at the MCP server is lost (${reason}): it is not known if the call had an effect, so look before you repeat it`,
  );
}

/** Ends the call, and its wait. False if another commit has ended it. */
async function end(
  services: TaskServices,
  wait: DueWait,
  later: LaterCall,
  given: Result<ToolResult, Refusal>,
): Promise<boolean> {
  const template = await templateOf(services, later);
  const { name } = later.call;
  const call = toolOfLater(services.tools, later) ?? toolOfLater(new Map([[name, unlistedTool(name)]]), later);
  if ("missing" in template || call === null) return moveOn(services, wait, AWAY_MS);
  const trail = { note: "the task of the MCP server has ended" };
  const { change, events, at } = await endOfLater(services, later, { template, call, answer: given, trail });
  const { outcome } = await services.log.commit(
    later.tenant,
    { agentId: later.agentId, createdBy: later.createdBy, events: events.map((body) => ({ at, body })) },
    { ...change, waitSettled: { ref: wait.ref, at: at.toISOString() } },
  );
  return outcome === "COMMITTED";
}
