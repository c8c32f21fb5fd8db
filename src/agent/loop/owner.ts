import { shownProblem } from "../../db/error-class.ts";
import type { KnownFileRow, OwnerChange } from "../../db/commit/change.ts";
import type { Breakpoint } from "../../db/generated/enums.ts";
import { StorageUnavailable } from "../../db/storage-error.ts";
import type { AgentEventBody, EventDraft } from "../../events/event.ts";
import type { OwnerOutcome } from "../../events/outcome.ts";
import { Outbox, type WaitingOfAgent } from "../../events/outbox.ts";
import { withCause } from "../../lib/text.ts";
import type { CallOwner } from "../calls/owner.ts";
import type { ConversationOwner } from "../conversation/owner.ts";
import type { AddedMessages } from "../conversation/transcript.ts";
import { compose, identity, joinCommits, said, type Commit, move } from "./commits/commit.ts";
import { shellStarted } from "./commits/shells.ts";
import { HeldLease } from "./held-lease.ts";
import type { Lease, Term } from "./lease.ts";
import { OwnerView } from "./owner-view.ts";
import type { AgentServices } from "./services.ts";
import { readView, type AgentView } from "./view.ts";

/** A commit that may wait for the next one. */
export type DeferredCommit = Commit & {
  /** Stores something else if the database refuses the commit: it must not be tried for ever. */
  readonly onRefused: (problem: string) => Promise<void>;
};

/** Hear of commits before anything else of the agent is written or read: those that lengthened the transcript, and those that say something of files. */
export type CommitListeners = {
  readonly messages: (change: OwnerChange) => void;
  readonly files: (change: OwnerChange) => void;
};

/** The database's answer to a commit. */
type Outcome = OwnerOutcome["outcome"];

/**
 * The owner of one agent, under one lease: the only way by which the agent is written (invariants 3 and 4). Every event
 * and every commit goes through one outbox, in the order in which it was handed over, fenced by the lease's epoch.
 *
 * **Why commits are deferred.** A call that ends, an answer that comes and a turn that begins are each followed at once by
 * the owner's next commit: the next step starts, the next calls start. Two commits are two transactions, each with a wait
 * for the disk. A deferred commit goes with the next one, in one transaction, and costs nothing.
 *
 *     defer ───▶ deferred ──┐            commit, flush, mayStart
 *                           ├──▶ carried ──▶ COMMITTED ──▶ settled: the view is after(view)
 *     commit ───────────────┘        │
 *                                    ├──▶ refused by the rows ──▶ each alone, in its order, and then the commit
 *                                    │                             that carried them; a deferred commit that the
 *                                    │                             database refuses stores what onRefused says
 *                                    └──▶ FENCED, or unknown ───▶ the lease is lost, the view forgotten
 *
 * **What holds.** A deferred commit is in `view()` and in no row: whoever reads rows (a person's command, another owner)
 * does not see it. So nothing that has an effect outside starts before it is stored: `mayStart` and every commit carry it.
 * A crash loses it, and recovery finds what the rows say: a call whose end was deferred is EXECUTING, its outcome unknown.
 * The loop defers only if its next commit is a moment away (`WakeUp.isAwaited`), and flushes before it waits or parks.
 *
 * **What the rules are for.** While a commit is carried, the rows are neither those before it nor those after it: `view()`
 * waits for it. An ended call must not stay out of the rows for as long as an operator's hook runs: the loop flushes before
 * it lets anything of theirs take its time. One commit that the database refuses is no fault of those that went with it:
 * they are made again in parts, and only the one that is refused alone is replaced.
 */
export class Owner implements CallOwner, ConversationOwner {
  readonly lease: HeldLease;
  readonly #services: AgentServices;
  readonly #outbox: Outbox;
  readonly #view = new OwnerView();
  readonly #onCommitted: CommitListeners;
  readonly #deferred: DeferredCommit[] = [];
  /** The number of deferred commits that were not stored as they were. */
  #unstored = 0;
  /** That number when each view was made. */
  readonly #views = new WeakMap<AgentView, number>();
  /** The commits on their way that carry deferred ones: whether all were stored as they were. */
  readonly #carrying = new Set<Promise<boolean>>();

