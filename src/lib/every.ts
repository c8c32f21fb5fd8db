import { setTimeout as delay } from "node:timers/promises";

/** Something that is done in a rhythm. */
export type Rhythm = {
  /** The pause before each time, in ms; and before the first, if it is another. */
  readonly pauseMs: () => number;
  readonly firstMs?: number;
  readonly task: () => Promise<unknown>;
  /** Hears why the task failed; it is done again after the next pause. */
  readonly onFailure: (error: unknown) => void;
};

/** Does the task again and again until `signal` aborts. Resolves when the last time has ended; never rejects. */
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
