import { createClient, NetworkError, type ClientOptions } from "graphql-sse";
import type { Result, Sink, Transport } from "./transport.ts";

/** The options of graphql-sse, without those that would repeat subscriptions behind our back. */
export type SseOptions = Omit<ClientOptions, "singleConnection" | "retryAttempts" | "retry" | "lazy" | "onNonLazyError">;

/**
 * Subscriptions over server-sent events, one HTTP request each: through proxies that know no WebSockets. Browsers open
 * at most six connections to one HTTP/1.1 server: use HTTP/2 for more.
 */
export function overSse(options: SseOptions): Transport {
  const client = createClient({ ...options, singleConnection: false, retryAttempts: 0 });
  return {
    subscribe({ query, operationName, variables, extensions }, sink) {
      const payload = { query, operationName: operationName ?? null, variables: variables ?? {}, extensions: extensions ?? {} };
      return client.subscribe<unknown>(payload as Parameters<typeof client.subscribe>[0], {
        next: (result) => sink.next(result as Result<unknown>),
        error: (error) => void fail(sink, error),
        complete: () => sink.complete(),
      });
    },
    dispose: () => client.dispose(),
  };
}

async function fail(sink: Sink<Result<unknown>>, error: unknown): Promise<void> {
  sink.error((await refusalOf(error)) ?? error);
}

/** A refusal comes as plain JSON, with its errors in it. */
async function refusalOf(error: unknown): Promise<readonly unknown[] | null> {
  if (!(error instanceof NetworkError)) return null;
  const response: unknown = error.response;
  if (!(response instanceof Response) || response.bodyUsed) return null;
  try {
    const body = (await response.json()) as { errors?: unknown };
    return Array.isArray(body.errors) ? body.errors : null;
  } catch {
    return null;
  }
}
