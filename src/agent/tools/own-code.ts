import { AsyncLocalStorage } from "node:async_hooks";
import type { ErrorPhase, AgentEventBody } from "../../events/event.ts";
import { withCause } from "../../lib/text.ts";
import type { EventLog } from "../../events/log.ts";
import type { Clock } from "../../lib/time.ts";
import type { Logger } from "../../telemetry/log.ts";

export type OwnCode = {
  /** With its agent, for example `the call … of own_tool`. */
  readonly what: string;
  /** Reports an unhandled error on the agent's timeline. */
  raise(problem: string): Promise<void>;
  /**
   * Logs an error with its stack for the author, also one of a hook or a mode at a place of the configuration. The
   * model and the timeline get only the message.
   */
  threw(error: unknown, place?: string): void;
};

export type OwnCodeServices = { readonly log: EventLog; readonly clock: Clock; readonly logger: Logger };

const current = new AsyncLocalStorage<OwnCode>();

const RAISED = 10;

/** Runs own code. Its unawaited work is attributed to it. */
export function runOwnCode<Result>(code: OwnCode, work: () => Result): Result {
  return current.run(code, work);
}

/** The own code of the present asynchronous context; null for none. */
export function currentOwnCode(): OwnCode | null {
  return current.getStore() ?? null;
}

/** Own code for an agent, or for none. Its unhandled errors are raised as an ERROR on the agent's timeline, or logged. */
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
