import { DAY_MS } from "../../lib/time.ts";

/** The longest time that a result may take, in ms: 30 days. */
export const MOST_DEFERRED_MS = 30 * DAY_MS;

/**
 * A task of an MCP server: its id there, and the time until the first look at it, in ms. `process` is that which knows it;
 * null for a server at an address.
 */
export type StartedTask = { readonly taskId: string; readonly pollMs: number; readonly process: string | null };

/** The answer of a tool whose result comes later. Made by `later`. */
export class Later {
  /** The time for the result, in ms; null for the template's `deferredTimeoutMs`. */
  readonly dueMs: number | null;
  /** The task whose end is the result; null if others give it. */
  readonly task: StartedTask | null;

  constructor(dueMs: number | null, task: StartedTask | null = null) {
    this.dueMs = dueMs;
    this.task = task;
  }
}

/**
 * The return value of `run` if the result comes later: the call is WAITING, and holds no place, timer or lease. The bearer
 * of its `completionToken`, or `completeToolCall`, gives the result. After `dueMs` the call fails with `timeout`: up to
 * 30 days, the template's `deferredTimeoutMs` if omitted.
 */
export function later({ dueMs }: { readonly dueMs?: number } = {}): Later {
  if (dueMs !== undefined && !(dueMs >= 1 && dueMs <= MOST_DEFERRED_MS))
    throw new RangeError(`later: dueMs must be 1 to ${MOST_DEFERRED_MS} ms (30 days), not ${String(dueMs)}`);
  return new Later(dueMs === undefined ? null : Math.ceil(dueMs));
}
