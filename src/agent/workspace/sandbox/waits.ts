/** The waits of a call's programs until a box can be made for them, and what they wait for: a call that ends at its timeout says it. */
export class Waits {
  readonly #reasons = new Set<{ readonly reason: string }>();

  /** The thing that is waited for now, longest first, in words that follow "since"; null if nothing waits. */
  get reason(): string | null {
    const [longest] = this.#reasons;
    return longest?.reason ?? null;
  }

  /** Waits, for a reason. */
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