  /** `term` is that of the claim. */
  constructor(services: AgentServices, lease: Lease, term: Term, onCommitted: CommitListeners) {
    this.#services = services;
    this.#onCommitted = onCommitted;
    this.lease = new HeldLease(lease, term);
    this.#outbox = new Outbox(lease, services.log, services.appender, (reason) => {
      if (reason !== "FENCED")
        services.logger.error(
          `the events of agent ${lease.agentId} could not be appended; it goes on when its lease has run out`,
          reason,
        );
      this.lease.lose();
    });
  }

  /** Aborts when the lease is lost. */
  get lost(): AbortSignal {
    return this.lease.lost;
  }

  // --- reading ---

  /** The agent's rows as they stand, with what is deferred. Read only if this owner does not remember what they say. */
  async view(): Promise<AgentView> {
    for (;;) {
      await Promise.all(this.#carrying);
      // A database that is away keeps the reader waiting: what was deferred waits as an event does, and is counted.
      if (!this.isKnown && this.#services.sql.outages.current !== null) await this.flush();
      const rows = this.#view.rows ?? (await this.#read());
      if (this.#carrying.size > 0) continue;
      const view = compose(...this.#deferred.map(({ after }) => after))(rows);
      this.#views.set(view, this.#unstored);
      return view;
    }
  }

  /** False if something that was deferred when the view was made was not stored as it was: the rows will never say what the view does. */
  holds(view: AgentView): boolean {
    return this.#views.get(view) === this.#unstored;
  }

  #read(): Promise<AgentView> {
    const { sql } = this.#services;
    return this.#view.read((begin) =>
      this.#outbox.read(() => {
        begin();
        return readView(sql, this.lease.agentId);
      }),
    );
  }

  /** True if the rows are remembered: if not, somebody signalled, or a commit was refused, since they were read. */
  get isKnown(): boolean {
    return this.#view.rows !== null;
  }

  /** Somebody else committed something for the agent: its rows are read again. */
  forget(): void {
    this.#view.forget();
  }

  /** A view with the agent where it stands now: commits are made of it. */
  current(view: AgentView): AgentView {
    return this.#view.current(view);
  }

  /** The breakpoint of the agent now. */
  get breakpoint(): Breakpoint | null {
    return this.#view.stateAndBreakpoint?.breakpoint ?? null;
  }

  /** The messages that a commit would add, with what is deferred; null if people's join, which only their rows have. */
  messagesWith(commit: Commit): AddedMessages | null {
    const changes = [...this.#deferred, commit].map(({ change }) => change);
    if (changes.some(({ joins = [] }) => joins.length > 0) || this.#carrying.size > 0) return null;
    return changes.flatMap(({ messages = [] }) => messages);
  }

  /** The files that calls have noted whose ends are deferred. */
  get deferredFiles(): readonly KnownFileRow[] {
    return this.#deferred.flatMap(({ change }) => change.knownFiles ?? []);
  }

  // --- committing ---

  /** Commits, with what was deferred before. False if nothing was changed: look at the rows again. */
  async commit(commit: Commit): Promise<boolean> {
    return (await this.#commit(commit)) === "COMMITTED";
  }

  /** Leaves a commit to the next one, or to `flush`: the caller sees to it that one of them follows at once. */
  defer(commit: DeferredCommit): void {
    this.#view.moved(commit.change.agent);
    this.#deferred.push(commit);
  }

  /** Commits what was deferred, and waits for what is on its way. False if something else was stored in its place. */
  async flush(): Promise<boolean> {
    if (this.#deferred.length > 0) return this.commit(said());
    return (await Promise.all(this.#carrying)).every(Boolean);
  }

  /** Makes a commit by itself, behind what was deferred; if the database refuses it, something else in its place. False then, or if nothing was changed. */
  async store(makeCommit: () => DeferredCommit): Promise<boolean> {
    await this.flush();
    return this.#storeAlone(makeCommit());
  }

  /** Replaces the agent's todo list as a call wishes. False if the lease is lost. */
  commitTodos(callId: string, todos: NonNullable<OwnerChange["todos"]>, event: AgentEventBody): Promise<boolean> {
    return this.commit({ change: { todos, todosBy: callId }, events: [event], after: identity });
  }

  /** Commits that a background shell starts. False if it may not, or if the lease is lost. */
  commitShell(start: NonNullable<OwnerChange["shellStart"]>, event: AgentEventBody): Promise<boolean> {
    return this.commit(shellStarted(start, event));
  }

  async #commit(commit: Commit): Promise<Outcome> {
    const deferred = this.#deferred.splice(0);
    if (deferred.length === 0) return this.#write(commit);
    const outcome = this.#carry(deferred, commit);
    const carrying = outcome.then(
      (became) => became === "COMMITTED",
      () => false,
    );
    this.#carrying.add(carrying);
    void carrying.finally(() => this.#carrying.delete(carrying));
    return outcome;
  }

  /** Commits all together; if that is refused, the deferred ones one by one, which do not depend on the rest. */
  async #carry(deferred: readonly DeferredCommit[], commit: Commit): Promise<Outcome> {
    const outcome = await this.#write(joinCommits(...deferred, commit)).catch((error: unknown) => {
      if (error instanceof StorageUnavailable) throw error;
      this.#services.logger.warn(
        `a commit of agent ${this.lease.agentId} is made in parts, since it was refused (${withCause(error)})`,
      );
      return "REFUSED" as const;
    });
    if (outcome === "COMMITTED" || outcome === "FENCED") return outcome;
    let isWhole = true;
    const problems: unknown[] = [];
    for (const each of deferred) {
      const isStored = (await this.#storeAlone(each).catch((error: unknown) => void problems.push(error))) === true;
      if (!isStored) this.#unstored += 1;
      isWhole = isStored && isWhole;
    }
    if (problems.length > 0) throw problems[0];
    return isWhole ? this.#write(commit) : "CONFLICT";
  }

  /** False if something else was stored in its place, or nothing. */
  async #storeAlone(commit: DeferredCommit): Promise<boolean> {
    try {
      return (await this.#write(commit)) === "COMMITTED";
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      this.#services.logger.error(`something of agent ${this.lease.agentId} could not be stored`, error);
      await commit.onRefused(shownProblem(error));
      return false;
    }
  }

  async #write({ change, events, after }: Commit): Promise<Outcome> {
    if (this.lost.aborted) return "FENCED";
    this.#view.moved(change.agent);
    const at = this.#services.clock.now();
    const drafts = events.map((body): EventDraft => ({ at, body }));
    const { outcome } = await this.#outbox.commit(change, drafts, (answer) => {
      if (answer?.outcome !== "COMMITTED") return this.#view.refused();
      this.#view.settled(change.agent, after, answer.signal);
      if ((change.messages?.length ?? 0) + (change.joins?.length ?? 0) > 0) this.#onCommitted.messages(change);
      if ((change.knownFiles?.length ?? 0) + (change.fileChanges?.length ?? 0) > 0) this.#onCommitted.files(change);
    });
    if (outcome === "FENCED") this.lease.lose();
    return outcome;
  }

  // --- events that change no row ---

  /** Sends an event that changes no row, behind what is deferred. */
  send(body: AgentEventBody): void {
    if (this.lost.aborted) return;
    if (this.#deferred.length > 0) this.defer({ ...said(body), onRefused: async () => {} });
    else this.#outbox.send({ at: this.#services.clock.now(), body });
  }

  /** Moves to a breakpoint with what is written next, at the latest when the loop of events turns. */
  sendMove(breakpoint: Breakpoint): void {
    const { stateAndBreakpoint } = this.#view;
    if (stateAndBreakpoint === null || this.lost.aborted) return;
    const { patch, events } = move(stateAndBreakpoint, { breakpoint });
    this.#view.moved(patch);
    for (const body of events) this.#outbox.send({ at: this.#services.clock.now(), body }, patch);
  }

  /** True if the agent has used up its share of the room for what is not committed yet. */
  get isFull(): boolean {
    return this.#outbox.isFull;
  }

  /** Resolves as soon as the agent has room for more, when `signal` aborts, or when the lease is lost. */
  async room(signal: AbortSignal): Promise<void> {
    if (this.isFull) await this.#outbox.room(AbortSignal.any([signal, this.lost]));
  }

  // --- the lease ---

  /** Waits until enough of the lease is left to start a tool or a model call. False if the rows must be looked at first. */
  async mayStart(): Promise<boolean> {
    while (!this.lost.aborted && !this.lease.allowsStart) {
      if (!(await this.flush())) return false;
      // It may have been renewed meanwhile.
      if (!this.lease.allowsStart) await this.lease.extended;
    }
    return !this.lost.aborted;
  }

  /** Does something between two writes of the agent, when none of them holds its row. */
  betweenWrites<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#outbox.read(work);
  }

  /** The events that wait for the database. */
  get waiting(): WaitingOfAgent {
    return this.#outbox.waiting;
  }

  /** Resolves when everything that was written so far is committed or lost, with how many events were lost. */
  async settled(): Promise<number> {
    await this.#outbox.settled();
    return this.#outbox.lostEvents;
  }

  /** Runs what goes on in the background. What fails there gives the agent up: it goes on when the lease has run out. */
  async guard(activity: Promise<void>): Promise<void> {
    try {
      await activity;
    } catch (error) {
      this.#services.logger.error(
        `agent ${this.lease.agentId} could not be advanced; it goes on when its lease has run out`,
        error,
      );
      this.lease.lose();
    }
  }
}
