import type { Logger } from "../../telemetry/log.ts";

/** Counts and logs tools that answer after their calls: at a timeout or an interrupt a call ends at once, and what its tool still answers is dropped. */
export class LateResults {
  readonly #logger: Logger;
  #count = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The number of them since the server began. */
  get count(): number {
    return this.#count;
  }

  /** The tool of a call that has ended before has answered now. */
  tell(callId: string, tool: string): void {
    this.#count += 1;
    this.#logger.warn(`${tool} answered after its call ${callId} had ended: the answer is dropped`);
  }
}
