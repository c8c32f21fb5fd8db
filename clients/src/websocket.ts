import { createClient, type ClientOptions } from "graphql-ws";
import { closeCodeOf, LOST, NORMAL, NOT_ADMITTED, reasonOf } from "./close-codes.ts";
import { disposable, onWire, RefusedCredentials, type Result, type Transport } from "./transport.ts";

/** The options of graphql-ws, without those that would repeat subscriptions behind our back. */
export type WebSocketOptions = Omit<
  ClientOptions,
  "url" | "webSocketImpl" | "retryAttempts" | "retryWait" | "shouldRetry" | "generateID" | "lazy" | "on" | "onNonLazyError"
> & {
  readonly url: string;
  /** If the platform has none of its own. */
  readonly webSocketImpl?: unknown;
};

/** The shape of a WebSocket class. The browsers' has it, and that of the package `ws`. */
type SocketClass = new (
  url: string,
  protocols?: string | string[],
) => {
  addEventListener(type: "close" | "error", listener: (event: CloseEventLike) => void): void;
};

/** The time between two pings, which is also the time that a connection may take to open and to answer, in ms, if nothing else is said. */
const KEEP_ALIVE_MS = 12_000;

/**
 * Subscriptions over one WebSocket (graphql-transport-ws). graphql-ws itself would subscribe again from where the
 * subscription began; here it makes one attempt. A connection that does not open, or does not answer a ping, in time
 * is closed. If `keepAlive` is 0 it is not pinged, and has 12 s to open.
 */
export function overWebSocket(options: WebSocketOptions): Transport {
  const { keepAlive = KEEP_ALIVE_MS, webSocketImpl = globalThis.WebSocket } = options;
  if (!URL.canParse(options.url)) throw new TypeError(`${options.url} is not a URL: give one like wss://example.org/graphql`);
  const answerMs = keepAlive > 0 && Number.isFinite(keepAlive) ? keepAlive : KEEP_ALIVE_MS;
  const refused = new RefusedCredentials();
  let credentials = "";
  let silence: ReturnType<typeof setTimeout> | undefined;
  const giveUpLater = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => client.terminate(), answerMs);
  };
  const client = createClient({
    ...options,
    connectionParams: async () => {
      const { connectionParams } = options;
      const given = typeof connectionParams === "function" ? await connectionParams() : connectionParams;
      credentials = tokenIn(given);
      const refusal = refused.of(credentials);
      // The connection is closed, and its subscriptions are told why.
      if (refusal !== null) throw refusal;
      return given;
    },
    webSocketImpl: lostWhileNeeded(webSocketImpl as SocketClass, () => transport.attempts > 0),
    keepAlive,
    lazy: true,
    retryAttempts: 0,
    on: {
      connecting: giveUpLater,
      connected: () => clearTimeout(silence),
      ping: (wasReceived) => {
        if (!wasReceived) giveUpLater();
      },
      pong: () => clearTimeout(silence),
      closed: () => clearTimeout(silence),
    },
  });
  const transport = disposable(
    (request, sink) =>
      client.subscribe<unknown>(onWire(request), {
        next: (result) => sink.next(result as Result<unknown>),
        error: (error) => {
          if (closeCodeOf(error) === NOT_ADMITTED) refused.add(credentials, reasonOf(error));
          sink.error(error);
        },
        complete: () => sink.complete(),
      }),
    () => {
      // It rejects if the connection does not open: there is nobody left who would want to know.
      void Promise.resolve(client.dispose()).catch(() => {});
    },
  );
  return transport;
}

/** The token in what a connection is opened with; empty if there is none, as with a cookie. */
function tokenIn(connectionParams: Readonly<Record<string, unknown>> | undefined): string {
  const token = connectionParams?.["authorization"] ?? connectionParams?.["Authorization"];
  return typeof token === "string" ? token : "";
}

/**
 * A socket that is closed with 1000 while it is needed, as a proxy may in the middle of a stream, counts as lost:
 * graphql-ws would take that for an order to subscribe again from the beginning. Of a socket in whose place another one
 * has come nothing more is told: graphql-ws would take its close for that of the other one.
 */
function lostWhileNeeded(base: SocketClass, isNeeded: () => boolean): SocketClass {
  let sockets = 0;
  return class extends base {
    readonly #number = (sockets += 1);
    #listener: ((event: CloseEventLike) => void) | null = null;

    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols);
      // If a socket is closed before it opens, the package `ws` has an error for whoever still listens.
      this.addEventListener("error", () => {});
      this.addEventListener("close", (event) => {
        if (this.#number === sockets) this.#listener?.(this.#asLost(event));
      });
      Object.defineProperty(this, "onclose", {
        set: (listener: ((event: CloseEventLike) => void) | null) => {
          this.#listener = listener;
        },
      });
    }

    #asLost(event: CloseEventLike): CloseEventLike {
      const isOrder = event.code === NORMAL && isNeeded();
      return isOrder ? { code: LOST, reason: event.reason, wasClean: false } : event;
    }
  };
}

type CloseEventLike = { readonly code: number; readonly reason: string; readonly wasClean: boolean };
