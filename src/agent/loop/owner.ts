import { shownProblem, StorageUnavailable } from "../../db/storage-error.ts";
import type { KnownFileRow, OwnerChange } from "../../db/commit/change.ts";
import type { Breakpoint } from "../../db/generated/enums.ts";
import type { AgentEventBody, EventDraft } from "../../events/event.ts";
import type { OwnerOutcome } from "../../events/write.ts";
import { Outbox, type WaitingOfAgent } from "../../events/outbox.ts";
import { withCause } from "../../lib/text.ts";
import type { CallOwner } from "../calls/scope.ts";
import type { MemoryWrite } from "../calls/memory/agent-memory.ts";
import type { TodoWrite } from "../calls/todos.ts";
import type { ConversationOwner } from "../conversation/scope.ts";
import type { AddedMessages } from "../conversation/transcript.ts";
import { compose, joinCommits, eventsOnly, type Commit, move } from "./commits/commit.ts";
import { memoryChanged } from "./commits/memory.ts";
import { shellStarted } from "./commits/shell-started.ts";
import { todosWritten } from "./commits/todos.ts";
import { HeldLease } from "./held-lease.ts";
import type { Lease, Term } from "./lease.ts";
import { OwnerView } from "./owner-view.ts";
import type { AgentServices } from "./scope.ts";
import { readView, type AgentView } from "./view.ts";

export type DeferredCommit = Commit & {
  /** Stores a replacement if the database refuses the commit, which would fail again at every retry. */
  readonly onRefused: (problem: string) => Promise<void>;
};

/**
 * Called before the agent is read or written again: after commits that lengthened the transcript, and after those that
 * concern files.
 */
export type CommitListeners = {
  readonly messages: (change: OwnerChange) => void;
  readonly files: (change: OwnerChange) => void;
};

type Outcome = OwnerOutcome["outcome"];

