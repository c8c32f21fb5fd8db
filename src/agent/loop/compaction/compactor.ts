import type { CompactionMethod } from "../../../db/commit/compaction-rows.ts";
import type { WakeUp } from "../../../lib/signals.ts";
import type { OpenCompaction } from "../../conversation/compaction.ts";
import {
  clearing,
  isWorth,
  shortening,
  summarising,
  windowAfter,
  type Cleared,
  type Covered,
  type Fill,
} from "../../conversation/compaction-plan.ts";
import { COLD_MS, tokensPerByte } from "../../conversation/context-size.ts";
import { readCovered, type CoveredMessages } from "../../conversation/covered.ts";
import { restated } from "../../conversation/restated.ts";
import { askSummary, summaryRequest, type SummaryOutcome } from "../../conversation/summary.ts";
import type { Transcript } from "../../conversation/transcript.ts";
import { WINDOW_BYTES } from "../../conversation/window.ts";
import type { Model, ModelRequest } from "../../models/model.ts";
import type { StepBudgets } from "../budgets/step-budgets.ts";
import { warning } from "../commits/answered.ts";
import { eventsOnly, joinCommits, type Commit } from "../commits/commit.ts";
import { compactedAtOnce, compactionApplied, compactionBegun, compactionFailed, NO_COST } from "../commits/compactions.ts";
import { countedFill, fillOf, limitOf, outputsOf, tooLarge, type Subject } from "./context-fill.ts";
import type { Owner } from "../owner.ts";
import type { AgentServices, Template } from "../scope.ts";
import type { AgentView } from "../view.ts";

/** At most one compaction in so many steps, unless the window is full. */
const STEPS_BETWEEN = 5;
/** The share of the mark from which the window is looked at. */
const NEAR = 0.9;
/** The bytes from which a window is shortened, whatever its model reads: it is read with 8 MB at most. */
const MOST_BYTES = NEAR * WINDOW_BYTES;
/** The characters of a summariser's request for each token of its window: the rest is for the answer. */
const CHARACTERS_PER_TOKEN = 2.5;
const UNKNOWN_WINDOW = 100_000;

/** A commit that goes with the step that starts. `afterwards` follows it; with `isHeld` the step waits for a summary. */
export type Due = { readonly commit: Commit; readonly afterwards: () => void; readonly isHeld: boolean };

type Running = {
  readonly open: OpenCompaction;
  readonly covered: CoveredMessages;
  readonly model: Model;
  readonly ended: Promise<void>;
  outcome: SummaryOutcome | null;
};

/**
 * Makes room in the context window of one agent, under one lease. Outputs are cleared, or a summary is made, at the mark
 * of the template; a summary is made in the background, and replaces the covered messages with the next step that starts. If the model says that its window is full, each way is taken in turn, and the step waits for a summary.
 */
export class Compactor {
  readonly #services: AgentServices;
  readonly #owner: Owner;
  readonly #budgets: Pick<StepBudgets, "charged" | "chargedLost">;
  readonly #transcript: Transcript;
  readonly #wakeUp: WakeUp;
  readonly #stopping = new AbortController();
  #running: Running | null = null;
  /** The ways that were tried since the model said that its window is full; null if it did not. */
  #tried: Set<CompactionMethod> | null = null;
  #failedAtStep = -STEPS_BETWEEN;

  constructor(
    services: AgentServices,
    { owner, transcript, wakeUp }: { owner: Owner; transcript: Transcript; wakeUp: WakeUp },
    budgets: Pick<StepBudgets, "charged" | "chargedLost">,
  ) {
    this.#services = services;
    this.#budgets = budgets;
    this.#owner = owner;
    this.#transcript = transcript;
    this.#wakeUp = wakeUp;
  }

  /** True while a step waits for a summary, since the window is full. */
  get isHeld(): boolean {
    return this.#tried !== null && this.isRunning;
  }

  /** True while a model summarises. */
  get isRunning(): boolean {
    return this.#running !== null && this.#running.outcome === null;
  }

  /** The window was not full. */
  answered(): void {
    this.#tried = null;
  }

