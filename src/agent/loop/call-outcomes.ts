import type { WakeUp } from "../../lib/signals.ts";
import { type CallView, isFinal } from "../calls/call.ts";
import { NO_HOSTS } from "../calls/hosts/call-hosts.ts";
import { imagesIn } from "../calls/events.ts";
import type { AskingOutcome, EndedOutcome, KeptOutcome, LaterOutcome } from "../calls/outcome.ts";
import type { ResultCache } from "../calls/results/result-cache.ts";
import { answerKept } from "./commits/answer-kept.ts";
import { callAsks } from "./commits/input-asked.ts";
import { callDeferred, callEnded } from "./commits/calls-run.ts";
import type { DeferredCommit, Owner } from "./owner.ts";
import type { AgentServices, Template } from "./scope.ts";
import type { AgentView } from "./view.ts";

/** A call that has run, with the agent's rows from before its start. */
export type RanCall = {
  readonly call: CallView;
  readonly view: AgentView;
  readonly template: Template;
  /** True while no other call runs. */
  readonly isLast: () => boolean;
};

type Scope = { readonly owner: Owner; readonly wakeUp: WakeUp; readonly results: ResultCache };

/** After this many conflicts with other questions of its agent, the end of a call is an internal error. */
const ENDING_TRIES = 20;

/** Stores the outcomes of an agent's calls. */
export class CallOutcomes {
  readonly #clock: AgentServices["clock"];
  readonly #scope: Scope;

  constructor({ clock }: Pick<AgentServices, "clock">, scope: Scope) {
    this.#clock = clock;
    this.#scope = scope;
  }

  /** Stores the end of a call. A waiting loop commits it with its next action. */
  async store({ call, view, template, isLast }: RanCall, outcome: EndedOutcome): Promise<void> {
    const { owner, wakeUp, results } = this.#scope;
    const end = (ended: EndedOutcome, now = view): DeferredCommit => {
      const facts = { call, outcome: ended, isLast: isLast(), template };
      return { ...callEnded(owner.rebase(now), facts, this.#clock.now()), onRefused };
    };
    const onRefused = async (problem: string): Promise<void> => {
      const refusal = {
        type: "execution_failed",
        stage: "execution",
        message: `the result could not be stored: ${problem}`,
        cause: {},
      } as const;
      const { stages, durationMs, warnings, keptOutputBytes, hosts } = outcome;
      const nothing = { said: null, soFar: null, files: [], refusedHosts: NO_HOSTS, child: null } as const;
      await owner.commit(end({ ...nothing, kind: "refused", refusal, stages, durationMs, warnings, keptOutputBytes, hosts }));
      results.clear();
    };
    if (outcome.refusedHosts.asked.length > 0) await this.#endAsking(call.id, (now) => end(outcome, now));
    // The next step reads images from their rows while its own commit is on the way.
    else if (wakeUp.isAwaited && imagesIn(outcome).length === 0) owner.defer(end(outcome));
    else await owner.store(() => end(outcome));
    if (outcome.kind === "completed" && outcome.fresh !== null) results.keep(outcome.fresh);
  }

  /** Stores that the result of a call comes later. */
  async defer({ call, view, template }: RanCall, outcome: LaterOutcome): Promise<void> {
    const { owner, results } = this.#scope;
    // Until then its work may change what earlier results say.
    results.clear();
    const defer = (now: AgentView): DeferredCommit => ({
      ...callDeferred(owner.rebase(now), { call, outcome, template }, this.#clock.now()),
      onRefused: (problem) => Promise.reject(new Error(`a call that waits could not be stored: ${problem}`)),
    });
    if (outcome.refusedHosts.asked.length > 0) await this.#endAsking(call.id, defer);
    else await owner.store(() => defer(view));
  }

  /** Stores that a call waits for the answer to a question of its tool. */
  async ask({ call, view, template }: RanCall, outcome: AskingOutcome): Promise<void> {
    const { owner } = this.#scope;
    const ask = (now: AgentView): DeferredCommit => ({
      ...callAsks(owner.rebase(now), { call, outcome, template }, this.#clock.now()),
      onRefused: (problem) => Promise.reject(new Error(`a question of a call could not be stored: ${problem}`)),
    });
    if (outcome.refusedHosts.asked.length > 0) await this.#endAsking(call.id, ask);
    else await owner.store(() => ask(view));
  }

  /** Stores that a call waits for its server, with the answer of a person. */
  async keep({ call, view, template }: RanCall, outcome: KeptOutcome): Promise<void> {
    const { owner } = this.#scope;
    await owner.store(() => ({
      ...answerKept(owner.rebase(view), { call, outcome, template }, this.#clock.now()),
      onRefused: (problem) => Promise.reject(new Error(`a call that waits for its server could not be stored: ${problem}`)),
    }));
  }

  /**
   * Stores the end of a call that asks for hosts, based on the present rows. If a background program has asked for the
   * same host meanwhile, the end is made again, to join that question.
   */
  async #endAsking(callId: string, end: (view: AgentView) => DeferredCommit): Promise<void> {
    const { owner } = this.#scope;
    for (let attempt = 0; attempt < ENDING_TRIES; attempt += 1) {
      await owner.flush();
      if (owner.lost.aborted) return;
      const view = await owner.view();
      const hasEnded = view.calls.some(
        ({ id, state }) => id === callId && (isFinal(state) || state === "WAITING" || state === "APPROVAL_REQUIRED"),
      );
      if (owner.lost.aborted || hasEnded) return;
      await owner.store(() => end(view));
    }
    throw new Error(`the end of call ${callId} could not be stored in ${ENDING_TRIES} tries`);
  }
}
