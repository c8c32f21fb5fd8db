/** Wakes a loop that waits, and counts how often it was woken: what wakes it while it is busy is not lost. */
export class WakeUp {
  #times = 0;
  #waiting: PromiseWithResolvers<void> | null = null;

  /** The number of times that the loop was woken. */
  get times(): number {
    return this.#times;
  }

  /** True if the loop waits: it looks at once for what to do next when it is woken. */
  get isAwaited(): boolean {
    return this.#waiting !== null;
  }

  /** Makes the loop look for what to do next. */
  wake(): void {
    this.#times += 1;
    this.#waiting?.resolve();
    this.#waiting = null;
  }

  /** Resolves at the next time that the loop is woken. */
  async next(): Promise<void> {
    this.#waiting ??= Promise.withResolvers();
    await this.#waiting.promise;
  }
}

/** The interrupt of an agent's turn: it stops what is under way, and what begins later has a new one. */
export class Interrupt {
  #controller = new AbortController();

  /** Aborts when what begins now is interrupted, with the note of the person who asked for it, if there is one. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops what is under way. */
  stop(note?: string): void {
    this.#controller.abort(note);
  }

  /** Work that begins from now on is not stopped. */
  renew(): void {
    this.#controller = new AbortController();
  }
}
