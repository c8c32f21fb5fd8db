import { answered, jobOf, NO_METHOD, question, textOf, tool, type Message, type Tally } from "./tally.ts";

const COMPLETE = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const AT = "2026-07-28T00:00:00Z";
/** The shortest time of a task, in ms: its first question comes after a second. */
const WORKS_MS = 900;

/** An MCP server of the newer generation: `fills` needs the input of a person, and `works` answers with a task that it keeps. */
export class NewerServer {
  readonly #tally: Tally;
  /** The ends of tasks, in ms since 1970. */
  readonly #tasks = new Map<string, number>();

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  /** The answer to a request; null for a notification. */
  answer(message: Message): object | null {
    return message.id === undefined ? null : answered(message.id, this.#outcome(message));
  }

  #outcome(message: Message): object {
    const { method, params } = message;
    switch (method) {
      case "server/discover":
        return { result: { ...COMPLETE, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } } };
      case "tools/list":
        return { result: { ...COMPLETE, tools: [tool("fills"), tool("works")] } };
      case "tools/call":
        return { result: params?.name === "fills" ? this.#fill(message) : this.#work(message) };
      case "tasks/get":
        return this.#look(params?.taskId ?? "");
      case "tasks/cancel":
        this.#tally.note("cancelled", params?.taskId ?? "");
        return { result: { resultType: "complete" } };
      default:
        return NO_METHOD;
    }
  }

  #fill(message: Message): object {
    const { job } = jobOf(message);
    const { inputResponses, requestState } = message.params ?? {};
    if (inputResponses === undefined) {
      this.#tally.note("asked", job);
      const value = { method: "elicitation/create", params: question(job) };
      return { resultType: "input_required", inputRequests: { value }, requestState: job };
    }
    this.#tally.note("ran", job);
    const { action, content } = inputResponses.value ?? { action: "nothing" };
    return { resultType: "complete", ...textOf(`filled ${requestState}: ${action} ${content?.value}`) };
  }

  #work(message: Message): object {
    const { job, delayMs } = jobOf(message);
    this.#tally.note("ran", job);
    this.#tasks.set(job, Date.now() + WORKS_MS + delayMs);
    return { resultType: "task", ...taskOf(job, "working") };
  }

  #look(job: string): object {
    const endsAt = this.#tasks.get(job);
    if (endsAt === undefined) return { error: { code: -32602, message: "Task not found" } };
    if (Date.now() < endsAt) return { result: { ...COMPLETE, ...taskOf(job, "working") } };
    return { result: { ...COMPLETE, ...taskOf(job, "completed"), result: textOf(`worked ${job}`) } };
  }
}

/** A task has the name of its job. */
function taskOf(job: string, status: string): object {
  return { taskId: job, status, createdAt: AT, lastUpdatedAt: AT, ttlMs: 60_000, pollIntervalMs: 1_000 };
}
