/**
 * A time in the future that holds across sleep. The clock of `performance.now()` may stop while a machine is suspended
 * (CLOCK_MONOTONIC), and the time of day may be set back. It has passed when either clock says so.
 */
export class Deadline {
  readonly #monotonic: number;
  readonly #timeOfDay: number;

  constructor(ms: number) {
    this.#monotonic = performance.now() + ms;
    this.#timeOfDay = Date.now() + ms;
  }

  /** The remaining ms; 0 if it has passed. */
  get leftMs(): number {
    return Math.max(0, Math.min(this.#monotonic - performance.now(), this.#timeOfDay - Date.now()));
  }

  get isOver(): boolean {
    return this.leftMs === 0;
  }
}
