import { LRUCache } from "lru-cache";
import { firstQuestion } from "./task.ts";

/** The most tasks whose connections are noted, each for so long after the last question, in ms. */
const MOST_TASKS = 10_000;
const KEPT_MS = 60 * 60 * 1_000;

type Session = { readonly process: string | null; readonly end: string | null };

/** The connections to an address by their tasks: a server with sessions may know a task in its session alone. */
export class TaskSessions<Each extends Session> {
  readonly #sessions = new LRUCache<string, Each>({ max: MOST_TASKS, ttl: KEPT_MS, updateAgeOnGet: true });

  /** Notes the task that an answer over a connection to an address has, if any. */
  started(answer: object, session: Each): void {
    const first = session.process === null ? firstQuestion(answer) : null;
    if (first !== null) this.#sessions.set(first.taskId, session);
  }

  /** The open connection whose task it is; null if it is unknown, or has ended. */
  of(taskId: string): Each | null {
    const session = this.#sessions.get(taskId);
    return session?.end === null ? session : null;
  }

  ended(taskId: string): void {
    this.#sessions.delete(taskId);
  }

  /** True if the connection has a task. */
  has(session: Each): boolean {
    return [...this.#sessions.values()].includes(session);
  }
}
