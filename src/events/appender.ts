import { encodePart, type AgentEvents, type AppendOutcome, type EncodedPart, type EventLog } from "./log.ts";

/** The most events of one append. */
const BATCH_EVENTS = 1_000;

type Waiting = {
  readonly part: EncodedPart;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Brings the events of a node's agents into the log together: one append of a tenant at a time, since the tenant's log
 * row admits no more; what comes meanwhile goes with the next.
 */
export class Appender {
  readonly #log: EventLog;
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Appends one agent's events. Resolves when they are committed, or fenced. */
  async append(tenant: string, events: AgentEvents): Promise<AppendOutcome> {
    const part = encodePart(events);
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(tenant);
      if (queue !== undefined) {
        queue.push({ part, resolve, reject });
        return;
      }
      this.#waiting.set(tenant, [{ part, resolve, reject }]);
      void this.#drain(tenant);
    });
  }

  async #drain(tenant: string): Promise<void> {
    const queue = this.#waiting.get(tenant) ?? [];
    while (queue.length > 0) {
      const batch = takeBatch(queue);
      try {
        const outcomes = await this.#log.appendEncoded(
          tenant,
          batch.map((waiting) => waiting.part),
        );
        batch.forEach((waiting, index) => {
          const outcome = outcomes[index];
          if (outcome === undefined) waiting.reject(new Error("an append answered fewer outcomes than it had agents"));
          else waiting.resolve(outcome);
        });
      } catch (error) {
        batch.forEach((waiting) => waiting.reject(error));
      }
    }
    this.#waiting.delete(tenant);
  }
}

function takeBatch(queue: Waiting[]): Waiting[] {
  let events = 0;
  const agents = new Set<string>();
  for (const { part } of queue) {
    // An agent twice means two leases of it: the older part waits for a batch of its own, where it is fenced.
    if (agents.has(part.agentId) || (agents.size > 0 && events + part.events.length > BATCH_EVENTS)) break;
    events += part.events.length;
    agents.add(part.agentId);
  }
  return queue.splice(0, agents.size);
}
