import { LRUCache } from "lru-cache";
import { recentlyUsed } from "../../../lib/recently-used.ts";
import { withCause } from "../../../lib/text.ts";
import { toolResultOf } from "../call-result.ts";
import { takesLaterMs } from "../http-transport.ts";
import type { SchemaCheck } from "../schema-check.ts";
import { withoutTokens, type McpServer } from "../server.ts";
import type { McpSession } from "../session.ts";
import { PROCESS_ENDED, PROCESS_LOOK_MS } from "./processes.ts";
import { boundedPoll, firstQuestion, readTask, type SeenTask, type TaskServer } from "./task.ts";

/** The times in which a server answers a question for a task, and has to give its result; in ms. */
export const ASK_MS = 20_000;
const RESULT_MS = 60_000;

/** The most tasks of a process that are noted; older ones are asked for at each look. */
const MOST_NOTED = 10_000;

/** The most failures of a server that are noted, each for an hour: in that time it is logged once. */
const MOST_TOLD = 100;
const TOLD_MS = 60 * 60 * 1_000;

/** A question that is to be asked so soon is asked now, in ms. */
const SOON_MS = 100;

/** A task without a poll for so long keeps no process, in ms: its call never waited for it. */
const FORGOTTEN_MS = 60 * 60 * 1_000;

type Working = Extract<SeenTask, { readonly kind: "working" }>;

/** A connection as far as tasks need it. */
type AskedSession = Pick<McpSession, "request" | "verdict">;

type TaskParts = {
  readonly server: McpServer;
  readonly monotonicMs: () => number;
  /** The connection with this process, or to the address for this task; null if there is none. */
  readonly session: (process: string | null, taskId: string | null) => AskedSession | null;
  /** A task at an address has ended. */
  readonly onEnded: (taskId: string) => void;
  readonly structureCheck: (tool: string) => SchemaCheck | null;
  /** Makes texts from outside plain. */
  readonly plain: (text: string) => string;
  /** Called if the server could not be asked. */
  readonly onAway: () => void;
  readonly warn: (message: string) => void;
};

export function taskServer({
  server,
  monotonicMs,
  session,
  structureCheck,
  plain,
  onAway,
  onEnded,
  warn,
}: TaskParts): TaskServer {
  const isProcess = server.way.kind === "stdio";
  // The ids of two processes may be the same.
  const knows = (process: string | null): boolean =>
    isProcess ? process !== null && session(process, null) !== null : process === null;
  /** When tasks of the process are to be asked for, and their last states: looks are more frequent. */
  const questions = recentlyUsed<Working & { readonly at: number }>(MOST_NOTED);
  const asked = (task: string, seen: Working): Working => {
    questions.set(task, { ...seen, at: monotonicMs() + seen.pollMs });
    return { ...seen, pollMs: Math.min(seen.pollMs, PROCESS_LOOK_MS) };
  };
  const unasked = (task: string): Working | null => {
    const next = questions.get(task);
    const leftMs = next === undefined ? 0 : next.at - monotonicMs();
    return next === undefined || leftMs <= SOON_MS ? null : { ...next, pollMs: Math.min(leftMs, PROCESS_LOOK_MS) };
  };
  const told = new LRUCache<string, true>({ max: MOST_TOLD, ttl: TOLD_MS });
  const failedTo = (work: string, error: unknown): void => {
    const said = `the MCP server ${server.name} could not be asked ${work} (${plain(withCause(error))})`;
    if (told.has(said)) return;
    told.set(said, true);
    warn(said);
  };
  return {
    knows,
    has: (process) =>
      [...questions.entries()].some(([key, { at }]) => key.startsWith(`${process} `) && monotonicMs() - at < FORGOTTEN_MS),
    started: (answer, process) => {
      const first = process === null ? null : firstQuestion(answer);
      if (first !== null) asked(`${process} ${first.taskId}`, { kind: "working", pollMs: first.pollMs, ttlMs: null });
    },
    look: async (taskId, process) => {
      if (isProcess !== (process !== null) || (isProcess && !knows(process))) return { kind: "lost", reason: PROCESS_ENDED };
      const current = session(process, taskId);
      if (current === null) return { kind: "away", pollMs: null };
      const task = `${process} ${taskId}`;
      const known = isProcess ? unasked(task) : null;
      if (known !== null) return known;
      try {
        const found = await lookAt(current, taskId, plain);
        const isAsking = found.kind === "input_required" && found.requests !== null;
        const seen = isAsking ? { ...found, requests: withoutTokens(server, found.requests) } : found;
        if (isProcess) questions.delete(task);
        else if (seen.kind !== "working" && !isAsking) onEnded(taskId);
        return isProcess && seen.kind === "working" ? asked(task, seen) : seen;
      } catch (error) {
        const lost = lostReason(error, taskId);
        const next = questions.get(task);
        if (lost !== null) {
          questions.delete(task);
          onEnded(taskId);
        } else if (next !== undefined) questions.set(task, { ...next, at: monotonicMs() });
        if (lost === null) {
          failedTo("for a task, and is asked again", error);
          onAway();
        }
        return lost === null ? { kind: "away", pollMs: laterMs(error) } : { kind: "lost", reason: plain(lost) };
      }
    },
    answer: async (taskId, process, responses) => {
      try {
        const current = session(process, taskId);
        if (current === null) throw new Error("it is away");
        await current.request("tasks/update", { taskId, inputResponses: responses }, ASK_MS);
        return true;
      } catch (error) {
        failedTo("to take an answer for a task, and is asked again", error);
        return false;
      }
    },
    cancel: async (taskId, process) => {
      try {
        const current = session(process, taskId);
        if (current === null) throw new Error("it is away");
        questions.delete(`${process} ${taskId}`);
        onEnded(taskId);
        await current.request("tasks/cancel", { taskId }, ASK_MS);
      } catch (error) {
        failedTo("to cancel a task", error);
        throw error;
      }
    },
    read: (tool, result) => toolResultOf(withoutTokens(server, result), structureCheck(tool)),
  };
}

async function lookAt(session: AskedSession, taskId: string, plain: (text: string) => string): Promise<SeenTask> {
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
      return { kind: state.kind, reason: plain(state.reason ?? "") };
    case "input_required":
      return { ...state, reason: plain(state.reason ?? "") };
    case "unreadable":
      return { kind: "lost", reason: "it answered without a valid form" };
  }
}

async function failure(
  session: AskedSession,
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

/** The time after which a server takes the question, within the bounds of questions, in ms; null if it names none. */
function laterMs(error: unknown): number | null {
  const afterMs = takesLaterMs(error);
  return afterMs === null ? null : boundedPoll(afterMs);
}

/** The code of a server's own answer; null for other errors. */
function codeOf(error: unknown): number | null {
  return error instanceof Error && "code" in error && typeof error.code === "number" && "data" in error ? error.code : null;
}
