/** The number of tools that a server runs at once, of calls that may wait for their turn, and the time for which they may, in ms. */
export type ToolLimits = { readonly running: number; readonly waiting: number; readonly waitMs: number };

/** The right to run one tool. Given back once, when it has ended. */
export type ToolPermit = { release(): void };

/** The places for running tools of a server. Calls wait in the order in which they came. */
export class ToolSlots {
  readonly #limits: ToolLimits;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limits: ToolLimits) {
    this.#limits = limits;
  }

  /** The number of tools that run, and of calls that wait. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.size };
  }

  /** A place at once, or null if there is none, or others came before. */
  tryTake(): ToolPermit | null {
    return this.#running < this.#limits.running && this.#waiting.size === 0 ? this.#take() : null;
  }

  /** A place as soon as there is one; null if too many wait, the time is up, or `signal` aborts. */
  async take(signal: AbortSignal): Promise<ToolPermit | null> {
    const permit = this.tryTake();
    if (permit !== null || signal.aborted || this.#waiting.size >= this.#limits.waiting) return permit;
    return new Promise((resolve) => {
      const end = (given: ToolPermit | null): void => {
        this.#waiting.delete(wake);
        clearTimeout(timer);
        signal.removeEventListener("abort", give);
        resolve(given);
      };
      const wake = (): void => end(this.#take());
      const give = (): void => end(null);
      const timer = setTimeout(give, this.#limits.waitMs);
      signal.addEventListener("abort", give, { once: true });
      this.#waiting.add(wake);
    });
  }

  #take(): ToolPermit {
    this.#running += 1;
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#running -= 1;
        const [next] = this.#waiting;
        next?.();
      },
    };
  }
}
