/** The outcome of a command: the id of the row that it is about, and the position that the log has reached with it; null if it was so before, or wrote no event. A key that is used again answers the position of its first use. */
export type Outcome = { readonly id: string; readonly position: number | null };
