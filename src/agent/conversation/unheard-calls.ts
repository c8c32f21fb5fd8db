import type { Logger } from "../../telemetry/log.ts";
import { totalTokens } from "../models/model.ts";
import type { Spending } from "../models/spending.ts";

/**
 * Counts and logs model calls that nobody heard: a call begins while the commit that leads to it is under way, and ends if
 * that is refused. What it cost is in no step, since its step was never committed.
 */
export class UnheardCalls {
  readonly #logger: Logger;
  #count = 0;
  #tokens = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The number of them since the server began. */
  get count(): number {
    return this.#count;
  }

  /** The tokens that their providers had counted by then. */
  get tokens(): number {
    return this.#tokens;
  }

  /** The commit that led to the call of a step was refused. */
  tell(agentId: string, step: number, { usage }: Spending): void {
    const tokens = totalTokens(usage);
    this.#count += 1;
    this.#tokens += tokens;
    this.#logger.warn(
      `the model call of step ${step} of agent ${agentId} had begun when its commit was refused: it was ended, ${tokens} tokens were counted`,
    );
  }
}
