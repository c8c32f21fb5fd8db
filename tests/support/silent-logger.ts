import type { Logger } from "../../src/lib/log.ts";

/** Keeps silent, where errors are expected or do not matter. */
export const silentLogger: Logger = { warn: () => {}, error: () => {} };
