/** A tenant that holds places takes another only if it then holds at most so many times as many as are left. */
const SHARE = 2;

/**
 * The places of a server for agents that it advances, of which no tenant takes all from the others (invariant 13). As the
 * dynamic thresholds of shared buffers (Choudhury and Hahne, 1998), what a tenant may hold depends on what is left: one that
 * wants all holds two thirds, and of two that do each holds two fifths. A tenant that holds none may take any place. Places that
 * are held are never taken away.
 */
export class Places {
  readonly #taken = new Map<string, number>();
  readonly #isShared: boolean;
  #free: number;

  /** `isShared`: there may be several tenants. One that is alone may take all places. */
  constructor(limit: number, isShared: boolean) {
    this.#isShared = isShared;
    this.#free = limit;
  }

  /** The number of places that nobody holds. */
  get free(): number {
    return this.#free;
  }

  /** The tenants that may take no other place now. */
  crowded(): readonly string[] {
    return [...this.#taken.keys()].filter((tenant) => !this.#hasRoomFor(tenant));
  }

  /** Takes a place for an agent of the tenant; false if the tenant may not. */
  take(tenant: string): boolean {
    if (!this.#hasRoomFor(tenant)) return false;
    this.#taken.set(tenant, this.#heldBy(tenant) + 1);
    this.#free -= 1;
    return true;
  }

  /** Gives a place back that the tenant has taken. */
  giveBack(tenant: string): void {
    const held = this.#heldBy(tenant);
    if (held > 1) this.#taken.set(tenant, held - 1);
    else this.#taken.delete(tenant);
    this.#free += 1;
  }

  #heldBy(tenant: string): number {
    return this.#taken.get(tenant) ?? 0;
  }

  #hasRoomFor(tenant: string): boolean {
    if (this.#free === 0) return false;
    const held = this.#heldBy(tenant);
    return !this.#isShared || held === 0 || held + 1 <= SHARE * (this.#free - 1);
  }
}
