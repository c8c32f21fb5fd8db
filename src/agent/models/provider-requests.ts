import { bodyText } from "./server-sent-events.ts";

/** The answer of a provider that is none: what SDKs leave of its body is often not all that it says. */
export type Refused = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/** The most of a refusal that is read, in characters. */
const MOST_CHARACTERS = 64 * 1024;

/** The requests of one call, by the `fetch` that an SDK is given. */
export class ProviderRequests {
  readonly #heard: () => void;
  /** The last answer that was none; null if there was none. */
  refused: Refused | null = null;

  /** `heard` is called when an answer begins and for each piece of its body: pings and comments count as well. */
  constructor(heard: () => void) {
    this.#heard = heard;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    this.#heard();
    if (!response.ok) return this.#keep(response);
    if (response.body === null) return response;
    const heard = this.#heard;
    const listening = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        heard();
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(listening), response);
  };

  async #keep(response: Response): Promise<Response> {
    const text = await bodyText(response, MOST_CHARACTERS);
    this.refused = { status: response.status, headers: response.headers, body: jsonOr(text) };
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    for (const name of ["content-encoding", "content-length"]) headers.delete(name);
    return new Response(text, { status, statusText, headers });
  }
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A page of a proxy between them.
    return /^\s*</.test(text) ? undefined : text.trim();
  }
}
