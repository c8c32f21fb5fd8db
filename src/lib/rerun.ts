/** Work that is asked for again and again: one run at a time, and all that is asked for during a run is done by one more. */
export class Rerun {
  readonly #work: () => Promise<void>;
  #isStale = false;
  #running: Promise<void> | null = null;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when a run has ended that began after this. Rejects if it does. */
  request(): Promise<void> {
    this.#isStale = true;
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isStale) {
        this.#isStale = false;
        await this.#work();
      }
    } finally {
      // At once, so that no request falls between the end of this run and the next.
      this.#running = null;
    }
  }
}
