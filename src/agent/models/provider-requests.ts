import { bodyText } from "./server-sent-events.ts";

/** An error answer of a provider: SDKs often keep only a part of its body. */
export type Refused = { readonly status: number; readonly headers: Headers; readonly body: unknown };

const MOST_CHARACTERS = 64 * 1024;

export class ProviderRequests {
  readonly #heard: () => void;
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
    return /^\s*</.test(text) ? undefined : text.trim();
  }
}
