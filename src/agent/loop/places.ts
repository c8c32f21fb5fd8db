/** A tenant that holds places gets another only if it then holds at most this many times the places that are left. */
const SHARE = 2;

/**
 * The places of a server for agents, shared fairly between tenants (invariant 13). As in the dynamic thresholds of
 * shared buffers (Choudhury and Hahne, 1998), a tenant's limit depends on the free places. One tenant that wants all
 * holds two thirds; each of two holds two fifths. A tenant without places may take any. Places are never taken away.
 */
export class Places {
  readonly #taken = new Map<string, number>();
  readonly #isShared: boolean;
  #free: number;

  /** `isShared`: several tenants are possible. A single one may take all places. */
  constructor(limit: number, isShared: boolean) {
    this.#isShared = isShared;
    this.#free = limit;
  }

  get free(): number {
    return this.#free;
  }

  crowded(): readonly string[] {
    return [...this.#taken.keys()].filter((tenant) => !this.#hasRoomFor(tenant));
  }

  take(tenant: string): boolean {
    if (!this.#hasRoomFor(tenant)) return false;
    this.#taken.set(tenant, this.#heldBy(tenant) + 1);
    this.#free -= 1;
    return true;
  }

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
