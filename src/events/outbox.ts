import { setImmediate as macrotask } from "node:timers/promises";
import type { AgentPatch, OwnerChange } from "../db/commit/change.ts";
import { StorageUnavailable } from "../db/storage-error.ts";
import type { Appender } from "./appender.ts";
import type { EventDraft, EventKind } from "./event.ts";
import type { EventLog } from "./log.ts";
import type { OwnerOutcome, FencedEvents } from "./write.ts";
import type { WaitingShare } from "./waiting-events.ts";

export type OutboxOwner = {
  readonly tenant: string;
  readonly agentId: string;
  readonly createdBy: string;
  readonly owner: string;
  readonly epoch: number;
};

export type WaitingOfAgent = { readonly events: number; readonly first: EventKind | null };

export type LossReason = "FENCED" | Error;

type Batch = { readonly events: EventDraft[]; readonly patch: AgentPatch; readonly releases: (() => void)[] };

/**
 * The way of one agent's events into the log, in order: one write of the agent at a time. Events of one tick, or during
 * a write, are written together, and adjacent text is merged. A commit includes the events that wait before it.
 */
export class Outbox {
  readonly #owner: OutboxOwner;
  readonly #log: EventLog;
  readonly #appender: Appender;
  readonly #onLost: (reason: LossReason) => void;
  #open: Batch | null = null;
  #turn: Promise<void> = Promise.resolve();
  #isLost = false;
  readonly #share: WaitingShare;
  #first: EventKind | null = null;
  #lostEvents = 0;
  #isAppending = false;
  #commitsBehind = 0;

  /** `onLost` is called when an event was fenced, or could not be written: the agent must not be advanced further. */
  constructor(owner: OutboxOwner, log: EventLog, appender: Appender, onLost: (reason: LossReason) => void) {
    this.#owner = owner;
    this.#log = log;
    this.#appender = appender;
    this.#onLost = onLost;
    this.#share = log.waiting.share();
  }

