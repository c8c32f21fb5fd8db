import { joinChanges, type AgentPatch, type Change } from "../db/change.ts";
import type { AgentState, Breakpoint } from "../db/generated/enums.ts";
import { shownProblem } from "../db/error-class.ts";
import { StorageUnavailable } from "../db/sql.ts";
import type { EventBody, EventDraft } from "../events/event.ts";
import type { CommitOutcome } from "../events/log.ts";
import { Outbox, type WaitingOfAgent } from "../events/outbox.ts";
import type { Deadline } from "../lib/deadline.ts";
import { withCause } from "../lib/text.ts";
import type { Lease } from "./lease.ts";
import { look, type Look } from "./look.ts";
import { inOrder, unchanged, type After } from "./look-after.ts";
import type { AgentParts } from "./parts.ts";

/** What one commit is to store. */
export type Entry = {
  readonly change: Change;
  readonly events: readonly EventBody[];
  readonly after: After;
  /** Is called when it is stored. */
  readonly stored: () => void;
  /** What to store in its place where the database refuses it: it must not be tried for ever. */
  readonly orElse: (problem: string) => Promise<void>;
};

type Standing = { readonly state: AgentState; readonly breakpoint: Breakpoint };

/**
 * One agent held under one lease: the only way by which its owner writes. Every change and every event goes through
 * one outbox, in order and fenced by the lease's epoch (invariants 3 and 4). Once fenced, the hold is lost for good.
 */
export class Hold {
  readonly lease: Lease;
  readonly #parts: AgentParts;
  readonly #outbox: Outbox;
  readonly #lost = new AbortController();
  #standing: Standing | null = null;
  /** Where the agent stood after the last commit that was answered. */
  #committed: Standing | null = null;
  #isUncertain = false;
  /** The agent's rows as they stand; null where they must be read. */
  #look: Look | null = null;
  #forgotten = 0;
  /** What goes with the next commit. */
  readonly #kept: Entry[] = [];
  /** The commits that carry what was kept, with what is stored instead where one is refused: whether all was stored as it was. */
  readonly #carrying = new Set<Promise<boolean>>();
  #startUntil: Deadline;
  #extended: PromiseWithResolvers<void> = Promise.withResolvers();

