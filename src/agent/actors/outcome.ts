/**
 * The result of a command: the id of its row, and the position that it reached; null without an event. A repeated key
 * returns the position of its first use.
 */
export type Outcome = { readonly id: string; readonly position: number | null };
