import { currentOwnCode } from "./agent/tools/own-code.ts";
import type { Logger } from "./telemetry/log.ts";
import { messageOf } from "./lib/text.ts";

let count = 0;

/** The number of failures in this process of things that nobody waited for. */
export function forgottenCount(): number {
  return count;
}

/**
 * Keeps the process alive where code of the operator's own forgot something: a rejection that nobody waits for, or an
 * exception in a timer or an event of its own. It is logged, counted, and raised as an ERROR of the agent that it worked
 * for. A forgotten rejection of anybody else is logged and counted; an exception of anybody else ends the process.
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
