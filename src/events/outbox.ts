import type { Change } from "../db/change.ts";
import type { Appender } from "./appender.ts";
import type { EventDraft } from "./event.ts";
import { StorageUnavailable } from "../db/sql.ts";
import type { AgentEvents, CommitOutcome, EventLog } from "./log.ts";

/** Whose events an outbox holds, under which lease. */
export type OutboxOwner = {
  readonly tenant: string;
  readonly agentId: string;
  readonly createdBy: string;
  readonly epoch: number;
};

/**
 * The way of one agent's events into the log, in order: one write of the agent at a time. A first event goes at once;
 * those that come while a write is under way go together with the next; a commit carries what waits in front of it.
 */
export class Outbox {
  readonly #owner: OutboxOwner;
  readonly #log: EventLog;
  readonly #appender: Appender;
  readonly #onLost: (reason: "FENCED" | Error) => void;
  /** What waits for the next append; null where none is due. */
  #open: EventDraft[] | null = null;
  #turn: Promise<void> = Promise.resolve();
  /** Something before was fenced or lost: nothing may be written behind it. */
  #isLost = false;

  /** `onLost` hears that an append outside of a commit was fenced, or failed: the agent must not be advanced further. */
  constructor(owner: OutboxOwner, log: EventLog, appender: Appender, onLost: (reason: "FENCED" | Error) => void) {
    this.#owner = owner;
    this.#log = log;
    this.#appender = appender;
    this.#onLost = (reason) => {
      this.#isLost = true;
      onLost(reason);
    };
  }

  /** Sends an event that changes no row. Returns at once. */
  send(event: EventDraft): void {
    if (this.#open !== null) {
      this.#open.push(event);
      return;
    }
    const batch = [event];
    this.#open = batch;
    this.#turn = this.#turn.then(() => {
      if (this.#open === batch) this.#open = null;
      return this.#append(batch);
    });
  }

  /** Commits a change with its events, after everything sent before and in front of everything sent later. */
  commit(change: Change, events: readonly EventDraft[]): Promise<CommitOutcome> {
    const carried = this.#open?.splice(0) ?? [];
    this.#open = null;
    const result = this.#turn.then(() => this.#commit(change, events, carried));
    this.#turn = settled(result);
    return result;
  }

  /** What a commit that changed nothing carried goes by itself. Where the outcome is unknown, nothing is sent again. */
  async #commit(change: Change, events: readonly EventDraft[], carried: readonly EventDraft[]): Promise<CommitOutcome> {
    if (this.#isLost) return { outcome: "FENCED" };
    try {
      const outcome = await this.#log.commit(this.#owner.tenant, this.#part([...carried, ...events]), change);
      if (outcome.outcome !== "COMMITTED") await this.#append(carried);
      return outcome;
    } catch (error) {
      if (error instanceof StorageUnavailable) this.#onLost(error);
      else await this.#append(carried);
      throw error;
    }
  }

  async #append(events: readonly EventDraft[]): Promise<void> {
    if (events.length === 0 || this.#isLost) return;
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
