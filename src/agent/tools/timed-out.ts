/** Thrown by a tool whose own time limit for a call has expired: the call ends as timed out. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  readonly afterMs: number;

  constructor(afterMs: number) {
    super(`the time of ${afterMs} ms is up`);
    this.afterMs = afterMs;
  }
}
