import { constants } from "node:fs";

/** Flags for opening: links are not followed, and a pipe without a writer does not block a thread for ever. */
export const SAFELY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
