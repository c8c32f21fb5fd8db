/** The way to one reader. What many are sent goes along it as bytes, between the messages that are the reader's alone. */
export type Line = {
  /** The bytes that wait for the reader now. */
  readonly waitingBytes: number;
  /** Sends an answer, as JSON in UTF-8. False if so much waits for the reader now that the reader goes on alone. */
  send(answer: Uint8Array): boolean;
  /** Resolves when nothing waits for the reader, when the reader has left, or when `signal` aborts. */
  drained(signal: AbortSignal): Promise<void>;
};

/** A reader for whom more bytes wait is backed up. */
export const BACKED_UP_BYTES = 16 * 1024;