  /** The model says that its window is full. False if there is no way left to make room. */
  async full(subject: Subject): Promise<boolean> {
    this.#tried ??= new Set();
    if (this.#running !== null) return true;
    return this.#wayOut(await this.#fullFill(subject), subject) !== null;
  }

  /** The compaction that is due with the step that starts; null for none, mostly without a look at the conversation. */
  async atStep(subject: Subject): Promise<Due | null> {
    const settled = await this.#settled(subject);
    if (settled !== null) return settled;
    if (this.isRunning) return null;
    if (this.#tried !== null) return this.#makeRoom(subject);
    return this.#isNear(subject) ? this.#atMark(subject) : null;
  }

  /** The same where no step starts: a summary that has ended, or one that a person has asked for. */
  async atRest(subject: Subject): Promise<Due | null> {
    return this.#settled(subject);
  }

  /** The server closes: the summary that is under way has failed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const running = this.#running;
    await running?.ended;
    if (running?.outcome?.kind !== "failed") return;
    const view = await this.#owner.view();
    if (view.compaction?.open?.id !== running.open.id) return;
    const { spent } = running.outcome;
    const failed = { failure: "the server was closing", covered: running.covered };
    const cost = { spent, price: running.model.price };
    const charged = await this.#budgets.charged(view, cost);
    await this.#owner.commit(joinCommits(compactionFailed(view, running.open, failed, cost, this.#now()), charged));
  }

  /** Ends a summary that has ended, and begins one that a person has asked for. */
  async #settled(subject: Subject): Promise<Due | null> {
    const { view } = subject;
    const open = view.compaction?.open ?? null;
    if (open?.state === "STARTED" && this.#running?.open.id !== open.id) {
      const failed = { failure: "its server was lost", covered: null };
      return due(
        joinCommits(compactionFailed(view, open, failed, NO_COST, this.#now()), await this.#budgets.chargedLost(view, open)),
      );
    }
    if (this.#running !== null && this.#running.open.id !== open?.id) this.#running = null;
    if (this.#running !== null && this.#running.outcome !== null) return this.#end(subject, this.#running, this.#running.outcome);
    if (open?.state !== "ASKED") return null;
    const fill = await this.#fill(subject);
    const covered = view.isArchived ? null : summarising(fill, true);
    const begun = covered === null ? null : await this.#begin(subject, fill, covered, open);
    const missing = `the model ${subject.template.context.model ?? view.model}, which would summarise, is not configured`;
    const failed = { failure: covered === null ? "there is too little to summarise" : missing, covered: null };
    return begun ?? due(compactionFailed(view, open, failed, NO_COST, this.#now()));
  }

  /** By the counts of the last answer alone: most steps read no rows for it. */
  #isNear({ view, template, model }: Subject): boolean {
    const { measured } = view;
    if (measured === null) return false;
    const bytes = measured.bytes + outputsOf(view);
    if (bytes > MOST_BYTES) return true;
    const tokens = bytes * tokensPerByte(measured);
    const limit = limitOf(template, model, tokens);
    const last = view.compaction?.step ?? 0;
    if (limit === null || (last > 0 && view.stepCount + 1 - last < STEPS_BETWEEN)) return false;
    const { compressAt, target } = template.context;
    const isCold = this.#now().getTime() - measured.at > COLD_MS;
    return tokens >= NEAR * compressAt * limit || (isCold && tokens >= target * limit);
  }

  async #atMark(subject: Subject): Promise<Due | null> {
    const { view, template } = subject;
    const fill = await countedFill(await this.#fill(subject), this.#transcript, subject, this.#now());
    const { limit } = fill;
    if (fill.tokens > MOST_BYTES * fill.tokensPerByte) return this.#shorten(subject, fill);
    if (limit === null) return null;
    const { compressAt, target } = template.context;
    const cleared = clearing(fill);
    if (fill.tokens < compressAt * limit) {
      const isCold = this.#now().getTime() - (view.measured?.at ?? Infinity) > COLD_MS;
      return isCold && cleared !== null ? due(await this.#clear(view, fill, cleared)) : null;
    }
    if (cleared !== null && cleared.tokensAfter <= target * limit) return due(await this.#clear(view, fill, cleared));
    const covered = view.stepCount + 1 - this.#failedAtStep < STEPS_BETWEEN ? null : summarising(fill, false);
    const begun = covered === null ? null : await this.#begin(subject, fill, covered, null);
    if (begun !== null) return begun;
    return cleared === null
      ? null
      : due(joinCommits(await this.#clear(view, fill, cleared), tooLarge(cleared.tokensAfter, fill)));
  }

  /** The ways out of a full window, each once but the last. */
  #wayOut(fill: Fill, { template, view }: Subject): (Covered & { readonly method: CompactionMethod }) | null {
    const cleared = this.#tried?.has("CLEARED") === true ? null : clearing(fill);
    if (cleared !== null) return { ...cleared, method: "CLEARED" };
    const covered = this.#tried?.has("SUMMARY") === true ? null : summarising(fill, true);
    if (covered !== null && this.#summariser(template, view) !== null) return { ...covered, method: "SUMMARY" };
    const shorter = shortening(fill);
    return shorter === null ? null : { ...shorter, method: "SHORTENED" };
  }

  async #makeRoom(subject: Subject): Promise<Due | null> {
    const { view } = subject;
    const fill = await this.#fullFill(subject);
    const way = this.#wayOut(fill, subject);
    if (way === null) return null;
    this.#tried?.add(way.method);
    switch (way.method) {
      case "CLEARED": {
        const cleared = clearing(fill);
        return cleared === null ? null : due(await this.#clear(view, fill, cleared));
      }
      case "SUMMARY": {
        const begun = await this.#begin(subject, fill, way, null);
        return begun === null ? this.#makeRoom(subject) : { ...begun, isHeld: true };
      }
      case "SHORTENED":
        return this.#shorten(subject, fill);
    }
  }

  async #shorten({ view }: Subject, fill: Fill): Promise<Due | null> {
    const shorter = shortening(fill);
    if (shorter === null) return null;
    const covered = await readCovered(this.#services.sql, view.id, shorter.from, shorter.to);
    const again = await restated(this.#services.sql, view.id);
    const { summary } = fill.loaded.compacted;
    const after = windowAfter(fill, shorter, { summary, restated: again });
    const facts = { method: "SHORTENED", covered, tokensBefore: fill.tokens, restated: again, ...after } as const;
    return due(compactedAtOnce(view, facts, this.#now()));
  }

  async #clear(view: AgentView, fill: Fill, { from, to, tokensAfter }: Cleared): Promise<Commit> {
    const covered = await readCovered(this.#services.sql, view.id, from, to);
    const facts = {
      method: "CLEARED",
      covered,
      tokensBefore: fill.tokens,
      tokensAfter,
      wordsFrom: null,
      restated: null,
    } as const;
    return compactedAtOnce(view, facts, this.#now());
  }

  /** Begins a summary; null if its model is not there. */
  async #begin(subject: Subject, fill: Fill, { from, to }: Covered, asked: OpenCompaction | null): Promise<Due | null> {
    const { view, template } = subject;
    const model = this.#summariser(template, view);
    if (model === null) return null;
    const covered = await readCovered(this.#services.sql, view.id, from, to);
    const { epoch } = this.#owner.lease;
    const facts = { asked, covered, model: model.name, tokensBefore: fill.tokens, epoch };
    const commit = compactionBegun(view, facts, this.#now());
    const { messages, compacted } = fill.loaded;
    const request = summaryRequest({
      covered: messages.filter(({ ordinal }) => ordinal >= from && ordinal <= to),
      earlier: compacted.summary,
      instruction: asked?.instruction ?? null,
      prompt: template.context.prompt,
      most: CHARACTERS_PER_TOKEN * (model.window?.(fill.tokens) ?? UNKNOWN_WINDOW),
    });
    return { commit, afterwards: () => this.#run(commit.open, covered, model, request, template), isHeld: false };
  }

  #run(open: OpenCompaction, covered: CoveredMessages, model: Model, request: ModelRequest, template: Template): void {
    const signal = AbortSignal.any([this.#stopping.signal, this.#owner.lost]);
    const asked = this.#ask(model, request, template, signal);
    const ended = asked.then((outcome) => {
      running.outcome = outcome;
      this.#wakeUp.wake();
    });
    const running: Running = { open, covered, model, ended, outcome: null };
    this.#running = running;
  }

  async #ask(model: Model, request: ModelRequest, template: Template, signal: AbortSignal): Promise<SummaryOutcome> {
    const bytes = Buffer.byteLength(JSON.stringify(request.messages));
    const leave = await this.#services.requests.enter(this.#owner.lease.tenant, bytes, signal);
    if (leave === null) return { kind: "failed", failure: "the server was closing", spent: NO_COST.spent };
    try {
      return await askSummary(model, request, template, signal);
    } finally {
      leave();
    }
  }

  /** Applies a summary, or ends it as failed: then old outputs are cleared, if that wins enough. */
  async #end(subject: Subject, running: Running, outcome: SummaryOutcome): Promise<Due> {
    const { view } = subject;
    const { open, covered, model } = running;
    const cost = { spent: outcome.spent, price: model.price };
    const charged = await this.#budgets.charged(view, cost);
    const afterwards = (): void => {
      if (this.#running === running) this.#running = null;
    };
    const isAsked = open.askedBy !== null;
    const fill = await (isAsked || this.#tried !== null ? this.#fullFill(subject) : this.#fill(subject));
    let failure = outcome.kind === "failed" ? outcome.failure : "";
    if (outcome.kind === "summary") {
      const again = await restated(this.#services.sql, view.id);
      const after = windowAfter(fill, covered, { summary: outcome.text, restated: again });
      if (isAsked ? after.tokensAfter < fill.tokens : isWorth(fill, after.tokensAfter)) {
        const summarised = { ...after, covered, summary: outcome.text, restated: again };
        const applied = compactionApplied(view, open, summarised, cost, this.#now());
        // The conversation has grown while the model summarised.
        const grown = Math.max(0, fill.tokens - (open.tokensBefore ?? fill.tokens));
        const commit = isAsked
          ? joinCommits(applied, charged)
          : joinCommits(applied, charged, tooLarge(after.tokensAfter - grown, fill));
        return { commit, afterwards, isHeld: false };
      }
      failure = `the summary is not much smaller: ${after.tokensAfter} tokens in the place of ${fill.tokens}`;
    }
    this.#failedAtStep = view.stepCount + 1;
    const failed = compactionFailed(view, open, { failure, covered }, cost, this.#now());
    const said = eventsOnly(warning("compaction_failed", `the context could not be summarised: ${failure}`));
    const next = isAsked && this.#tried === null ? [] : await this.#afterFailure({ ...subject, view: failed.after(view) }, fill);
    return { commit: joinCommits(failed, charged, said, ...next), afterwards, isHeld: false };
  }

  async #afterFailure(subject: Subject, fill: Fill): Promise<readonly Commit[]> {
    if (this.#tried !== null) {
      const room = await this.#makeRoom(subject);
      return room === null ? [] : [room.commit];
    }
    const cleared = clearing(fill);
    const isWanted = fill.limit !== null && fill.tokens >= fill.settings.compressAt * fill.limit;
    if (cleared === null || !isWanted) return [];
    return [await this.#clear(subject.view, fill, cleared), tooLarge(cleared.tokensAfter, fill)];
  }

  /** A window as if it were full: of one that is, the model reads less than it says. */
  async #fullFill(subject: Subject): Promise<Fill> {
    const fill = await this.#fill(subject);
    return { ...fill, limit: Math.min(fill.limit ?? fill.tokens, fill.tokens) };
  }

  #fill(subject: Subject): Promise<Fill> {
    return fillOf(this.#owner, this.#transcript, subject);
  }

  #summariser({ context }: Template, view: AgentView): Model | null {
    return this.#services.models.get(context.model ?? view.model) ?? null;
  }

  #now(): Date {
    return this.#services.clock.now();
  }
}

function due(commit: Commit): Due {
  return { commit, afterwards: () => {}, isHeld: false };
}
