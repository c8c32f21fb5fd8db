import type { Logger } from "../../telemetry/log.ts";
import { totalTokens, type Spending } from "../models/model.ts";

/**
 * The most bytes of a server's concurrent requests to models: texts as they are stored, images in base64. A request
 * takes two or three times that in memory, as messages and as the sent body.
 */
const REQUEST_ROOM_BYTES = 256 * 1024 * 1024;

/** Smaller requests, in bytes, do not wait: there are at most as many as the server's agents. */
const SMALL_REQUEST_BYTES = 128 * 1024;

type Waiting = { readonly bytes: number; readonly enter: () => void };
type Tenant = { bytes: number; readonly waiting: Set<Waiting> };

/**
 * The capacity for a server's concurrent large requests; one tenant takes at most two thirds (invariant 13). Waiting
 * requests are admitted in order of their tenant's share, the smallest first, then by arrival.
 */
export class RequestRoom {
  readonly #room: number;
  readonly #small: number;
  readonly #tenants = new Map<string, Tenant>();
  #bytes = 0;

  constructor(room: number = REQUEST_ROOM_BYTES, small: number = SMALL_REQUEST_BYTES) {
    this.#room = room;
    this.#small = small;
  }

  get load(): { readonly bytes: number; readonly waiting: number } {
    const waiting = [...this.#tenants.values()].reduce((sum, tenant) => sum + tenant.waiting.size, 0);
    return { bytes: this.#bytes, waiting };
  }

  /** Waits for room, and returns its release; null if `signal` aborts before. */
  async enter(tenant: string, bytes: number, signal: AbortSignal): Promise<(() => void) | null> {
    if (signal.aborted) return null;
    if (bytes <= this.#small) return () => {};
    const known = this.#tenants.get(tenant) ?? { bytes: 0, waiting: new Set() };
    this.#tenants.set(tenant, known);
    return new Promise((resolve) => {
      const waiting = { bytes, enter: () => end(() => this.#leave(tenant, bytes)) };
      const giveUp = (): void => {
        known.waiting.delete(waiting);
        this.#forget(tenant);
        end(null);
        this.#admit();
      };
      const end = (leave: (() => void) | null): void => {
        signal.removeEventListener("abort", giveUp);
        resolve(leave === null ? null : once(leave));
      };
      signal.addEventListener("abort", giveUp, { once: true });
      known.waiting.add(waiting);
      this.#admit();
    });
  }

  #admit(): void {
    for (;;) {
      const next = this.#next();
      if (next === null) return;
      const [tenant, waiting] = next;
      if (this.#bytes > 0 && this.#bytes + waiting.bytes > this.#room) return;
      tenant.waiting.delete(waiting);
      tenant.bytes += waiting.bytes;
      this.#bytes += waiting.bytes;
      waiting.enter();
    }
  }

  #next(): readonly [Tenant, Waiting] | null {
    let least: readonly [Tenant, Waiting] | null = null;
    for (const tenant of this.#tenants.values()) {
      const [first] = tenant.waiting;
      if (first === undefined || (tenant.bytes > 0 && tenant.bytes + first.bytes > (this.#room * 2) / 3)) continue;
      if (least === null || tenant.bytes < least[0].bytes) least = [tenant, first];
    }
    return least;
  }

  #leave(tenant: string, bytes: number): void {
    this.#bytes -= bytes;
    const known = this.#tenants.get(tenant);
    if (known !== undefined) known.bytes -= bytes;
    this.#forget(tenant);
    this.#admit();
  }

  #forget(tenant: string): void {
    const known = this.#tenants.get(tenant);
    if (known?.bytes === 0 && known.waiting.size === 0) this.#tenants.delete(tenant);
  }
}

function once(leave: () => void): () => void {
  let hasLeft = false;
  return () => {
    if (!hasLeft) leave();
    hasLeft = true;
  };
}

/**
 * Counts and logs cancelled model calls: a call begins during the commit of its step, and is cancelled if that is
 * refused. Its cost is in no step.
 */
export class CancelledModelCalls {
  readonly #logger: Logger;
  #count = 0;
  #tokens = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get count(): number {
    return this.#count;
  }

  get tokens(): number {
    return this.#tokens;
  }

  record(agentId: string, step: number, { usage }: Spending): void {
    const tokens = totalTokens(usage);
    this.#count += 1;
    this.#tokens += tokens;
    this.#logger.warn(
      `the model call of step ${step} of agent ${agentId} had begun when its commit was refused: it was ended, ${tokens} tokens were counted`,
    );
  }
}
