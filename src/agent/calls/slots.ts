import { Type } from "typebox";
import { COUNT, milliseconds, withDefault, type Complete } from "../../lib/setting.ts";
import { MAX_TIMEOUT_MS } from "../tools/tool.ts";

/** The limits of the tool calls that all agents of one server, or of one tenant on it, together may run. */
export const TOOL_LIMIT_SETTINGS = {
  /** The number of tools that run at once. 32 if omitted. */
  running: withDefault(COUNT, 32),
  /** The number of calls that may wait for their turn; one more fails with `tool_busy`. 256 if omitted. */
  waiting: withDefault(Type.Integer({ minimum: 0 }), 256),
  /** The time for which a call may wait, in ms, up to an hour: after it the call fails with `tool_busy`. 180,000 if omitted. */
  waitMs: withDefault(milliseconds(MAX_TIMEOUT_MS), 180_000),
};

/** The limits of tool calls, complete. */
export type ToolLimits = Complete<typeof TOOL_LIMIT_SETTINGS>;

/** The right to run one tool. Given back once, when it has ended. */
export type ToolPermit = { release(): void };

/**
 * The places for running tools of a server, or of a tenant within a server: who has one of the tenant's waits for one of the
 * server's. So the calls of a tenant that wait for the server are never more than the tenant may run, and the server's own
 * limit of waiting calls does not count them. Calls wait in the order in which they came.
 */
export class ToolSlots {
  readonly #limits: ToolLimits;
  readonly #within: ToolSlots | null;
  readonly #inner: ToolSlots[] = [];
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limits: ToolLimits, within: ToolSlots | null = null) {
    this.#limits = limits;
    this.#within = within;
    if (within !== null) within.#inner.push(this);
  }

  /** The number of tools that run, and of calls that wait, also of those that wait for a place of their tenant. */
  get load(): { readonly running: number; readonly waiting: number } {
    const inner = this.#inner.reduce((sum, { load }) => sum + load.waiting, 0);
    return { running: this.#running, waiting: this.#waiting.size + inner };
  }

  /** A place at once, or null if there is none, or others came before. */
  tryTake(): ToolPermit | null {
    const own = this.#tryOwn();
    if (own === null || this.#within === null) return own;
    const outer = this.#within.tryTake();
    if (outer === null) own.release();
    return outer === null ? null : both(own, outer);
  }

  /** A place as soon as there is one; null if too many wait, the time is up, or `signal` aborts. */
  async take(signal: AbortSignal): Promise<ToolPermit | null> {
    const until = performance.now() + this.#limits.waitMs;
    const own = this.#tryOwn() ?? (this.#waiting.size < this.#limits.waiting ? await this.#wait(signal, until) : null);
    if (own === null || this.#within === null) return own;
    const outer = this.#within.#tryOwn() ?? (await this.#within.#wait(signal, until));
    if (outer === null) own.release();
    return outer === null ? null : both(own, outer);
  }

  #tryOwn(): ToolPermit | null {
    return this.#running < this.#limits.running && this.#waiting.size === 0 ? this.#take() : null;
  }

  async #wait(signal: AbortSignal, until: number): Promise<ToolPermit | null> {
    if (signal.aborted) return null;
    return new Promise((resolve) => {
      const end = (given: ToolPermit | null): void => {
        this.#waiting.delete(wake);
        clearTimeout(timer);
        signal.removeEventListener("abort", give);
        resolve(given);
      };
      const wake = (): void => end(this.#take());
      const give = (): void => end(null);
      const timer = setTimeout(give, Math.max(0, until - performance.now()));
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
