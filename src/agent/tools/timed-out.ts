/** Thrown by a tool that gave its call less time than the call has: the call ends as one whose time is up. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  /** The time that was given, in ms. */
  readonly afterMs: number;

  constructor(afterMs: number) {
    super(`the time of ${afterMs} ms is up`);
    this.afterMs = afterMs;
  }
}
