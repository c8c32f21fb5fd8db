/** The waits of a call's programs for their boxes, with reasons: a call that times out reports them. */
export class Waits {
  readonly #reasons = new Set<{ readonly reason: string }>();

  /** The reason of the longest wait, as words after "since"; null for none. */
  get reason(): string | null {
    const [longest] = this.#reasons;
    return longest?.reason ?? null;
  }

  async during<Result>(reason: string, wait: Promise<Result>): Promise<Result> {
    const waiting = { reason };
    this.#reasons.add(waiting);
    try {
      return await wait;
    } finally {
      this.#reasons.delete(waiting);
    }
  }
}
