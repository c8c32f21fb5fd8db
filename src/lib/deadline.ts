/**
 * A time in the future that a machine which sleeps does not miss: the clock of `performance.now()` may stand still while
 * a laptop or a virtual machine is suspended (CLOCK_MONOTONIC), and the time of day may be set back. It is over when
 * either of the two says so.
 */
export class Deadline {
  readonly #monotonic: number;
  readonly #timeOfDay: number;

  /** Over in so many ms from now; Infinity for never. */
  constructor(ms: number) {
    this.#monotonic = performance.now() + ms;
    this.#timeOfDay = Date.now() + ms;
  }

  /** The ms until it is over; 0 if it is. */
  get leftMs(): number {
    return Math.max(0, Math.min(this.#monotonic - performance.now(), this.#timeOfDay - Date.now()));
  }

  get isOver(): boolean {
    return this.leftMs === 0;
  }
}
