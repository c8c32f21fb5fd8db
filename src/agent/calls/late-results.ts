import type { Logger } from "../../telemetry/log.ts";

/** Counts and logs tools that answer after their call ended by a timeout or an interrupt: late answers are dropped. */
export class LateResults {
  readonly #logger: Logger;
  #count = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get count(): number {
    return this.#count;
  }

  record(callId: string, tool: string): void {
    this.#count += 1;
    this.#logger.warn(`${tool} answered after its call ${callId} had ended: the answer is dropped`);
  }
}
