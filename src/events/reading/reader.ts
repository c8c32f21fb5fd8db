import type { Ending, Line } from "./line.ts";

/** The admission of a reader, which is asked for again as time passes. */
export type Admission = {
  /** True if the last answer is young enough to send events by it. */
  isFresh(): boolean;
  /** Resolves with true when it is fresh, mostly at once; with false when the reader was refused. */
  refreshed(): Promise<boolean>;
  /** Asks again and again while a stream is open. Calls `refuse` once, with the reason. Returns the function that stops it. */
  watch(refuse: (reason: unknown) => void): () => void;
};

/** The last page of a reader: its position, its time, whether it was the head of the log, and whether it reported an outage. */
export type Told = {
  readonly covered: number;
  readonly at: number;
  readonly isAtHead: boolean;
  readonly isOutage: boolean;
};

/** The state of a reader. `held`: it knows of an outage, and continues when that is over. */
export type ReaderState =
  | { readonly kind: "catching_up" }
  | { readonly kind: "live" }
  | { readonly kind: "held" }
  | { readonly kind: "refused"; readonly reason: unknown }
  | { readonly kind: "over" };

export const CATCHING_UP: ReaderState = { kind: "catching_up" };
export const LIVE: ReaderState = { kind: "live" };
export const HELD: ReaderState = { kind: "held" };

/** The feed that a reader leaves. */
export type ReaderHome = { leave(reader: Reader): void };

/** One reader of a feed. Sending a page touches few objects: most of its time goes to memory that is in no cache. */
export class Reader {
  readonly line: Line;
  readonly admission: Admission;
  state: ReaderState = CATCHING_UP;
  /** Null before the first page. */
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

  /** Ends the stream. */
  end(ending: Ending): void {
    if (this.isOver) return;
    try {
      this.line.end(ending);
    } finally {
      this.#finish({ kind: "over" });
    }
  }

  /** The reader has left. */
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
