import { LRUCache } from "lru-cache";
import { withCause } from "../../lib/text.ts";
import { toolResultOf } from "./call-result.ts";
import { readListedTool } from "./listed-tool.ts";
import { mcpTool } from "./mcp-tool.ts";
import type { SchemaCheck } from "./schema-check.ts";
import { withoutTokens, type McpServer } from "./server.ts";
import type { McpSession } from "./session.ts";
import { readTask, taskIdIn, type SeenTask, type TaskServer } from "./tasks.ts";

/** The times in which a server answers a question for a task, and has to give its result; in ms. */
export const ASK_MS = 20_000;
const RESULT_MS = 60_000;

/** The most tasks of a process that are noted; older ones count as those of others. */
const MOST_OWNED = 10_000;

/** The most failures of a server that are noted, each for an hour: in that time it is logged once. */
const MOST_TOLD = 100;
const TOLD_MS = 60 * 60 * 1_000;

type TaskParts = {
  readonly server: McpServer;
  readonly session: () => McpSession | null;
  readonly structureCheck: (tool: string) => SchemaCheck | null;
  /** Makes texts from outside plain. */
  readonly plain: (text: string) => string;
  /** Called if the server could not be asked. */
  readonly onAway: () => void;
  readonly warn: (message: string) => void;
};

export function taskServer({ server, session, structureCheck, plain, onAway, warn }: TaskParts): TaskServer {
  const owned = new Set<string>();
  // Each server of Triplane has a process of its own, which does not know the tasks of the others.
  const owns = (taskId: string): boolean => server.way.kind !== "stdio" || owned.has(taskId);
  const told = new LRUCache<string, true>({ max: MOST_TOLD, ttl: TOLD_MS });
  const failedTo = (work: string, error: unknown): void => {
    const said = `the MCP server ${server.name} could not be asked ${work} (${plain(withCause(error))})`;
    if (told.has(said)) return;
    told.set(said, true);
    warn(said);
  };
  return {
    owns,
    started: (answer) => {
      const taskId = server.way.kind === "stdio" ? taskIdIn(answer) : null;
      if (taskId !== null) owned.add(taskId);
      const [oldest] = owned;
      if (owned.size > MOST_OWNED && oldest !== undefined) owned.delete(oldest);
    },
    look: async (taskId) => {
      const current = session();
      // The ids of two processes may be the same.
      if (current === null || !owns(taskId)) return { kind: "away" };
      try {
        return await lookAt(current, taskId, plain);
      } catch (error) {
        const lost = lostReason(error, taskId);
        if (lost === null) {
          failedTo("for a task, and is asked again", error);
          onAway();
        }
        return lost === null ? { kind: "away" } : { kind: "lost", reason: plain(lost) };
      }
    },
    cancel: async (taskId) => {
      try {
        const current = session();
        if (current === null) throw new Error("it is away");
        await current.request("tasks/cancel", { taskId }, ASK_MS);
      } catch (error) {
        failedTo("to cancel a task", error);
        throw error;
      }
    },
    read: (tool, result) => toolResultOf(withoutTokens(server, result), structureCheck(tool)),
    unlisted: (tool) => {
      const listed = readListedTool(server.name, { name: tool, inputSchema: { type: "object" } });
      if (!listed.ok) throw new Error(listed.refusal);
      return mcpTool(server, { ...listed.value, name: tool }, () => Promise.reject(new Error(`${tool} is not listed`)));
    },
  };
}

async function lookAt(session: McpSession, taskId: string, plain: (text: string) => string): Promise<SeenTask> {
  const state = readTask(await session.request("tasks/get", { taskId }, ASK_MS));
  switch (state.kind) {
    case "working":
      return state;
    case "completed":
      return { kind: "completed", result: state.result ?? (await session.request("tasks/result", { taskId }, RESULT_MS)) };
    case "failed":
      // The older generation gives the error of a tool as a result.
      return session.verdict.era === "legacy" ? failure(session, taskId, state.reason, plain) : failed(state.reason, plain);
    case "cancelled":
    case "input_required":
      return { kind: state.kind, reason: plain(state.reason ?? "") };
    case "unreadable":
      return { kind: "lost", reason: "it answered without a valid form" };
  }
}

async function failure(
  session: McpSession,
  taskId: string,
  reason: string | null,
  plain: (text: string) => string,
): Promise<SeenTask> {
  try {
    const result = await session.request("tasks/result", { taskId }, RESULT_MS);
    return result["isError"] === true ? { kind: "completed", result } : failed(reason, plain);
  } catch (error) {
    if (codeOf(error) === null) throw error;
    return failed(withCause(error), plain);
  }
}

function failed(reason: string | null, plain: (text: string) => string): SeenTask {
  return { kind: "failed", reason: plain(reason ?? "") };
}

/** The codes of JSON-RPC by which servers say that they do not know a task. */
const UNKNOWN_TASK = new Set([-32_602, -32_002]);

/**
 * The reason why the outcome of a task is unknown for good; null if its server may be asked again. Other errors of a
 * server may pass.
 */
function lostReason(error: unknown, taskId: string): string | null {
  const code = codeOf(error);
  if (code !== null) {
    const said = withCause(error);
    const isOfTask = said.includes(taskId) || /\btask(?:_?id)?\b/i.test(said);
    return UNKNOWN_TASK.has(code) && isOfTask ? said : null;
  }
  const name: unknown = error instanceof Error && "code" in error ? error.code : null;
  return name === "INVALID_RESULT" || name === "UNSUPPORTED_RESULT_TYPE" ? "it answered without a valid form" : null;
}

/** The code of a server's own answer; null for other errors. */
function codeOf(error: unknown): number | null {
  return error instanceof Error && "code" in error && typeof error.code === "number" && "data" in error ? error.code : null;
}
