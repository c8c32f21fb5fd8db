import { setTimeout as delay } from "node:timers/promises";

export type Rhythm = {
  readonly pauseMs: () => number;
  readonly firstMs?: number;
  readonly task: () => Promise<unknown>;
  /** Called if the task fails; it runs again after the next pause. */
  readonly onFailure: (error: unknown) => void;
};

/** Runs the task periodically until `signal` aborts. Resolves when the last run has ended; never rejects. */
export async function every({ pauseMs, firstMs, task, onFailure }: Rhythm, signal: AbortSignal): Promise<void> {
  for (let waitMs = firstMs ?? pauseMs(); !signal.aborted; waitMs = pauseMs()) {
    await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    try {
      await task();
    } catch (error) {
      onFailure(error);
    }
  }
}
