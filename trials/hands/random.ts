/** Numbers from a seed, so that what failed can be tried again. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 on, below `below`. */
  number(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  }

  /** One of these. */
  of<Value>(values: readonly Value[]): Value {
    const value = values[this.number(values.length)];
    if (value === undefined) throw new Error("there is nothing to choose from");
    return value;
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.number(times) === 0;
  }
}
