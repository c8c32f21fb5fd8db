import type { Logger } from "../../src/telemetry/log.ts";

/** Keeps silent, where errors are expected or do not matter. */
export const silentLogger: Logger = { tell: () => {}, warn: () => {}, error: () => {} };
