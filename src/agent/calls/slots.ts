import { Type } from "typebox";
import { COUNT, milliseconds, withDefault, type Complete } from "../../lib/setting.ts";
import { MAX_TIMEOUT_MS } from "../tools/tool.ts";

/** The limits of the tool calls that all agents of one server, or of one tenant on it, together may run. */
export const TOOL_LIMIT_SETTINGS = {
  /** The number of tools that run concurrently. 32 if omitted. */
  running: withDefault(COUNT, 32),
  /** The number of calls that may wait for their turn; one more fails with `tool_busy`. 256 if omitted. */
  waiting: withDefault(Type.Integer({ minimum: 0 }), 256),
  /** The time for which a call may wait, in ms, up to an hour: after it the call fails with `tool_busy`. 180,000 if omitted. */
  waitMs: withDefault(milliseconds(MAX_TIMEOUT_MS), 180_000),
};

export type ToolLimits = Complete<typeof TOOL_LIMIT_SETTINGS>;

export type ToolPermit = { release(): void };

/** The place of a running call, without which it is while a person is asked. */
export class HeldPlace {
  readonly #slots: Pick<ToolSlots, "take">;
  readonly #over = new AbortController();
  #permit: ToolPermit | null;

  constructor(slots: Pick<ToolSlots, "take">, permit: ToolPermit) {
    this.#slots = slots;
    this.#permit = permit;
  }

  /** Gives the place back until `work` has ended. If there is none then, the call continues without. */
  async without<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#permit === null) return work();
    this.#permit.release();
    this.#permit = null;
    try {
      return await work();
    } finally {
      const permit = await this.#slots.take(this.#over.signal);
      if (this.#over.signal.aborted) permit?.release();
      else this.#permit = permit;
    }
  }

  release(): void {
    this.#over.abort();
    this.#permit?.release();
    this.#permit = null;
  }
}

/**
 * The places for running tools of a server, or of a tenant on it. A call takes one of the tenant, then one of the
 * server. All wait for the server in one queue, in order of arrival. The server's limit counts waiting calls without a
 * tenant's place. The others are bounded by their tenant, and no tenant may run more than the server.
 */
export class ToolSlots {
  readonly #limits: ToolLimits;
  readonly #within: ToolSlots | null;
  readonly #inner: ToolSlots[] = [];
  readonly #waiting = new Set<() => void>();
  #direct = 0;
  #running = 0;

  constructor(limits: ToolLimits, within: ToolSlots | null = null) {
    const most = within === null ? limits.running : within.#limits.running;
    this.#limits = { ...limits, running: Math.min(limits.running, most) };
    this.#within = within;
    if (within !== null) within.#inner.push(this);
  }

  get load(): { readonly running: number; readonly waiting: number } {
    const inner = this.#inner.reduce((sum, { load }) => sum + load.waiting, 0);
    return { running: this.#running, waiting: this.#waiting.size + inner };
  }

  /** A place immediately, or null if there is none, or if others wait. */
  tryTake(): ToolPermit | null {
    const own = this.#tryOwn();
    if (own === null || this.#within === null) return own;
    const outer = this.#within.tryTake();
    if (outer === null) own.release();
    return outer === null ? null : both(own, outer);
  }

  /** Waits for a place; null if too many calls wait, the time limit of the tenant or the server expires, or `signal` aborts. */
  async take(signal: AbortSignal): Promise<ToolPermit | null> {
    const until = performance.now() + this.#limits.waitMs;
    const own = this.#tryOwn() ?? (await this.#waitDirectly(signal, until));
    if (own === null || this.#within === null) return own;
    const outer = this.#within.#tryOwn() ?? (await this.#within.#wait(signal, until));
    if (outer === null) own.release();
    return outer === null ? null : both(own, outer);
  }

  #tryOwn(): ToolPermit | null {
    return this.#running < this.#limits.running && this.#waiting.size === 0 ? this.#take() : null;
  }

  async #waitDirectly(signal: AbortSignal, until: number): Promise<ToolPermit | null> {
    if (this.#direct >= this.#limits.waiting) return null;
    this.#direct += 1;
    try {
      return await this.#wait(signal, until);
    } finally {
      this.#direct -= 1;
    }
  }

  async #wait(signal: AbortSignal, until: number): Promise<ToolPermit | null> {
    if (signal.aborted) return null;
    const waitMs = Math.min(this.#limits.waitMs, Math.max(0, until - performance.now()));
    return new Promise((resolve) => {
      const end = (given: ToolPermit | null): void => {
        this.#waiting.delete(wake);
        clearTimeout(timer);
        signal.removeEventListener("abort", give);
        resolve(given);
      };
      const wake = (): void => end(this.#take());
      const give = (): void => end(null);
      const timer = setTimeout(give, waitMs);
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

function both(own: ToolPermit, outer: ToolPermit): ToolPermit {
  return {
    release: () => {
      outer.release();
      own.release();
    },
  };
}
