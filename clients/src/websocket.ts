import { createClient, MessageType, type ClientOptions } from "graphql-ws";
import type { Result, Transport } from "./transport.ts";

/** The options of graphql-ws, without those that would repeat subscriptions behind our back. */
export type WebSocketOptions = Omit<
  ClientOptions,
  "retryAttempts" | "retryWait" | "shouldRetry" | "generateID" | "lazy" | "on" | "onNonLazyError"
>;

/** How often the connection is tried, and how long it may take to answer, in ms, where nothing else is said. */
const KEEP_ALIVE_MS = 12_000;

/** The connection closed without a word of the server. */
class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/**
 * Subscriptions over one WebSocket (graphql-transport-ws). graphql-ws itself would subscribe again from where the
 * subscription began; here it makes one attempt. A connection that does not answer a ping in time is closed.
 */
export function overWebSocket(options: WebSocketOptions): Transport {
  const { keepAlive = KEEP_ALIVE_MS } = options;
  const ids = new WeakMap<object, string>();
  const completed = new Set<string>();
  let subscriptions = 0;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const client = createClient({
    ...options,
    keepAlive,
    lazy: true,
    retryAttempts: 0,
    generateID: (payload) => {
      subscriptions += 1;
      ids.set(payload, String(subscriptions));
      return String(subscriptions);
    },
    on: {
      ping: (wasReceived) => {
        if (!wasReceived) silence = setTimeout(() => client.terminate(), keepAlive);
      },
      pong: () => clearTimeout(silence),
      closed: () => clearTimeout(silence),
      message: (message) => {
        if (message.type === MessageType.Complete) completed.add(message.id);
      },
    },
  });
  return {
    subscribe({ query, operationName, variables, extensions }, sink) {
      const payload = { query, operationName, variables: variables ?? null, extensions: extensions ?? null };
      return client.subscribe<unknown>(payload, {
        next: (result) => sink.next(result as Result<unknown>),
        error: (error) => sink.error(error),
        complete: () => {
          // graphql-ws also says so when the socket is closed normally, which a proxy may do in the middle of a stream.
          if (completed.delete(ids.get(payload) ?? "")) sink.complete();
          else sink.error(new ConnectionLost("the connection was closed"));
        },
      });
    },
    dispose: () => void client.dispose(),
  };
}
