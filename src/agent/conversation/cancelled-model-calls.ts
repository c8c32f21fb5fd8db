import type { Logger } from "../../telemetry/log.ts";
import { totalTokens } from "../models/model.ts";
import type { Spending } from "../models/spending.ts";

/**
 * Counts and logs cancelled model calls: a call begins during the commit of its step, and is cancelled if that is
 * refused. Its cost is in no step.
 */
export class CancelledModelCalls {
  readonly #logger: Logger;
  #count = 0;
  #tokens = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get count(): number {
    return this.#count;
  }

  get tokens(): number {
    return this.#tokens;
  }

  record(agentId: string, step: number, { usage }: Spending): void {
    const tokens = totalTokens(usage);
    this.#count += 1;
    this.#tokens += tokens;
    this.#logger.warn(
      `the model call of step ${step} of agent ${agentId} had begun when its commit was refused: it was ended, ${tokens} tokens were counted`,
    );
  }
}
