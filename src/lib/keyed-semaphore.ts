type Queue = { working: number; readonly waiting: (() => void)[] };

/** Limits concurrent work a key; further work of the key waits, without effect on other keys. */
export class KeyedSemaphore {
  readonly #most: number;
  readonly #queues = new Map<string, Queue>();

  constructor(most: number) {
    this.#most = most;
  }

  waiting(key: string): number {
    return this.#queues.get(key)?.waiting.length ?? 0;
  }

  get allWaiting(): number {
    let waiting = 0;
    for (const queue of this.#queues.values()) waiting += queue.waiting.length;
    return waiting;
  }

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const end = await this.take(key);
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Waits for a turn, and returns its release, to be called once. */
  async take(key: string): Promise<() => void> {
    const queue = this.#queues.get(key) ?? { working: 0, waiting: [] };
    this.#queues.set(key, queue);
    if (queue.working < this.#most) queue.working += 1;
    else await new Promise<void>((resolve) => queue.waiting.push(resolve));
    return () => {
      const next = queue.waiting.shift();
      if (next !== undefined) next();
      else queue.working -= 1;
      if (queue.working === 0) this.#queues.delete(key);
    };
  }
}
