type Waiting = { readonly wanted: number; readonly grant: (granted: number) => void };

/** The most readers that are answered in one tick, of all feeds of a server together. */
const SLICE = 250;

/**
 * Shares ticks among feeds, so that the server's other work gets its turns. A tick has room for so many answers; feeds
 * with more to send wait for the next tick, and get equal shares of it.
 */
export class TickBudget {
  #room = SLICE;
  #isCounting = false;
  #waiting: Waiting[] = [];

  /** Resolves with the number of answers for this tick: at least 1, and at most `wanted`. */
  async take(wanted: number): Promise<number> {
    this.#count();
    if (this.#room > 0 && this.#waiting.length === 0) return this.#grant(wanted);
    return new Promise((grant) => this.#waiting.push({ wanted, grant }));
  }

  async each<Item>(items: ReadonlySet<Item>, work: (item: Item) => void): Promise<void> {
    let left = items.size;
    let granted = left === 0 ? 0 : await this.take(left);
    for (const item of items) {
      work(item);
      left -= 1;
      granted -= 1;
      if (granted === 0 && left > 0) granted = await this.take(left);
    }
  }

  #count(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    setImmediate(() => {
      this.#isCounting = false;
      this.#room = SLICE;
      if (this.#waiting.length > 0) this.#share();
    });
  }

  #share(): void {
    this.#count();
    const served = this.#waiting.splice(0, SLICE);
    const share = Math.floor(SLICE / served.length);
    served.forEach(({ wanted, grant }) => grant(this.#grant(Math.min(wanted, share))));
  }

  #grant(wanted: number): number {
    const granted = Math.min(wanted, this.#room);
    this.#room -= granted;
    return granted;
  }
}
