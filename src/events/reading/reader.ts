import type { Ending, Line } from "./line.ts";

/** Whether something may be shown to a reader: asked again as time passes. */
export type Admission = {
  /** True if the last answer is young enough for something to be shown by it. */
  isFresh(): boolean;
  /** Resolves when it is, at once as a rule. False if the reader was refused. */
  refreshed(): Promise<boolean>;
  /** Keeps asking while a stream is open. `refuse` is called, once, with the reason for which nothing more is shown. Returns the end of that. */
  watch(refuse: (reason: unknown) => void): () => void;
};

/** The last page that a reader was sent: up to where it has everything, when, whether that was the end of the log, and whether it told of an outage. */
export type Told = {
  readonly covered: number;
  readonly at: number;
  readonly isAtHead: boolean;
  readonly isOutage: boolean;
};

/** Where a reader stands. `held`: the database is away, the reader knows it, and goes on by itself. */
export type ReaderState =
  | { readonly kind: "catching_up" }
  | { readonly kind: "live" }
  | { readonly kind: "held" }
  | { readonly kind: "refused"; readonly reason: unknown }
  | { readonly kind: "over" };

export const CATCHING_UP: ReaderState = { kind: "catching_up" };
export const LIVE: ReaderState = { kind: "live" };
export const HELD: ReaderState = { kind: "held" };

/** What a reader leaves when it goes. */
export type ReaderHome = { leave(reader: Reader): void };

/**
 * One reader of a feed. What a page needs of it is reached by few objects: for a further reader most of the time goes to memory that
 * was not touched since the page before.
 */
export class Reader {
  readonly line: Line;
  readonly admission: Admission;
  state: ReaderState = CATCHING_UP;
  /** Null until it was sent its first page. */
  told: Told | null = null;
  home: ReaderHome | null = null;
  readonly #onOver: () => void;
  readonly #unwatch: () => void;

  /** `onOver` is called once, when nothing more comes or nobody reads on. */
  constructor(line: Line, admission: Admission, onOver: () => void) {
    this.line = line;
    this.admission = admission;
    this.#onOver = onOver;
    this.#unwatch = admission.watch((reason) => this.#refuse(reason));
  }

  get isOver(): boolean {
    return this.state.kind === "over" || this.state.kind === "refused";
  }

  /** Nothing more comes. */
  end(ending: Ending): void {
    if (this.isOver) return;
    try {
      this.line.end(ending);
    } finally {
      this.#finish({ kind: "over" });
    }
  }

  /** Nobody reads on. */
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
