/** Wakes a waiting loop, and counts wake-ups, so that none is lost while the loop is busy. */
export class WakeUp {
  #times = 0;
  #waiting: PromiseWithResolvers<void> | null = null;

  get times(): number {
    return this.#times;
  }

  get isAwaited(): boolean {
    return this.#waiting !== null;
  }

  wake(): void {
    this.#times += 1;
    this.#waiting?.resolve();
    this.#waiting = null;
  }

  async next(): Promise<void> {
    this.#waiting ??= Promise.withResolvers();
    await this.#waiting.promise;
  }
}

/** Aborts present work. Later work gets a new signal. */
export class Interrupt {
  #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(note?: string): void {
    this.#controller.abort(note);
  }

  renew(): void {
    this.#controller = new AbortController();
  }
}
