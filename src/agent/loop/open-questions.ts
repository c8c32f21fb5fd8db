import { setTimeout as delay } from "node:timers/promises";
import { aborted } from "../../lib/aborted.ts";
import { growingWait } from "../../lib/time.ts";
import type { ToolQuestion } from "../../events/tool-question.ts";
import { readAnswer } from "../calls/asked-input.ts";
import type { InputAnswer } from "../tools/question.ts";
import { inputAsked } from "./commits/input-asked.ts";
import { joinCommits } from "./commits/commit.ts";
import { openQuestions, questionsSealed, withQuestionSealed } from "./commits/turns.ts";
import { callsChanged } from "./commits/commit.ts";
import type { Owner } from "./owner.ts";
import type { AgentServices, Template } from "./scope.ts";
import type { AgentView } from "./view.ts";

type Open = { approvalId: string | null; readonly answered: PromiseWithResolvers<InputAnswer>; isRead: boolean };

/** After this many conflicts with other commits of its agent, or failed readings, a question is an internal error. */
const TRIES = 20;

/** The longest time for which a running call is asked about, in ms: it holds a process, or a connection. */
const LONGEST_MS = 60 * 60_000;

/** The first and the longest wait before an answer is read again, in ms. */
const FIRST_READ_MS = 100;
const LAST_READ_MS = 5_000;

const WITHDRAWN = "the call did not wait for the answer any longer";

/** The open questions of an agent's running calls, one a call. Their approvals end with their calls. */
export class OpenQuestions {
  readonly #services: Pick<AgentServices, "sql" | "clock">;
  readonly #owner: Owner;
  readonly #open = new Map<string, Open>();
  readonly #ended = new Map<string, Promise<void>>();

  constructor(services: Pick<AgentServices, "sql" | "clock">, owner: Owner) {
    this.#services = services;
    this.#owner = owner;
  }

  async ask(
    { callId, question, template }: { readonly callId: string; readonly question: ToolQuestion; readonly template: Template },
    withdrawn: AbortSignal,
  ): Promise<InputAnswer> {
    if (this.#open.has(callId)) throw new Error("the call has an open question already");
    const open: Open = { approvalId: null, answered: Promise.withResolvers(), isRead: false };
    this.#open.set(callId, open);
    const asking = this.#ask(callId, open, { question, template }, withdrawn);
    const ended = asking.then(
      () => {},
      () => {},
    );
    this.#ended.set(callId, ended);
    try {
      return await asking;
    } finally {
      this.#open.delete(callId);
      this.#ended.delete(callId);
    }
  }

  /** Resolves when no question of the call is open. */
  async settled(callId: string): Promise<void> {
    await this.#ended.get(callId);
  }

  /** Gives answers that others have committed to the calls that wait for them. */
  notice({ calls }: Pick<AgentView, "calls">): void {
    for (const [callId, open] of this.#open) {
      const approval = calls.find(({ id }) => id === callId)?.approval;
      if (open.isRead || approval?.id !== open.approvalId || approval?.state === "PENDING") continue;
      open.isRead = true;
      this.#read(approval.id).then(open.answered.resolve, open.answered.reject);
    }
  }

  /** Tries again after a failure: a person has answered, and is not asked twice. */
  async #read(approvalId: string): Promise<InputAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await readAnswer(this.#services.sql, approvalId)).answer;
      } catch (error) {
        if (attempt === TRIES || this.#owner.lost.aborted) throw error;
        await delay(growingWait(attempt, FIRST_READ_MS, LAST_READ_MS), undefined, { ref: false });
      }
    }
  }

  async #ask(
    callId: string,
    open: Open,
    { question, template }: { readonly question: ToolQuestion; readonly template: Template },
    withdrawn: AbortSignal,
  ): Promise<InputAnswer> {
    const expiresMs = Math.min(template.approvalExpiresMs ?? LONGEST_MS, LONGEST_MS);
    await this.#commit(async (view) => {
      withdrawn.throwIfAborted();
      const call = view.calls.find(({ id }) => id === callId);
      if (call?.state !== "EXECUTING") throw new Error("the call has ended");
      const { approvalId, commit } = inputAsked(view, { call, question, expiresMs }, this.#services.clock.now());
      open.approvalId = approvalId;
      return commit;
    });
    using stopped = aborted(AbortSignal.any([withdrawn, this.#owner.lost]));
    open.answered.promise.catch(() => {});
    try {
      return await Promise.race([open.answered.promise, stopped.promise]);
    } catch (error) {
      // If it cannot be closed, the lease is lost: the next owner closes it.
      await this.#owner.guard(this.#close(callId));
      if (!withdrawn.aborted && !this.#owner.lost.aborted) throw error;
      return { action: "cancel" };
    }
  }

  async #close(callId: string): Promise<void> {
    await this.#commit(async (view) => {
      const asked = view.calls.filter(({ id }) => id === callId);
      const questions = openQuestions(asked);
      if (questions.length === 0) return null;
      const sealed = questionsSealed(questions, WITHDRAWN, this.#services.clock.now());
      return joinCommits(sealed, { change: {}, events: [], after: callsChanged(asked.map(withQuestionSealed)) });
    });
  }

  /** Commits on the present rows, again after each conflict. `make` returns null if no commit is needed. */
  async #commit(make: (view: AgentView) => Promise<Parameters<Owner["commit"]>[0] | null>): Promise<void> {
    const owner = this.#owner;
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      if (owner.lost.aborted) return;
      const view = await owner.view();
      const commit = await make(owner.rebase(view));
      if (commit === null || (await owner.commit(commit))) return;
    }
    if (!owner.lost.aborted)
      throw new Error(`a question of the agent ${owner.lease.agentId} could not be stored in ${TRIES} tries`);
  }
}