  /** Until `startUntil` the lease allows new work to start. */
  constructor(parts: AgentParts, lease: Lease, startUntil: Deadline) {
    this.#parts = parts;
    this.lease = lease;
    this.#startUntil = startUntil;
    this.#outbox = new Outbox(lease, parts.log, parts.appender, (reason) => {
      if (reason !== "FENCED")
        parts.logger.error(
          `the events of agent ${lease.agentId} could not be appended; it goes on when its lease has run out`,
          reason,
        );
      this.lose();
    });
  }

  /** Aborts when the hold is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Waits until enough of the lease is left to start a tool or a model call. False where the rows must be looked at first. */
  async mayStart(): Promise<boolean> {
    while (!this.lost.aborted && this.#startUntil.isOver) {
      if (!(await this.storeKept())) return false;
      await this.#extended.promise;
    }
    return !this.lost.aborted;
  }

  /** The lease was renewed: new work may start until then. */
  extend(startUntil: Deadline): void {
    this.#startUntil = startUntil;
    this.#extended.resolve();
    this.#extended = Promise.withResolvers();
  }

  /** Does something between two writes of the agent, when none of them holds its row. */
  betweenWrites<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#outbox.read(work);
  }

  /** What waits for the database. */
  get waiting(): WaitingOfAgent {
    return this.#outbox.waiting;
  }

  /** Resolves when everything that was written so far is committed or lost, with how many events were lost. */
  async settled(): Promise<number> {
    await this.#outbox.settled();
    return this.#outbox.lostEvents;
  }

  /** Gives up: another owner goes on. */
  lose(): void {
    this.#lost.abort();
    this.#extended.resolve();
  }

  /** The agent's rows as they stand, with what is kept. Read only where this hold does not know what they say. */
  async look(): Promise<Look> {
    for (;;) {
      // What is carried is in the rows or in memory when it has ended, and not before.
      await Promise.all(this.#carrying);
      // A database that is away keeps the reader waiting: what was kept waits as an event does, and is counted.
      if (this.#look === null && this.#parts.sql.outages.current !== null) await this.storeKept();
      const now = this.#look ?? (await this.#read());
      if (this.#carrying.size === 0) return afterEntries(this.#kept)(now);
    }
  }

  /** Whether the rows are remembered: where not, something was signalled or changed since they were read. */
  get isKnown(): boolean {
    return this.#look !== null;
  }

  async #read(): Promise<Look> {
    const { agentId } = this.lease;
    let forgotten = this.#forgotten;
    const now = await this.#outbox.read(() => {
      forgotten = this.#forgotten;
      return look(this.#parts.sql, agentId);
    });
    if (forgotten === this.#forgotten) this.#look = now;
    if (this.#standing === null || this.#isUncertain)
      this.#standing = this.#committed = { state: now.state, breakpoint: now.breakpoint };
    this.#isUncertain = false;
    return now;
  }

  /** Something was signalled to the agent: its rows are read again. */
  forget(): void {
    this.#look = null;
    this.#forgotten += 1;
  }

  /** Where the agent stands now. */
  get breakpoint(): Breakpoint | null {
    return this.#standing?.breakpoint ?? null;
  }

  /** The columns and events of a change of state and breakpoint, for the next commit. Only this hold writes them. */
  move(to: Partial<Standing>): { patch: AgentPatch; events: EventBody[] } {
    const from = this.#standing;
    if (from === null) throw new Error("an agent is looked at before it moves");
    const next = { ...from, ...to };
    this.#standing = next;
    return {
      patch: next,
      events: [
        ...(next.state === from.state ? [] : [{ kind: "STATE_CHANGED", previousState: from.state, state: next.state } as const]),
        ...(next.breakpoint === from.breakpoint
          ? []
          : [{ kind: "BREAKPOINT_CHANGED", previousBreakpoint: from.breakpoint, breakpoint: next.breakpoint } as const]),
      ],
    };
  }

  /** Sends an event that changes no row, behind what is kept. */
  send(body: EventBody): void {
    if (this.lost.aborted) return;
    if (this.#kept.length === 0) this.#outbox.send({ at: this.#parts.clock.now(), body });
    else this.keep({ change: {}, events: [body], after: unchanged, stored: () => {}, orElse: async () => {} });
  }

  /** True if the agent has used up its share of the room for what is not committed yet. */
  get isFull(): boolean {
    return this.#outbox.isFull;
  }

  /** Resolves as soon as the agent has room for more, when `signal` aborts, or when the hold is lost. */
  async room(signal: AbortSignal): Promise<void> {
    if (this.isFull) await this.#outbox.room(AbortSignal.any([signal, this.lost]));
  }

  /** Moves to a breakpoint with what is written next, at the latest when the loop of events turns. */
  sendMove(breakpoint: Breakpoint): void {
    const { patch, events } = this.move({ breakpoint });
    if (this.lost.aborted) return;
    for (const body of events) this.#outbox.send({ at: this.#parts.clock.now(), body }, patch);
  }

  /** Commits a change with its events. False where nothing was changed: look at the rows again. */
  async commit(change: Change, events: readonly EventBody[], after?: After): Promise<boolean> {
    return (await this.tryCommit(change, events, after)) === "COMMITTED";
  }

  /** Commits a change with its events and what was kept, and says what became of it. Without `after` the rows are read again. */
  async tryCommit(change: Change, events: readonly EventBody[], after?: After): Promise<CommitOutcome["outcome"]> {
    const kept = this.#kept.splice(0);
    if (kept.length === 0) return this.#commit(change, events, after);
    const outcome = this.#carry(kept, change, events, after);
    const carrying = outcome.then(
      (became) => became === "COMMITTED",
      () => false,
    );
    this.#carrying.add(carrying);
    void carrying.finally(() => this.#carrying.delete(carrying));
    return outcome;
  }

  /** Commits all together; where one of them is refused, the kept ones one by one, which do not depend on the rest. */
  async #carry(
    kept: readonly Entry[],
    change: Change,
    events: readonly EventBody[],
    after: After | undefined,
  ): Promise<CommitOutcome["outcome"]> {
    const { agentId } = this.lease;
    const outcome = await this.#commit(
      joinChanges([...kept.map((entry) => entry.change), change]),
      [...kept.flatMap((entry) => entry.events), ...events],
      after === undefined ? undefined : inOrder(afterEntries(kept), after),
    ).catch((error: unknown) => {
      if (error instanceof StorageUnavailable) throw error;
      this.#parts.logger.warn(`a commit of agent ${agentId} is made in parts, since it was refused (${withCause(error)})`);
      return "REFUSED" as const;
    });
    if (outcome === "COMMITTED") kept.forEach(({ stored }) => stored());
    if (outcome === "COMMITTED" || outcome === "FENCED") return outcome;
    let isWhole = true;
    const problems: unknown[] = [];
    for (const entry of kept) {
      const isStored = await this.#storeAlone(entry).catch((error: unknown) => void problems.push(error));
      isWhole = isStored === true && isWhole;
    }
    if (problems.length > 0) throw problems[0];
    return isWhole ? this.#commit(change, events, after) : "CONFLICT";
  }

  /** Keeps what is to be stored for the next commit. Whoever makes that must do so soon. */
  keep(entry: Entry): void {
    this.#kept.push(entry);
  }

  /** Commits what was kept, and waits for what is on its way. False where something else was stored in its place: look again. */
  async storeKept(): Promise<boolean> {
    if (this.#kept.length > 0) return (await this.tryCommit({}, [], unchanged)) === "COMMITTED";
    return (await Promise.all(this.#carrying)).every(Boolean);
  }

  /** Commits an entry by itself, behind what was kept. */
  async store(entry: Entry): Promise<void> {
    await this.storeKept();
    await this.#storeAlone(entry);
  }

  /** False where something else was stored in its place, or nothing. */
  async #storeAlone({ change, events, after, stored, orElse }: Entry): Promise<boolean> {
    try {
      if ((await this.#commit(change, events, after)) !== "COMMITTED") return false;
      stored();
      return true;
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      this.#parts.logger.error(`something of agent ${this.lease.agentId} could not be stored`, error);
      await orElse(shownProblem(error));
      return false;
    }
  }

  async #commit(change: Change, events: readonly EventBody[], after?: After): Promise<CommitOutcome["outcome"]> {
    if (this.lost.aborted) return "FENCED";
    const at = this.#parts.clock.now();
    const drafts = events.map((body): EventDraft => ({ at, body }));
    const { outcome } = await this.#outbox.commit(change, drafts, (settled) => this.#settle(change, after, settled));
    if (outcome === "FENCED") this.lose();
    return outcome;
  }

  /** What the rows say now, after a write of this hold; `outcome` is null where it is not known. */
  #settle({ agent: { state, breakpoint } = {} }: Change, after: After | undefined, outcome: CommitOutcome | null): void {
    if (outcome?.outcome !== "COMMITTED") {
      this.#takeBack();
      this.forget();
      return;
    }
    if (this.#committed !== null)
      this.#committed = { state: state ?? this.#committed.state, breakpoint: breakpoint ?? this.#committed.breakpoint };
    if (this.#look === null || after === undefined || outcome.signal !== this.#look.signal) this.forget();
    else this.#look = { ...after(this.#look), ...this.#committed };
  }

  /** A move whose commit changed nothing did not happen. The next look says where the agent stands. */
  #takeBack(): void {
    this.#standing = this.#committed;
    this.#isUncertain = true;
  }

  /** Runs what goes on beside the loop. What fails there gives the agent up: it goes on when the lease has run out. */
  async guard(activity: Promise<void>): Promise<void> {
    try {
      await activity;
    } catch (error) {
      this.#parts.logger.error(`agent ${this.lease.agentId} could not be advanced; it goes on when its lease has run out`, error);
      this.lose();
    }
  }
}

function afterEntries(entries: readonly Entry[]): After {
  return inOrder(...entries.map(({ after }) => after));
}
