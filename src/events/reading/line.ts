/** How a stream ends: as its reader asked for, or with an error, which the transport shows as its clients know it. */
export type Ending = { readonly kind: "complete" } | { readonly kind: "failed"; readonly error: unknown };

/** The way to one reader, of any transport. Answers that many are sent go along it as the very same bytes. */
export type Line = {
  /** The bytes that wait for the reader now. */
  readonly waitingBytes: number;
  /** Sends an answer, as the reader's encoder made it. False if so much waits for the reader now that nothing else is sent before it has gone. */
  send(answer: Uint8Array): boolean;
  /** Resolves when nothing waits for the reader, when the reader has left, or when `signal` aborts. */
  drained(signal: AbortSignal): Promise<void>;
  /** Says that nothing more comes, and why. */
  end(ending: Ending): void;
};

/** A reader for whom more bytes wait is backed up. */
export const BACKED_UP_BYTES = 16 * 1024;
