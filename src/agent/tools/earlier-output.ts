/** A part of an output, in bytes. */
export type OutputRange = { readonly offset: number; readonly bytes: number };

/** `next` is the offset of the next part; null at the end. The text is null for a call without an output. */
export type EarlierOutput = {
  readonly text: string | null;
  readonly total: number;
  readonly next: number | null;
  /** False if another server has the whole, or if it was erased. */
  readonly isWhole: boolean;
};
