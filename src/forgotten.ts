import { currentOwnCode } from "./agent/tools/own-code.ts";
import type { Logger } from "./telemetry/log.ts";
import { messageOf } from "./lib/text.ts";

let count = 0;

/** The number of unhandled failures in this process. */
export function forgottenCount(): number {
  return count;
}

/**
 * Handles errors that configured code did not: unhandled rejections, and exceptions in its timers or events. They are
 * logged, counted, and raised as an ERROR of the agent. Other unhandled rejections are logged and counted; other
 * uncaught exceptions end the process.
 */
export function watchForgotten(logger: Logger): void {
  const hear = (error: unknown): void => {
    count += 1;
    const code = currentOwnCode();
    logger.error(code === null ? "something failed that nobody waits for" : `${code.what} forgot something that failed`, error);
    void code?.raise(messageOf(error));
  };
  const hearException = (error: unknown): void => {
    if (currentOwnCode() !== null) return hear(error);
    logger.error("an exception that nobody catches ends the server", error);
    process.exit(1);
  };
  process.on("unhandledRejection", hear);
  process.on("uncaughtException", hearException);
}
