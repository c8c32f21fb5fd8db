/** How far a call of a step has come, as far as its neighbours care. */
export type Slot = {
  readonly id: string;
  /** Whether it must run alone: it writes or executes. */
  readonly isExclusive: boolean;
  readonly status: "waiting for a person" | "ready" | "running" | "final";
};

/**
 * Which ready calls may start now, in source order. Consecutive reads run together, `concurrency` at once. An
 * exclusive call waits for all earlier ones that can run, and nothing passes it. A call that waits for a person is
 * passed by reads, and holds later exclusive calls.
 */
export function startable(slots: readonly Slot[], concurrency: number): string[] {
  const starting: string[] = [];
  let running = slots.filter((slot) => slot.status === "running").length;
  let isEarlierOpen = false;
  let isHeld = false;
  for (const slot of slots) {
    if (slot.status === "final") continue;
    if (slot.status === "waiting for a person") {
      isHeld = true;
    } else if (slot.isExclusive) {
      if (slot.status === "ready" && !isEarlierOpen && !isHeld) starting.push(slot.id);
      break;
    } else {
      isEarlierOpen = true;
      if (slot.status === "ready" && running < concurrency) {
        starting.push(slot.id);
        running += 1;
      }
    }
  }
  return starting;
}
