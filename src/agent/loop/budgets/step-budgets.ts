import { askBudget } from "../../approvals/budgets/ask-budget.ts";
import { admit, type Expected } from "../../budgets/admission.ts";
import type { Budget } from "../../budgets/budget.ts";
import { chainOf, type Link, type Spender } from "../../budgets/chain.ts";
import { expectedCost } from "../../budgets/expected.ts";
import { readStandings } from "../../budgets/periods.ts";
import { budgetSnapshot } from "../../budgets/snapshot.ts";
import { readSpender } from "../../budgets/spender.ts";
import type { Model } from "../../models/model.ts";
import { budgetAsked, budgetStopped } from "../commits/budget-refused.ts";
import type { StepHolds } from "../commits/budgets.ts";
import type { Commit } from "../commits/commit.ts";
import type { Owner } from "../owner.ts";
import type { AgentServices, Template } from "../scope.ts";
import type { AgentView } from "../view.ts";
import { readStepFacts, type StepFacts } from "./step-facts.ts";

/**
 * What becomes of a step: no budget is asked, it holds its expected cost, it is refused, or the rows have changed meanwhile, and
 * are looked at again.
 */
export type StepAdmission =
  | { readonly kind: "free" }
  | ({ readonly kind: "held" } & StepHolds)
  | { readonly kind: "refused"; readonly commit: Commit }
  | { readonly kind: "again" };

type Services = Pick<AgentServices, "sql" | "budgets" | "recentOutputs" | "clock">;

/** Characters of a request are about as many tokens as four of them are one. */
const TOKEN_BYTES = 4;

/** Admits the steps of one agent to its budgets. An agent without budgets costs no statement. */
export class StepBudgets {
  readonly #services: Services;
  readonly #owner: Pick<Owner, "flush" | "rebase">;
  #spender: Spender | null = null;

  constructor(services: Services, owner: Pick<Owner, "flush" | "rebase">) {
    this.#services = services;
    this.#owner = owner;
  }

  async admit(view: AgentView, template: Template, model: Model, toolBytes: () => number): Promise<StepAdmission> {
    const { sql, clock } = this.#services;
    const all = await this.#services.budgets.of(view.tenant);
    if (all.length === 0) return { kind: "free" };
    const chain = await this.#chain(all, view);
    if (chain === null) return { kind: "again" };
    if (chain.length === 0) return { kind: "free" };
    // The cost of the last step is in a deferred commit.
    if (!(await this.#owner.flush())) return { kind: "again" };
    const facts = await readStepFacts(sql, view);
    const expected = this.#expected(view, template, model, facts, toolBytes);
    const standings = await readStandings(sql, view.tenant, chain);
    const priced = expected.millionths !== null;
    const admission = admit(standings, expected);
    const at = clock.now();
    const { question } = facts;
    if (question?.state === "DENIED" || question?.state === "EXPIRED") {
      const by = admission.kind === "ADMITTED" ? standings.find(({ budget }) => budget.id === question.budgetId) : admission.by;
      if (by !== undefined)
        return { kind: "refused", commit: budgetStopped(this.#owner.rebase(view), budgetSnapshot(by, priced), question.id, at) };
    }
    switch (admission.kind) {
      case "ADMITTED":
        return {
          kind: "held",
          holds: admission.holds,
          events: admission.warned.map((each) => ({ kind: "BUDGET_WARNED", ...budgetSnapshot(each, priced) })),
        };
      case "STOPPED":
        return {
          kind: "refused",
          commit: budgetStopped(this.#owner.rebase(view), budgetSnapshot(admission.by, priced), null, at),
        };
      case "ASKED": {
        const step = { turn: view.turn, step: view.stepCount + 1, expected, average: facts.average };
        return { kind: "refused", commit: budgetAsked(askBudget(view, admission.by, step, template, at), at) };
      }
    }
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

  #expected(
    { tenant, templateId, calls, stepCount }: AgentView,
    { systemPrompt }: Template,
    { price }: Model,
    { last, newBytes }: StepFacts,
    toolBytes: () => number,
  ): Expected {
    const results = calls.reduce((sum, { output }) => sum + (output?.length ?? 0), 0);
    const before =
      last === null
        ? (systemPrompt.length + toolBytes()) / TOKEN_BYTES
        : last.inputTokens + last.cacheReadTokens + last.cacheWriteTokens + last.outputTokens;
    const inputTokens = Math.ceil(before + (newBytes + (stepCount === 0 ? 0 : results)) / TOKEN_BYTES);
    const outputTokens = this.#services.recentOutputs.expected(tenant, templateId);
    return expectedCost({ inputTokens, outputTokens, last }, price);
  }
}
