/** One operation: its text, or the id under which the server knows it as one of its trusted documents. */
export type Request = ({ readonly query: string } | { readonly documentId: string }) & {
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
};

/** An operation as it goes over the wire. */
export type WireRequest = {
  readonly query: string;
  readonly operationName: string | null;
  readonly variables: Record<string, unknown> | null;
  readonly extensions: Record<string, unknown> | null;
};

/** The operation as the protocols of subscriptions carry it: they want a text, so that an id stands in the extensions. */
export function onWire(request: Request): WireRequest {
  const named = "documentId" in request ? { documentId: request.documentId } : {};
  const extensions = { ...request.extensions, ...named };
  return {
    query: "query" in request ? request.query : "",
    operationName: request.operationName ?? null,
    variables: request.variables ? { ...request.variables } : null,
    extensions: Object.keys(extensions).length === 0 ? null : extensions,
  };
}

/** An error of GraphQL's own, as the server says it. */
export type ServerError = {
  readonly message: string;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
};

/** One answer of a subscription. */
export type Result<Data> = {
  readonly data?: Data | null | undefined;
  readonly errors?: readonly ServerError[] | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
};

/** The receiver of results. After `error` or `complete` nothing comes. */
export type Sink<Value> = {
  next(value: Value): void;
  error(error: unknown): void;
  complete(): void;
};

/**
 * A transport of subscriptions. `subscribe` makes one attempt and repeats nothing by itself: it says `complete`
 * only if the server did, and `error` if the connection was lost. It returns the end of the attempt.
 */
export type Transport = {
  subscribe(request: Request, sink: Sink<Result<unknown>>): () => void;
  /** Closes what is open, for good: every subscription ends with TransportDisposed. */
  dispose(): void;
};

/** The transport was disposed of: nothing is tried again. */
export class TransportDisposed extends Error {
  override readonly name = "TransportDisposed";
}

/** The server answered the attempt with an HTTP status that refuses it. */
export class AttemptRefused extends Error {
  override readonly name = "AttemptRefused";
}

/** The server does not admit who asks, and nothing else was given than before: it was not sent again. */
export class CredentialsRefused extends Error {
  override readonly name = "CredentialsRefused";
}

/**
 * The credentials that a server has refused: they are not sent again, since a sign-in gives others. Who gives none is known by a
 * cookie, which nobody sees here, and is asked about each time.
 */
export class RefusedCredentials {
  #refused: { readonly credentials: string; readonly error: CredentialsRefused } | null = null;

  /** The refusal of these; null if the server has not refused them. */
  of(credentials: string): CredentialsRefused | null {
    return this.#refused?.credentials === credentials ? this.#refused.error : null;
  }

  /** The server refused these with its message. */
  add(credentials: string, message: string): void {
    if (credentials !== "") this.#refused = { credentials, error: new CredentialsRefused(message) };
  }
}

/** A transport with the end of all its attempts, and how many are under way. */
export function disposable(subscribe: Transport["subscribe"], close: () => void): Transport & { readonly attempts: number } {
  const ends = new Set<() => void>();
  let isDisposed = false;
  return {
    get attempts() {
      return ends.size;
    },
    subscribe(request, sink) {
      if (isDisposed) {
        sink.error(new TransportDisposed("the transport was disposed of"));
        return () => {};
      }
      let isPast = false;
      const once = (say: () => void): void => {
        if (isPast) return;
        isPast = true;
        ends.delete(disposed);
        say();
      };
      const disposed = (): void => once(() => sink.error(new TransportDisposed("the transport was disposed of")));
      ends.add(disposed);
      const stop = subscribe(request, {
        next: (result) => {
          if (!isPast) sink.next(result);
        },
        error: (error) => once(() => sink.error(error)),
        complete: () => once(() => sink.complete()),
      });
      return () => once(stop);
    },
    dispose() {
      isDisposed = true;
      for (const end of ends) end();
      close();
    },
  };
}
