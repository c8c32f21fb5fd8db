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