  get waiting(): WaitingOfAgent {
    return { events: this.#share.events, first: this.#share.events === 0 ? null : this.#first };
  }

  get isFull(): boolean {
    return this.#share.isFull;
  }

  room(signal: AbortSignal): Promise<void> {
    return this.#share.room(signal);
  }

  get lostEvents(): number {
    return this.#lostEvents;
  }

  async settled(): Promise<void> {
    await this.#turn;
  }

  /** Sends an event, with the changed columns that it reports. Returns immediately. Text is merged with a waiting event. */
  send(event: EventDraft, patch: AgentPatch = {}): void {
    if (this.#open !== null) {
      const { events } = this.#open;
      const merged = mergedText(events.at(-1), event);
      const release = merged === null ? this.#take([event]) : this.#share.takeMore(event.body);
      if (merged === null) events.push(event);
      else events[events.length - 1] = merged;
      Object.assign(this.#open.patch, patch);
      this.#open.releases.push(release);
      return;
    }
    const release = this.#take([event]);
    const batch: Batch = { events: [event], patch: { ...patch }, releases: [release] };
    this.#open = batch;
    this.#turn = this.#turn
      .then(() => macrotask())
      .then(() => {
        if (this.#open === batch) this.#open = null;
        return this.#write(batch);
      })
      .finally(() => releaseAll(batch));
  }

  /**
   * Commits a change with its events, between earlier and later events. `settle` gets the outcome before the agent is
   * read or written again.
   */
  commit(
    change: OwnerChange,
    events: readonly EventDraft[],
    settle: (outcome: OwnerOutcome | null) => void = () => {},
  ): Promise<OwnerOutcome> {
    const release = this.#take(events);
    this.#commitsBehind += 1;
    if (this.#isAppending) this.#appender.hurry(this.#owner.tenant);
    const carried: Batch = {
      events: this.#open?.events.splice(0) ?? [],
      patch: this.#open?.patch ?? {},
      releases: [...(this.#open?.releases.splice(0) ?? []), release],
    };
    this.#open = null;
    const result = this.#turn
      .then(() => this.#commit(change, events, carried))
      .then(
        (outcome) => {
          settle(outcome);
          return outcome;
        },
        (error: unknown) => {
          settle(null);
          throw error;
        },
      )
      .finally(() => releaseAll(carried));
    this.#turn = settled(result);
    return result;
  }

  read<Result>(read: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(read);
    this.#turn = settled(result);
    return result;
  }

  #take(events: readonly EventDraft[]): () => void {
    if (this.#share.events === 0) this.#first = events[0]?.body.kind ?? null;
    return this.#share.take(events.map(({ body }) => body));
  }

  /**
   * If the carrying commit changed nothing, its carried events are written separately. If its outcome is unknown,
   * nothing is sent again.
   */
  async #commit(change: OwnerChange, events: readonly EventDraft[], carried: Batch): Promise<OwnerOutcome> {
    this.#commitsBehind -= 1;
    if (this.#isLost) {
      this.#lostEvents += carried.events.length + events.length;
      return { outcome: "FENCED" };
    }
    try {
      const outcome = await this.#log.commitHeld(
        this.#owner.tenant,
        this.#part([...carried.events, ...events]),
        isEmpty(carried.patch) ? change : { ...change, agent: { ...carried.patch, ...change.agent } },
      );
      if (outcome.outcome === "FENCED") this.#lostEvents += events.length;
      if (outcome.outcome !== "COMMITTED") await this.#write(carried);
      return outcome;
    } catch (error) {
      if (error instanceof StorageUnavailable) this.#lose(error);
      else await this.#write(carried);
      throw error;
    }
  }

  async #write({ events, patch }: Batch): Promise<void> {
    if (this.#isLost) this.#lostEvents += events.length;
    if (events.length === 0 || this.#isLost) return;
    const { tenant } = this.#owner;
    let left = events.length;
    try {
      if (!isEmpty(patch)) {
        const { outcome } = await this.#log.commitHeld(tenant, this.#part(events), { agent: patch });
        return outcome === "COMMITTED" ? undefined : this.#loseEvents(left, "FENCED");
      }
      this.#isAppending = true;
      for (let first = 0; first < events.length; first += APPENDED) {
        const appended = this.#appender.append(tenant, this.#part(events.slice(first, first + APPENDED)));
        if (this.#commitsBehind > 0) this.#appender.hurry(tenant);
        const { outcome } = await appended;
        if (outcome !== "COMMITTED") return this.#loseEvents(left, "FENCED");
        left -= APPENDED;
      }
    } catch (error) {
      this.#loseEvents(left, error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#isAppending = false;
    }
  }

  #loseEvents(count: number, reason: LossReason): void {
    this.#lostEvents += count;
    this.#lose(reason);
  }

  #lose(reason: "FENCED" | Error): void {
    this.#isLost = true;
    this.#onLost(reason);
  }

  #part(events: readonly EventDraft[]): FencedEvents {
    const { agentId, createdBy, owner, epoch } = this.#owner;
    return { agentId, createdBy, fence: { owner, epoch }, events };
  }
}

/** The most events of one agent in one append: others of the tenant wait for the log meanwhile. */
const APPENDED = 200;

/** The most text in one merged event, in characters, well below the limit of an event. */
const MERGED_CHARACTERS = 8_000;

/** Consecutive text of one block as one event, at the time of the first; null if the two cannot be merged. */
function mergedText(before: EventDraft | undefined, { body }: EventDraft): EventDraft | null {
  if (before === undefined) return null;
  const first = before.body;
  if (first.kind !== "TEXT_CHUNK" && first.kind !== "THINK_CHUNK") return null;
  if (body.kind !== first.kind || body.step !== first.step || body.block !== first.block) return null;
  const delta = first.delta + body.delta;
  return delta.length > MERGED_CHARACTERS ? null : { at: before.at, body: { ...first, delta } };
}

function releaseAll({ releases }: Batch): void {
  for (const release of releases.splice(0)) release();
}

function isEmpty(patch: AgentPatch): boolean {
  return Object.keys(patch).length === 0;
}

function settled(promise: Promise<unknown>): Promise<void> {
  return promise.then(
    () => {},
    () => {},
  );
}
