import type { OwnerChange } from "../../../db/commit/change.ts";
import { retrying, retryWhileUnavailable } from "../../../db/sql.ts";
import { askBudget } from "../../approvals/budgets/ask-budget.ts";
import { admit, type Expected, type Standing } from "../../budgets/admission.ts";
import { millionthsOf, type Budget } from "../../budgets/budget.ts";
import { chainOf, type Link, type Spender } from "../../budgets/chain.ts";
import { expectedCost } from "../../budgets/expected.ts";
import { readStandings } from "../../budgets/periods.ts";
import { budgetSnapshot } from "../../budgets/snapshot.ts";
import { readSpender } from "../../budgets/spender.ts";
import type { OpenCompaction } from "../../conversation/compaction.ts";
import { tokensPerByte } from "../../conversation/context-size.ts";
import type { ModelOutcome } from "../../conversation/model-call.ts";
import {
  costOf,
  NO_TOKENS,
  totalTokens,
  type Model,
  type ModelError,
  type ModelErrorKind,
  type Spending,
  type TokenPrice,
} from "../../models/model.ts";
import { budgetAsked, budgetStopped } from "../commits/budget-refused.ts";
import type { StepHolds } from "../commits/budgets.ts";
import { eventsOnly, identity, type Commit } from "../commits/commit.ts";
import type { PresentTools } from "../commits/manual.ts";
import { outputsOf } from "../compaction/context-fill.ts";
import type { Owner } from "../owner.ts";
import type { AgentServices, Template } from "../scope.ts";
import type { AgentView } from "../view.ts";
import { readStepFacts, type StepFacts } from "./step-facts.ts";

type Services = Pick<AgentServices, "sql" | "budgets" | "recentOutputs" | "clock" | "models">;

/** An agent whose next step starts. `compacted` is the change that leaves out messages with it. */
export type NextStep = {
  readonly view: AgentView;
  readonly template: Template;
  readonly model: Model;
  readonly present: PresentTools;
  readonly compacted: OwnerChange;
};

/** Admits the steps of one agent to its budgets. An agent without budgets costs no statement. */
export class StepBudgets {
  readonly #services: Services;
  readonly #owner: Pick<Owner, "flush" | "rebase" | "commit">;
  #spender: Spender | null = null;

  constructor(services: Services, owner: Pick<Owner, "flush" | "rebase" | "commit">) {
    this.#services = services;
    this.#owner = owner;
  }

  /** The output of a step is expected of later ones. */
  answered({ tenant, templateId }: AgentView, { usage }: Spending): void {
    this.#services.recentOutputs.record(tenant, templateId, usage.outputTokens);
  }

