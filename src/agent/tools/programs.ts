export type StartOptions = { readonly folder?: string; readonly env?: Readonly<Record<string, string>> };

export type FinishedProgram = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  /** Both streams, as far as a model reads them: the head and the tail of a longer output. */
  readonly output: string;
  readonly outputBytes: number;
  /**
   * Sandbox events for the model: named covered files, removed paths and refused hosts; also if another process held
   * the output open.
   */
  readonly notes: readonly string[];
};
