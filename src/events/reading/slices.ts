type Waiting = { readonly wanted: number; readonly grant: (granted: number) => void };

/** The readers that are answered in one turn of the event loop at most, of all feeds of a server together. */
const SLICE = 250;

/**
 * Shares the turns of the event loop among those who answer readers, so that whatever else the server does has its turns, too. A
 * turn has room for so many answers; those who have more to send wait for the next turn, and are given equal shares of it.
 */
export class Slices {
  #room = SLICE;
  #isCounting = false;
  #waiting: Waiting[] = [];

  /** Resolves with how many answers may be sent in this turn of the event loop: 1 at least, and `wanted` at most. */
  async take(wanted: number): Promise<number> {
    this.#count();
    if (this.#room > 0 && this.#waiting.length === 0) return this.#grant(wanted);
    return new Promise((grant) => this.#waiting.push({ wanted, grant }));
  }

  /** Does `work` for each item, as turns of the event loop have room. Items may be removed meanwhile. */
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

  /** The room is whole again in the next turn. */
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
