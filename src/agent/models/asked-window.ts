import { DAY_MS } from "../../lib/time.ts";

const HOUR_MS = DAY_MS / 24;

/** The time for the provider's answer, in ms. */
const ANSWER_MS = 10_000;

/** `usual` holds until the provider has said another; null if unknown. `from`: the tokens in use from which it is asked. */
export type UnaskedWindow = { readonly usual: number | null; readonly from: number };

/**
 * The context window of a model as its provider says it. The provider is asked in the background, at most once a day.
 * A failure leaves the last answer, and an hour later it is asked again.
 */
export class AskedWindow {
  readonly #unasked: UnaskedWindow;
  readonly #ask: (signal: AbortSignal) => Promise<number | null>;
  #said: number | null = null;
  #askAfter = 0;

  constructor(unasked: UnaskedWindow, ask: (signal: AbortSignal) => Promise<number | null>) {
    this.#unasked = unasked;
    this.#ask = ask;
  }

  tokens(inUse: number): number | null {
    if (inUse >= this.#unasked.from && Date.now() >= this.#askAfter) void this.#renew();
    return this.#said ?? this.#unasked.usual;
  }

  async #renew(): Promise<void> {
    this.#askAfter = Date.now() + DAY_MS;
    try {
      const said = await this.#ask(AbortSignal.timeout(ANSWER_MS));
      if (said !== null && said > 0) this.#said = said;
    } catch {
      // Servers without this endpoint keep the usual window.
      this.#askAfter = Date.now() + HOUR_MS;
    }
  }
}