/**
 * The owner of one agent, under one lease: the only way by which the agent is written (invariants 3 and 4). Every event
 * and every commit goes through one outbox, in the order in which it was handed over, fenced by the lease's epoch.
 *
 * **Why commits are deferred.** A call that ends, an answer that comes and a turn that begins are each followed at once by
 * the owner's next commit: the next step starts, the next calls start. Two commits are two transactions, each with a wait
 * for the disk. A deferred commit goes with the next one, in one transaction, and costs nothing.
 *
 *     defer ───▶ deferred ──┐            commit, flush, awaitStartWindow
 *                           ├──▶ carried ──▶ COMMITTED ──▶ settled: the view is after(view)
 *     commit ───────────────┘        │
 *                                    ├──▶ refused by the rows ──▶ each alone, in its order, and then the commit
 *                                    │                             that carried them; a deferred commit that the
 *                                    │                             database refuses stores what onRefused says
 *                                    └──▶ FENCED, or unknown ───▶ the lease is lost, the view forgotten
 *
 * **What holds.** A deferred commit is in `view()` and in no row: whoever reads rows (a person's command, another owner)
 * does not see it. So nothing that has an effect outside starts before it is stored: `awaitStartWindow` and every commit carry it.
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
  /** The number of deferred commits that were not stored unchanged. */
  #unstored = 0;
  readonly #views = new WeakMap<AgentView, number>();
  /** The commits under way that carry deferred ones: true if all were stored unchanged. */
  readonly #carrying = new Set<Promise<boolean>>();

  constructor(services: AgentServices, lease: Lease, term: Term, onCommitted: CommitListeners) {
    this.#services = services;
    this.#onCommitted = onCommitted;
    this.lease = new HeldLease(lease, term);
    this.#outbox = new Outbox(lease, services.log, services.appender, (reason) => {
      if (reason !== "FENCED")
        services.logger.error(
          `the events of agent ${lease.agentId} could not be appended; it continues when its lease has run out`,
          reason,
        );
      this.lease.lose();
    });
  }

  get lost(): AbortSignal {
    return this.lease.lost;
  }

  // --- reading ---

  /** The agent's rows with deferred commits applied. Reads them only if this owner does not know them. */
  async view(): Promise<AgentView> {
    for (;;) {
      await Promise.all(this.#carrying);
      // During an outage the reader waits, and deferred commits wait and count as events do.
      if (!this.isKnown && this.#services.sql.outages.current !== null) await this.flush();
      const rows = this.#view.rows ?? (await this.#read());
      if (this.#carrying.size > 0) continue;
      const view = compose(...this.#deferred.map(({ after }) => after))(rows);
      this.#views.set(view, this.#unstored);
      return view;
    }
  }

  /** False if a deferred commit in the view was not stored unchanged: the rows will never match the view. */
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

  get isKnown(): boolean {
    return this.#view.rows !== null;
  }

  invalidate(): void {
    this.#view.invalidate();
  }

  rebase(view: AgentView): AgentView {
    return this.#view.rebase(view);
  }

  get breakpoint(): Breakpoint | null {
    return this.#view.stateAndBreakpoint?.breakpoint ?? null;
  }

  /**
   * The messages that a commit would add, including deferred ones; null if people's messages join, which only their
   * rows contain.
   */
  messagesWith(commit: Commit): AddedMessages | null {
    const changes = [...this.#deferred, commit].map(({ change }) => change);
    if (changes.some(({ joins = [] }) => joins.length > 0) || this.#carrying.size > 0) return null;
    return changes.flatMap(({ messages = [] }) => messages);
  }

  get deferredFiles(): readonly KnownFileRow[] {
    return this.#deferred.flatMap(({ change }) => change.knownFiles ?? []);
  }

  // --- committing ---

  /** Commits, together with deferred commits. False if nothing was changed: read the rows again. */
  async commit(commit: Commit): Promise<boolean> {
    return (await this.#commit(commit)) === "COMMITTED";
  }

  /** Leaves a commit to the next one, or to `flush`. The caller ensures that one of them follows immediately. */
  defer(commit: DeferredCommit): void {
    this.#view.moved(commit.change.agent);
    this.#deferred.push(commit);
  }

  /** Stores deferred commits, and waits for those under way. False if a replacement was stored. */
  async flush(): Promise<boolean> {
    if (this.#deferred.length > 0) return this.commit(eventsOnly());
    return (await Promise.all(this.#carrying)).every(Boolean);
  }

  /**
   * Commits after the deferred commits; if the database refuses it, stores its replacement. False then, or if nothing
   * was changed.
   */
  async store(makeCommit: () => DeferredCommit): Promise<boolean> {
    await this.flush();
    return this.#storeAlone(makeCommit());
  }

  /** Replaces the agent's todo list. False if the lease is lost. */
  commitTodos(write: TodoWrite): Promise<boolean> {
    const { agentId: id, tenant } = this.lease;
    return this.commit(todosWritten({ id, tenant }, write, this.#services.clock.now()));
  }

  /** Changes memory. False if others were faster, if the call has ended, or if the lease is lost. */
  commitMemory(write: MemoryWrite): Promise<boolean> {
    return this.commit(memoryChanged(write, this.#services.clock.now()));
  }

  /** Stores the start of a background shell. False if it is refused, or if the lease is lost. */
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

  /** Commits all together. If that is refused, commits the deferred ones one by one, then the rest. */
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

  /** False if a replacement was stored, or nothing. */
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

  send(body: AgentEventBody): void {
    if (this.lost.aborted) return;
    if (this.#deferred.length > 0) this.defer({ ...eventsOnly(body), onRefused: async () => {} });
    else this.#outbox.send({ at: this.#services.clock.now(), body });
  }

  /** Moves to a breakpoint with the next write, at the latest at the next tick. */
  sendMove(breakpoint: Breakpoint): void {
    const { stateAndBreakpoint } = this.#view;
    if (stateAndBreakpoint === null || this.lost.aborted) return;
    const { patch, events } = move(stateAndBreakpoint, { breakpoint });
    this.#view.moved(patch);
    for (const body of events) this.#outbox.send({ at: this.#services.clock.now(), body }, patch);
  }

  get isFull(): boolean {
    return this.#outbox.isFull;
  }

  /** Resolves when the agent's buffer has room, when `signal` aborts, or when the lease is lost. */
  async room(signal: AbortSignal): Promise<void> {
    if (this.isFull) await this.#outbox.room(AbortSignal.any([signal, this.lost]));
  }

  // --- the lease ---

  /** Waits until enough of the lease is left to start a tool or a model call. False if the rows must be read first. */
  async awaitStartWindow(): Promise<boolean> {
    while (!this.lost.aborted && !this.lease.allowsStart) {
      if (!(await this.flush())) return false;
      // A renewal may have come meanwhile.
      if (!this.lease.allowsStart) await this.lease.extended;
    }
    return !this.lost.aborted;
  }

  betweenWrites<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#outbox.read(work);
  }

  get waiting(): WaitingOfAgent {
    return this.#outbox.waiting;
  }

  /** Resolves with the number of lost events when everything written so far is committed or lost. */
  async settled(): Promise<number> {
    await this.#outbox.settled();
    return this.#outbox.lostEvents;
  }

  /** Runs a background activity. If it fails, the lease is lost, and another owner takes over when it expires. */
  async guard(activity: Promise<void>): Promise<void> {
    try {
      await activity;
    } catch (error) {
      this.#services.logger.error(
        `agent ${this.lease.agentId} could not be advanced; it continues when its lease has run out`,
        error,
      );
      this.lease.lose();
    }
  }
}
