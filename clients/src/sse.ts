import { createClient, NetworkError, type ClientOptions } from "graphql-sse";
import { codeOf } from "./errors.ts";
import {
  AttemptRefused,
  disposable,
  onWire,
  RefusedCredentials,
  type Result,
  type ServerError,
  type Sink,
  type Transport,
} from "./transport.ts";

/** The options of graphql-sse, without those that would repeat subscriptions behind our back. */
export type SseOptions = Omit<
  ClientOptions,
  "singleConnection" | "retryAttempts" | "retry" | "lazy" | "onNonLazyError" | "fetchFn"
> & {
  /** The time for which the stream may be silent, in ms: 30 s if omitted. The server sends a comment each 12 s. */
  readonly silenceMs?: number;
};

const SILENCE_MS = 30_000;

/**
 * Subscriptions over server-sent events, one HTTP request each: through proxies that know no WebSockets. Browsers open
 * at most six connections to one HTTP/1.1 server: use HTTP/2 for more.
 */
export function overSse({ silenceMs = SILENCE_MS, ...options }: SseOptions): Transport {
  const admission = new Admission();
  const client = createClient({
    ...options,
    singleConnection: false,
    retryAttempts: 0,
    headers: async (request) => {
      const { headers } = options;
      return admission.admitted((typeof headers === "function" ? await headers(request) : headers) ?? {});
    },
    fetchFn: admission.watching(fetchUntilSilent(silenceMs)),
  });
  return disposable(
    (request, sink) =>
      client.subscribe<unknown>(onWire(request) as Parameters<typeof client.subscribe>[0], {
        next: (result) => sink.next(result as Result<unknown>),
        error: (error) => void fail(sink, error, admission),
        complete: () => sink.complete(),
      }),
    () => client.dispose(),
  );
}

/** `fetch` whose answer breaks off when it neither begins nor goes on for so long. */
function fetchUntilSilent(silenceMs: number): typeof fetch {
  return async (input, init) => {
    const silence = new AbortController();
    const lost = new Error(`the stream was silent for ${silenceMs} ms`);
    let timer = setTimeout(() => silence.abort(lost), silenceMs);
    const heard = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(lost), silenceMs);
    };
    const signals = [silence.signal, ...(init?.signal ? [init.signal] : [])];
    for (const signal of signals) signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    try {
      const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) });
      heard();
      const listening = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          heard();
          controller.enqueue(chunk);
        },
        flush: () => clearTimeout(timer),
      });
      return new Response(response.body?.pipeThrough(listening) ?? null, response);
    } catch (error) {
      clearTimeout(timer);
      throw error;
    }
  };
}

async function fail(sink: Sink<Result<unknown>>, error: unknown, admission: Admission): Promise<void> {
  const refusal = await refusalOf(error);
  if (error instanceof NetworkError && Array.isArray(refusal))
    admission.refused(error.response, refusal as readonly ServerError[]);
  sink.error(refusal ?? error);
}

/** The headers of a request, as graphql-sse takes them. */
type Headers = Record<string, string>;

/** The token in the headers; empty if there is none. */
function credentialsIn(headers: Headers): string {
  return headers["authorization"] ?? headers["Authorization"] ?? "";
}

/** Remembers the tokens of requests that were not admitted, and sends the same no more. */
class Admission {
  readonly #refused = new RefusedCredentials();
  readonly #credentialsOf = new WeakMap<object, string>();

  /** The headers, unless they were refused: then it throws. What `fetch` throws would lose its kind. */
  admitted(headers: Headers): Headers {
    const refusal = this.#refused.of(credentialsIn(headers));
    if (refusal !== null) throw refusal;
    return headers;
  }

  watching(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (input, init) => {
      const response = await fetch(input, init);
      this.#credentialsOf.set(response, credentialsIn((init?.headers ?? {}) as Headers));
      return response;
    };
  }

  refused(response: unknown, errors: readonly ServerError[]): void {
    if (codeOf(errors) !== "UNAUTHENTICATED" || !(response instanceof Response)) return;
    this.#refused.add(this.#credentialsOf.get(response) ?? "", errors[0]?.message ?? "not admitted");
  }
}

/** A refusal comes with its errors, as plain JSON or as the one event of a stream, or as an HTTP status alone. */
async function refusalOf(error: unknown): Promise<unknown> {
  if (!(error instanceof NetworkError)) return null;
  const response: unknown = error.response;
  if (!(response instanceof Response)) return null;
  const errors = response.bodyUsed ? null : await errorsOf(response);
  if (errors !== null) return errors;
  const mayPass = response.status < 400 || response.status >= 500 || response.status === 408 || response.status === 429;
  return mayPass ? null : new AttemptRefused(`the server answered ${response.status}`, { cause: error });
}

/** The first line of a stream that says something (Server-sent events, 9.2.6, of the HTML standard). JSON begins no line so. */
const DATA = /^data: ?(.+)$/m;

async function errorsOf(response: Response): Promise<readonly unknown[] | null> {
  try {
    const text = await response.text();
    const body = JSON.parse(DATA.exec(text)?.[1] ?? text) as { errors?: unknown };
    return Array.isArray(body.errors) ? body.errors : null;
  } catch {
    return null;
  }
}
