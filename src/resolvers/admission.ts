/** The admission of an actor whose stream is open: it is asked for again as time passes. */
export type Admission = {
  /** True if the last answer is young enough for something to be shown by it. */
  isFresh(): boolean;
  /** Resolves when it is, at once as a rule. False if the stream was refused. */
  refreshed(): Promise<boolean>;
  /** True once the stream was refused: nothing more is shown. */
  isRefused(): boolean;
  /** Keeps asking while a stream is open. `refuse` is called, once, with the reason for which nothing more is shown. Returns the end of that. */
  watch(refuse: (reason: unknown) => void): () => void;
};
