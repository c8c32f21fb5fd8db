/** Repeated work: one run at a time, and all requests during a run share one further run. */
export class Rerun {
  readonly #work: () => Promise<void>;
  #isStale = false;
  #running: Promise<void> | null = null;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves after a run that began after this call. Rejects if that run does. */
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
      // Synchronously, so that no request falls between the end of this run and the next.
      this.#running = null;
    }
  }
}
