import { createParser } from "eventsource-parser";
import { ModelError } from "./model.ts";

/** An error answer of a provider: SDKs often keep only a part of its body. */
export type Refused = { readonly status: number; readonly headers: Headers; readonly body: unknown };

const MOST_ERROR_CHARACTERS = 64 * 1024;

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
    const text = await bodyText(response, MOST_ERROR_CHARACTERS);
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

export type ServerSentEvent = { readonly event: string | null; readonly data: unknown };

export const STREAM_END: ServerSentEvent = { event: "[DONE]", data: null };

const MOST_ANSWER_CHARACTERS = 32 * 1024 * 1024;

/**
 * The events of a provider's stream; STREAM_END stands for `[DONE]`. Comments and empty events, which keep connections
 * alive, are skipped. One JSON body in place of a stream becomes one event before it. Throws ModelError `broken` for
 * invalid JSON, and errors of reading the body; ends immediately with an error when `signal` aborts.
 */
export async function* serverSentEvents(response: Response, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
  if (response.body === null) return;
  if (/^application\/json\b/i.test(response.headers.get("content-type") ?? "")) {
    const text = await bodyText(response, MOST_ANSWER_CHARACTERS, signal);
    if (text.length === MOST_ANSWER_CHARACTERS)
      throw new ModelError("broken", `the model's answer has more than ${MOST_ANSWER_CHARACTERS} characters`);
    yield { event: null, data: read(text, null) };
    yield STREAM_END;
    return;
  }
  const waiting: { readonly event: string | null; readonly data: string }[] = [];
  const parser = createParser({
    maxBufferSize: MOST_ANSWER_CHARACTERS,
    onEvent: ({ event, data }) => waiting.push({ event: event ?? null, data }),
    onError: ({ type, field, value, line }) => {
      if (type === "max-buffer-size-exceeded")
        throw new ModelError("broken", `the model's stream has an event of more than ${MOST_ANSWER_CHARACTERS} characters`);
      // Some servers send an error as a field of that name, or as a line of JSON.
      if (field === "error") waiting.push({ event: "error", data: value ?? "" });
      else if (line?.startsWith('{"error"') === true) waiting.push({ event: "error", data: line });
    },
  });
  for await (const text of response.body.pipeThrough(new TextDecoderStream(), { signal })) {
    parser.feed(text);
    for (const { event, data } of waiting.splice(0)) {
      if (data.trim() === "[DONE]") {
        yield STREAM_END;
        return;
      }
      if (data.trim() !== "") yield { event, data: read(data, event) };
    }
  }
  // Some servers omit the empty line after their last event.
  parser.feed("\n\n");
  for (const { event, data } of waiting)
    if (data.trim() === "[DONE]") yield STREAM_END;
    else if (data.trim() !== "") yield { event, data: read(data, event) };
}

export async function bodyText({ body }: Response, most: number, signal?: AbortSignal): Promise<string> {
  let text = "";
  if (body === null) return text;
  for await (const piece of body.pipeThrough(new TextDecoderStream(), signal === undefined ? {} : { signal })) {
    text += piece;
    if (text.length >= most) break;
  }
  return text.slice(0, most);
}

function read(text: string, event: string | null): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (event === "error") return text;
    throw new ModelError("broken", "the model's stream has an event that is no JSON", { cause: error });
  }
}
