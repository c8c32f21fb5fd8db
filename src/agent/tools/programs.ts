/** The folder in which a program starts, and what is added to its environment. */
export type StartOptions = { readonly folder?: string; readonly env?: Readonly<Record<string, string>> };

/** A program that has ended, by its code or by a signal, with what it said. */
export type FinishedProgram = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  /** Its output on both of its streams, as far as a model reads it: the head and the tail of what is longer. */
  readonly output: string;
  /** The length of all that it said. */
  readonly outputBytes: number;
  /**
   * The deeds of its sandbox that the model must know: covered files that it names, paths that were taken away again, and hosts that
   * were refused. One more says if something else held its output open.
   */
  readonly notes: readonly string[];
};
