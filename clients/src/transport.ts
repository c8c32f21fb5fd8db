/** One operation as it goes over the wire. */
export type Request = {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
};

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

/** Who is told. After `error` or `complete` nothing comes any more. */
export type Sink<Value> = {
  next(value: Value): void;
  error(error: unknown): void;
  complete(): void;
};

/**
 * How subscriptions reach the server. `subscribe` makes one attempt and repeats nothing by itself: it says `complete`
 * only where the server did, and `error` where the connection was lost. It returns the end of the attempt.
 */
export type Transport = {
  subscribe(request: Request, sink: Sink<Result<unknown>>): () => void;
  /** Closes what is open. */
  dispose(): void;
};
