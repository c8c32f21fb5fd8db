import { AsyncLocalStorage } from "node:async_hooks";
import type { ErrorPhase, AgentEventBody } from "../../events/event.ts";
import { withCause } from "../../lib/text.ts";
import type { EventLog } from "../../events/log.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../telemetry/log.ts";

/** Code of the operator's own that runs now: what it is, and who is told of what it forgot. */
export type OwnCode = {
  /** Of which agent, for example `the call … of own_tool`. */
  readonly what: string;
  /** Says on the agent's timeline that it forgot something. */
  raise(problem: string): Promise<void>;
  /** Logs what it threw, or a hook or a mode at a place of the configuration, with the stack, for its author: the model and the timeline have the message alone. */
  threw(error: unknown, place?: string): void;
};

/** By what is told of what own code forgot. */
export type OwnCodeServices = { readonly log: EventLog; readonly clock: Clock; readonly logger: Logger };

const current = new AsyncLocalStorage<OwnCode>();

/** One piece of own code raises no more than so many errors: it may forget a million. */
const RAISED = 10;

/** Runs own code: what it starts and does not wait for is known as its. */
export function runOwnCode<Result>(code: OwnCode, work: () => Result): Result {
  return current.run(code, work);
}

/** The own code that what happens now belongs to; null if it is none. */
export function currentOwnCode(): OwnCode | null {
  return current.getStore() ?? null;
}

/** Own code that works for an agent, or for none. What it forgot is raised as an ERROR on the agent's timeline, or logged. */
export function ownCodeOf(
  { log, clock, logger }: OwnCodeServices,
  agent: { readonly id: string; readonly tenant: string; readonly createdBy: string } | null,
  what: string,
  phase: ErrorPhase,
): OwnCode {
  let raised = 0;
  return {
    what,
    threw: (error, place) => {
      const fields = agent === null ? {} : { tenant: agent.tenant, agent: agent.id };
      logger.tell("own_code_failed", `${place === undefined ? what : `${place}, for ${what},`} threw`, fields, error);
    },
    raise: async (problem) => {
      raised += 1;
      if (raised > RAISED) return;
      const message = `${what} did not wait for something that failed: ${problem}`;
      if (agent === null) return logger.error(message, problem);
      const body: AgentEventBody = { kind: "ERROR", severity: "ERROR", phase, message, detail: "forgotten_rejection" };
      try {
        const events = [{ at: clock.now(), body }];
        await log.append(agent.tenant, [{ agentId: agent.id, createdBy: agent.createdBy, events }]);
      } catch (error) {
        logger.warn(`what ${what} forgot could not be raised (${withCause(error)})`);
      }
    },
  };
}
