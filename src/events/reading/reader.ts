/** The end of a stream: complete, or with an error, which the transport shows to its client. */
export type Ending = { readonly kind: "complete" } | { readonly kind: "failed"; readonly error: unknown };

export type Line = {
  readonly waitingBytes: number;
  /** Sends an encoded page. False if the reader is backed up: nothing more is sent before the line is drained. */
  send(answer: Uint8Array): boolean;
  /** Resolves when nothing waits for the reader, when the reader has left, or when `signal` aborts. */
  drained(signal: AbortSignal): Promise<void>;
  end(ending: Ending): void;
};

/** A reader for whom more bytes wait is backed up. */
export const BACKED_UP_BYTES = 16 * 1024;

export type Admission = {
  isFresh(): boolean;
  /** Resolves with true when it is fresh, mostly immediately; with false when the reader was refused. */
  refreshed(): Promise<boolean>;
  /** Asks repeatedly while a stream is open. Calls `refuse` once, with the reason. Returns the function that stops it. */
  watch(refuse: (reason: unknown) => void): () => void;
};

/** The last page of a reader: its position, its time, whether it was the head of the log, and whether it reported an outage. */
export type Told = {
  readonly covered: number;
  readonly at: number;
  readonly isAtHead: boolean;
  readonly isOutage: boolean;
};

/** `held`: the reader knows of an outage, and continues after it. */
export type ReaderState =
  | { readonly kind: "catching_up" }
  | { readonly kind: "live" }
  | { readonly kind: "held" }
  | { readonly kind: "refused"; readonly reason: unknown }
  | { readonly kind: "over" };

export const CATCHING_UP: ReaderState = { kind: "catching_up" };
export const LIVE: ReaderState = { kind: "live" };
export const HELD: ReaderState = { kind: "held" };

export type ReaderHome = { leave(reader: Reader): void };

/** One reader of a feed. Sending a page touches few objects: most of its time goes to memory that is in no cache. */
export class Reader {
  readonly line: Line;
  readonly admission: Admission;
  state: ReaderState = CATCHING_UP;
  told: Told | null = null;
  home: ReaderHome | null = null;
  readonly #onOver: () => void;
  readonly #unwatch: () => void;

  /** Calls `onOver` once, at the end of the stream or when the reader leaves. */
  constructor(line: Line, admission: Admission, onOver: () => void) {
    this.line = line;
    this.admission = admission;
    this.#onOver = onOver;
    this.#unwatch = admission.watch((reason) => this.#refuse(reason));
  }

  get isOver(): boolean {
    return this.state.kind === "over" || this.state.kind === "refused";
  }

  end(ending: Ending): void {
    if (this.isOver) return;
    try {
      this.line.end(ending);
    } finally {
      this.#finish({ kind: "over" });
    }
  }

  leave(): void {
    if (!this.isOver) this.#finish({ kind: "over" });
  }

  #refuse(reason: unknown): void {
    if (this.isOver) return;
    try {
      this.line.end({ kind: "failed", error: reason });
    } finally {
      this.#finish({ kind: "refused", reason });
    }
  }

  #finish(state: ReaderState): void {
    this.state = state;
    this.#unwatch();
    this.home?.leave(this);
    this.#onOver();
  }
}

export const TRANSPORTS = ["sse", "websocket"] as const;
export type Transport = (typeof TRANSPORTS)[number];

export const READER_STATES = ["live", "catching_up", "held"] as const satisfies readonly ReaderState["kind"][];

type Open = { readonly transport: Transport; readonly reader: Reader };

export class Readers {
  sockets = 0;
  readonly #open = new Set<Open>();

  open(transport: Transport, reader: Reader): () => void {
    const open = { transport, reader };
    this.#open.add(open);
    return () => void this.#open.delete(open);
  }

  count(): readonly { readonly transport: Transport; readonly state: ReaderState["kind"]; readonly readers: number }[] {
    const counts = TRANSPORTS.flatMap((transport) => READER_STATES.map((state) => ({ transport, state, readers: 0 })));
    for (const { transport, reader } of this.#open) {
      const counted = counts.find((each) => each.transport === transport && each.state === reader.state.kind);
      if (counted !== undefined) counted.readers += 1;
    }
    return counts;
  }
}
