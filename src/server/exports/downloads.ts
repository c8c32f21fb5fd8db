import type { Actor } from "../../agent/actors/actor.ts";

/** The downloads of exports at a time: each has a compressed part in memory. */
const MOST = { ofActor: 3, ofServer: 30 };

/** Counts the downloads of exports under way on this server (invariant 13). */
export class Downloads {
  readonly #open = new Map<string, number>();
  #all = 0;

  /** Counts a download until the returned function is called. Null if there are too many. */
  open({ tenant, kind, id }: Pick<Actor, "tenant" | "kind" | "id">): (() => void) | null {
    const key = JSON.stringify([tenant, kind, id]);
    const own = this.#open.get(key) ?? 0;
    if (own >= MOST.ofActor || this.#all >= MOST.ofServer) return null;
    this.#open.set(key, own + 1);
    this.#all += 1;
    return () => {
      this.#all -= 1;
      const left = (this.#open.get(key) ?? 1) - 1;
      if (left > 0) this.#open.set(key, left);
      else this.#open.delete(key);
    };
  }
}
