import { constants } from "node:fs";

/** Flags of opening: never through a link, and never waiting, since a pipe without a writer would hold a thread of the server for ever. */
export const SAFELY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
