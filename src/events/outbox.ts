import type { Change } from "../db/change.ts";
import type { Appender } from "./appender.ts";
import type { EventDraft } from "./event.ts";
import type { AgentEvents, CommitOutcome, EventLog } from "./log.ts";

/** Whose events an outbox holds, under which lease. */
export type OutboxOwner = { readonly tenant: string; readonly agentId: string; readonly createdBy: string; readonly epoch: number };

/**
 * The way of one agent's events into the log, in order: one write of the agent at a time. A first event goes at once;
 * those that come while a write is under way go together with the next; a commit carries what waits in front of it.
 */
export class Outbox {
  readonly #owner: OutboxOwner;
  readonly #log: EventLog;
  readonly #appender: Appender;
  readonly #onLost: (reason: "FENCED" | Error) => void;
  #waiting: EventDraft[] = [];
  #isScheduled = false;
  #turn: Promise<void> = Promise.resolve();

  /** `onLost` hears that an append outside of a commit was fenced, or failed: the agent must not be advanced further. */
  constructor(owner: OutboxOwner, log: EventLog, appender: Appender, onLost: (reason: "FENCED" | Error) => void) {
    this.#owner = owner;
    this.#log = log;
    this.#appender = appender;
    this.#onLost = onLost;
  }

  /** Sends an event that changes no row. Returns at once. */
  send(event: EventDraft): void {
    this.#waiting.push(event);
    this.#schedule();
  }

  /** Commits a change with its events, after everything sent before. */
  commit(change: Change, events: readonly EventDraft[]): Promise<CommitOutcome> {
    const result = this.#turn.then(async () => {
      const carried = this.#waiting.splice(0);
      const outcome = await this.#log.commit(this.#owner.tenant, this.#part([...carried, ...events]), change);
      if (outcome.outcome !== "COMMITTED" && carried.length > 0) {
        this.#waiting.unshift(...carried);
        this.#schedule();
      }
      return outcome;
    });
    this.#turn = settled(result);
    return result;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#turn = this.#turn.then(() => this.#flush());
  }

  async #flush(): Promise<void> {
    this.#isScheduled = false;
    const events = this.#waiting.splice(0);
    if (events.length === 0) return;
    try {
      const { outcome } = await this.#appender.append(this.#owner.tenant, this.#part(events));
      if (outcome === "FENCED") this.#onLost("FENCED");
    } catch (error) {
      this.#onLost(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #part(events: readonly EventDraft[]): AgentEvents {
    return { agentId: this.#owner.agentId, createdBy: this.#owner.createdBy, epoch: this.#owner.epoch, events };
  }
}

function settled(promise: Promise<unknown>): Promise<void> {
  return promise.then(
    () => {},
    () => {},
  );
}
