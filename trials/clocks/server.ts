/** A server of trial:clocks, on a machine whose time of day is off by TRIAL_SHIFT_MS. The monotonic clock is right, as everywhere. */
const shiftMs = Number(process.env["TRIAL_SHIFT_MS"]);
const timeOfDay = Date.now;
class ShiftedDate extends Date {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(timeOfDay() + shiftMs);
    else super(...(given as [number]));
  }
  static override now(): number {
    return timeOfDay() + shiftMs;
  }
}
// Before anything else reads it.
globalThis.Date = ShiftedDate as DateConstructor;
const { runServer } = await import("../run-server.ts");
await runServer({ retentionSweepMs: 200 });
