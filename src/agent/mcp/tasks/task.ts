import { randomUUID } from "node:crypto";
import { isJsonObject, type Json, type JsonObject } from "../../../lib/json.ts";
import { byteLength } from "../../../lib/text.ts";
import { PROCESS_LOOK_MS } from "./processes.ts";
import type { StartedTask } from "../../tools/later.ts";
import type { ToolResult } from "../../tools/tool-result.ts";

/** The extension by which servers of the newer generation answer calls with tasks. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/**
 * The field of a result that has a task: its name is unknown to servers. The SDK refuses such results,
 * so that their tasks are moved there before.
 */
const TASK = `task-${randomUUID()}`;

/** The bounds of the time between two questions for a task, and the time if its server names none; in ms. */
const LEAST_POLL_MS = 1_000;
const MOST_POLL_MS = 300_000;
const USUAL_POLL_MS = 5_000;

/** The longest id of a task, in bytes: ids are keys of rows. */
const ID_BYTES = 1_000;

/** A server has answered with a task that has no usable id: the call may have had an effect. */
class UnreadableTask extends Error {
  override readonly name = "UnreadableTask";

  constructor() {
    super(
      "the server answered with a task without a usable id: it is not known if the call had an effect, so look before you repeat it",
    );
  }
}

/** A task as its server describes it. The reasons are texts from outside. */
export type TaskState =
  | { readonly kind: "working"; readonly pollMs: number; readonly ttlMs: number | null }
  /** `result` is null if it is to be asked for (older generation). */
  | { readonly kind: "completed"; readonly result: JsonObject | null }
  | { readonly kind: "failed" | "cancelled"; readonly reason: string | null }
  | TaskInput<string | null>
  | { readonly kind: "unreadable" };

/** A task that asks. `requests` are its open questions by their keys; null if it gives none (older generation). */
type TaskInput<Reason> = {
  readonly kind: "input_required";
  readonly reason: Reason;
  readonly requests: JsonObject | null;
  readonly pollMs: number;
};

/** A task as far as it is known. `away`: its server cannot be asked at present. `lost`: its outcome is unknown for good. */
export type SeenTask =
  | { readonly kind: "working"; readonly pollMs: number; readonly ttlMs: number | null }
  | { readonly kind: "completed"; readonly result: JsonObject }
  | { readonly kind: "failed" | "cancelled" | "lost"; readonly reason: string }
  | TaskInput<string>
  /** `pollMs` is the time that the server names; null if it names none. */
  | { readonly kind: "away"; readonly pollMs: number | null };

/** The tasks of a server. */
export type TaskServer = {
  /** Notes when the task that an answer to a call has, if any, is to be asked for first. */
  started(answer: object, process: string | null): void;
  /** True if a task of the process works. */
  has(process: string): boolean;
  /** True if the task may be known here: it is of the present process, or of a server at an address. */
  knows(process: string | null): boolean;
  /** Never rejects. */
  look(taskId: string, process: string | null): Promise<SeenTask>;
  /** Gives a task answers by the keys of its questions. False if the server could not be asked. */
  answer(taskId: string, process: string | null, responses: JsonObject): Promise<boolean>;
  /** Asks for the end of a task. Rejects if the server could not be asked. */
  cancel(taskId: string, process: string | null): Promise<void>;
  /** The result of a task of this tool. Throws ToolReportedError if the server says that the call failed. */
  read(tool: string, result: JsonObject): ToolResult;
};

/** Moves the task of a result to the field of tasks. Results of the older generation have no type. */
export function keepTask(message: JsonObject): void {
  const { result } = message;
  if (!isJsonObject(result)) return;
  const { task } = result;
  if (result["resultType"] === "task")
    Object.assign(message, { result: { resultType: "complete", content: [], [TASK]: { ...result } } });
  else if (isJsonObject(task) && !("resultType" in result) && !("content" in result))
    Object.assign(message, { result: { content: [], [TASK]: task } });
}

/** The task in the answer to a call; null for a result. Throws if its form is unknown. */
export function startedTask(answer: JsonObject, process: string | null): StartedTask | null {
  if (!Object.hasOwn(answer, TASK)) return null;
  const task = isJsonObject(answer[TASK]) ? answer[TASK] : {};
  const { taskId } = task;
  const isUsable = typeof taskId === "string" && taskId !== "" && !taskId.includes("\0") && byteLength(taskId) <= ID_BYTES;
  if (!isUsable || !taskId.isWellFormed()) throw new UnreadableTask();
  const pollMs = pollOf(task);
  return { taskId, pollMs: process === null ? pollMs : Math.min(pollMs, PROCESS_LOOK_MS), process };
}

/** The id of the task in the answer to a call, and the time until the first question for it, in ms; null for none. */
export function firstQuestion(answer: object): { readonly taskId: string; readonly pollMs: number } | null {
  const task: unknown = Object.hasOwn(answer, TASK) ? Reflect.get(answer, TASK) : null;
  return isJsonObject(task) && typeof task["taskId"] === "string" ? { taskId: task["taskId"], pollMs: pollOf(task) } : null;
}

/** A task in an answer to `tasks/get`. */
export function readTask(answer: JsonObject): TaskState {
  const { status, statusMessage, result, error } = answer;
  const said = typeof statusMessage === "string" && statusMessage !== "" ? statusMessage : null;
  switch (status) {
    case "working":
      return { kind: "working", pollMs: pollOf(answer), ttlMs: ttlOf(answer) };
    case "completed":
      if (result === undefined) return { kind: "completed", result: null };
      return isJsonObject(result) ? { kind: "completed", result } : { kind: "unreadable" };
    case "failed":
      return { kind: "failed", reason: messageIn(error) ?? said };
    case "cancelled":
      return { kind: status, reason: said };
    case "input_required": {
      const { inputRequests } = answer;
      return { kind: status, reason: said, requests: isJsonObject(inputRequests) ? inputRequests : null, pollMs: pollOf(answer) };
    }
    default:
      return { kind: "unreadable" };
  }
}

function messageIn(error: Json | undefined): string | null {
  const message = isJsonObject(error) ? error["message"] : null;
  return typeof message === "string" && message !== "" ? message : null;
}

/** `pollInterval` and `ttl` are the names of the older generation. */
function pollOf({ pollIntervalMs, pollInterval }: JsonObject): number {
  const given = pollIntervalMs ?? pollInterval;
  return typeof given === "number" && Number.isFinite(given) ? boundedPoll(given) : USUAL_POLL_MS;
}

/** The time between two questions within its bounds, in ms. */
export function boundedPoll(given: number): number {
  return Math.min(Math.max(Math.ceil(given), LEAST_POLL_MS), MOST_POLL_MS);
}

function ttlOf({ ttlMs, ttl }: JsonObject): number | null {
  const given = ttlMs ?? ttl;
  return typeof given === "number" && given > 0 ? given : null;
}