  /** The charge of a model call without a step. */
  async charged(
    view: AgentView,
    { spent, price }: { readonly spent: Spending; readonly price: TokenPrice | null },
  ): Promise<Commit> {
    const tokens = totalTokens(spent.usage);
    const all = tokens === 0 ? [] : await this.#services.budgets.of(view.tenant);
    const chain = all.length === 0 ? [] : await this.#chain(all, view);
    if (chain === null || chain.length === 0) return eventsOnly();
    const standings = await readStandings(this.#services.sql, view.tenant, chain);
    const periods = standings.map(({ period: { budgetId, ref, startsAt, endsAt } }) => ({ budgetId, ref, startsAt, endsAt }));
    const costUsd = costOf(spent.usage, price);
    const millionths = costUsd === null ? null : millionthsOf(costUsd);
    const charge = { periods, millionths, tokens, isEstimated: spent.isEstimated };
    return { change: { budgets: { charges: [charge] } }, events: [], after: identity };
  }

  /** The charge of a summary whose server was lost: its input is estimated. */
  async chargedLost(
    view: AgentView,
    { model: name, tokensBefore }: Pick<OpenCompaction, "model" | "tokensBefore">,
  ): Promise<Commit> {
    const model = [...this.#services.models.values()].find((each) => each.name === name);
    const usage = { ...NO_TOKENS, inputTokens: tokensBefore ?? 0 };
    return this.charged(view, { spent: { usage, isEstimated: true }, price: model?.price ?? null });
  }

  /**
   * The holds of a step that starts; null if it has no budget.
   * The answer is "not now" if it does not fit: people are asked, or the turn ends.
   * Also if the rows have changed, and must be read again.
   */
  async admit({ view, template, model, ...request }: NextStep): Promise<StepHolds | null | "not now"> {
    const { clock, budgets } = this.#services;
    // An outage delays the step, as it delays its commit.
    const sql = retrying(this.#services.sql);
    const all = await retryWhileUnavailable(sql, () => budgets.of(view.tenant));
    if (all.length === 0) return null;
    const chain = await this.#chain(all, view);
    if (chain === null) return "not now";
    if (chain.length === 0) return null;
    // The cost of the last step is in a deferred commit.
    if (!(await this.#owner.flush())) return "not now";
    const facts = await readStepFacts(sql, view);
    const expected = this.#expected({ view, template, model, ...request }, facts);
    const standings = await readStandings(sql, view.tenant, chain);
    const priced = expected.millionths !== null;
    const admission = admit(standings, expected);
    const at = clock.now();
    const { question } = facts;
    const refused = (by: Standing, approvalId: string | null): Promise<"not now"> =>
      this.#refuse(budgetStopped(this.#owner.rebase(view), budgetSnapshot(by, priced), approvalId, at));
    if (question?.state === "DENIED" || question?.state === "EXPIRED") {
      const asked = standings.find(({ budget }) => budget.id === question.budgetId);
      if (asked !== undefined) return refused(asked, question.id);
    }
    switch (admission.kind) {
      case "ADMITTED":
        return {
          holds: admission.holds,
          events: admission.warned.map((each) => ({ kind: "BUDGET_WARNED", ...budgetSnapshot(each, priced) })),
        };
      case "STOPPED":
        return refused(admission.by, null);
      case "ASKED": {
        const step = { turn: view.turn, step: view.stepCount + 1, expected, average: facts.average };
        return this.#refuse(budgetAsked(askBudget(view, admission.by, step, template, at), at));
      }
    }
  }

  async #refuse(commit: Commit): Promise<"not now"> {
    await this.#owner.commit(commit);
    return "not now";
  }

  /** Null if the rows must be looked at again. */
  async #chain(all: readonly Budget[], view: AgentView): Promise<readonly Link[] | null> {
    if (this.#spender?.turn !== view.turn || all.some(({ per }) => per === "REQUESTER" || per === "TREE")) {
      // The messages of a turn that begins join with a deferred commit.
      if (all.some(({ per }) => per === "REQUESTER") && !(await this.#owner.flush())) return null;
      this.#spender = await readSpender(this.#services.sql, view, all);
    }
    return chainOf(all, this.#spender);
  }

  #expected({ view, template, model, present, compacted }: NextStep, { last, newBytes, compactedTokens }: StepFacts): Expected {
    const { tenant, templateId, measured } = view;
    const perByte = tokensPerByte(measured);
    const fixed = (): number => Buffer.byteLength(template.systemPrompt) + JSON.stringify(present.tools).length;
    const known = tokensAfter(compacted) ?? compactedTokens ?? (last === null ? fixed() * perByte : totalTokens(last));
    const inputTokens = Math.ceil(known + (newBytes + outputsOf(view)) * perByte);
    const outputTokens = this.#services.recentOutputs.expected(tenant, templateId);
    return expectedCost({ inputTokens, outputTokens, last }, model.price);
  }
}

function tokensAfter({ compactions = [], compactionMoved }: OwnerChange): number | null {
  return compactionMoved?.set.tokensAfter ?? compactions.at(-1)?.tokensAfter ?? null;
}

/** The end of a model call, with its failure if it failed. */
export type Outcome = Pick<ModelOutcome, "kind" | "spent"> & { readonly error?: ModelError };

/** Failures of calls that a provider charges, although it reports no usage. */
const CHARGED: ReadonlySet<ModelErrorKind> = new Set(["silent", "broken", "empty"]);

/** True if the input of a call is uncounted, although the provider may have read it: its cost is estimated. */
export function isUncounted({ kind, spent, error }: Outcome): boolean {
  if (totalTokens({ ...spent.usage, outputTokens: 0 }) > 0) return false;
  return kind === "interrupted" || (error !== undefined && CHARGED.has(error.kind));
}
