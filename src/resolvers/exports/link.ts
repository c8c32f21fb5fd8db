/** The time for which the address of an export's file is good, in ms. */
export const LINK_MS = 60 * 60_000;
