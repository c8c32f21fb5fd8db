import { createHash, randomUUIDv7 } from "node:crypto";
import canonicalize from "canonicalize";
import type { OwnerChange, WaitRow } from "../../../db/commit/change.ts";
import type { BudgetQuestion, BudgetSnapshot, StepCost } from "../../../events/budgets/budget-question.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { limitsOf, type Expected, type Standing } from "../../budgets/admission.ts";
import { millionthsOf, MOST_TOKENS, MOST_USD, usdOf } from "../../budgets/budget.ts";
import { budgetSnapshot, spentText, usdText } from "../../budgets/snapshot.ts";
import { FIRST_LOOK_MS } from "./open-question.ts";
import { questionRow, waitFor } from "../request.ts";
import type { ApprovalTemplate } from "../scope.ts";

export type AskingStep = {
  readonly turn: number;
  readonly step: number;
  readonly expected: Expected;
  /** The mean of the agent's steps so far; null before the first. */
  readonly average: StepCost | null;
};

export type BudgetRequest = {
  readonly row: NonNullable<OwnerChange["approvals"]>[number];
  readonly wait: WaitRow;
  readonly events: readonly AgentEventBody[];
};

/** Asks people whether the limit may be raised. The agent waits for that, or until its step fits. */
export function askBudget(
  agent: { readonly id: string; readonly tenant: string },
  standing: Standing,
  step: AskingStep,
  { approvalQuorum, approvalExpiresMs }: Pick<ApprovalTemplate, "approvalQuorum" | "approvalExpiresMs">,
  at: Date,
): BudgetRequest {
  const id = randomUUIDv7();
  const question = questionOf(standing, step);
  const expiresAt = approvalExpiresMs === null ? null : new Date(at.getTime() + approvalExpiresMs);
  const asked = {
    kind: "BUDGET",
    host: null,
    port: null,
    inputHash: questionHash(agent, question),
    reason: `${spentText(question)}, and the next step costs about ${costText(question.nextStep)}`,
    risk: "MEDIUM",
    meta: null,
    quorum: approvalQuorum,
  } as const;
  const snapshot = budgetSnapshot(standing, step.expected.millionths !== null);
  return {
    row: questionRow(agent, { ...asked, id, input: question, expiresAt }, at),
    wait: waitFor("BUDGET", agent, { callId: null, ref: id, due: firstLook(at, expiresAt, question.windowEndsAt) }),
    events: [
      { kind: "BUDGET_ASKED", ...snapshot, approvalId: id },
      {
        kind: "PERMISSION_REQUIRED",
        request: { ...asked, approvalId: id, call: null, expiresAt: expiresAt?.toISOString() ?? null, budget: question },
      },
    ],
  };
}

/** Servers look at the question soon: the limit may be raised at this moment. */
function firstLook(at: Date, expiresAt: Date | null, windowEndsAt: string | null): Date {
  const ends = [expiresAt, windowEndsAt === null ? null : new Date(windowEndsAt)].flatMap((time) => time?.getTime() ?? []);
  return new Date(Math.min(at.getTime() + FIRST_LOOK_MS, ...ends));
}

function questionOf(standing: Standing, { turn, step, expected, average }: AskingStep): BudgetQuestion {
  const { ref, startsAt } = standing.period;
  const snapshot = budgetSnapshot(standing, expected.millionths !== null);
  const nextStep = { usd: expected.millionths === null ? null : usdOf(expected.millionths), tokens: expected.tokens };
  return { ...snapshot, turn, step, ref, startsAt, averageStep: average, nextStep, raiseTo: raisedLimits(standing, expected) };
}

/** Half as much again, and room for ten such steps. */
function raisedLimits(standing: Standing, expected: Expected): BudgetQuestion["raiseTo"] {
  const { period } = standing;
  const limits = limitsOf(standing);
  const raise = (limit: number | null, used: number, next: number): number | null =>
    limit === null ? null : Math.ceil(Math.max(limit * 1.5, used + 10 * next));
  const millionths = raise(limits.millionths, period.spentMillionths + period.heldMillionths, expected.millionths ?? 0);
  const tokens = raise(limits.tokens, period.spentTokens + period.heldTokens, expected.tokens);
  // Whole cents read better.
  return { usd: millionths === null ? null : Math.ceil(millionths / 10_000) / 100, tokens };
}

/** SHA-256 over the RFC 8785 form of the question that an ALLOW is bound to: the budget and the spending. */
function questionHash({ id, tenant }: { readonly id: string; readonly tenant: string }, question: BudgetQuestion): string {
  const form = canonicalize({ agent: id, budget: question, tenant }) ?? "";
  return createHash("sha256").update(form).digest("hex");
}

function costText({ usd, tokens }: StepCost): string {
  const count = `${tokens.toLocaleString("en")} tokens`;
  return usd === null ? `${count}, whose model has no price` : `${usdText(usd)} (${count})`;
}

/** The limits that an ALLOW gives. `raiseTo` is null for those of the question. */
export function raisedTo(
  { raiseTo: suggested }: Pick<BudgetQuestion, "raiseTo">,
  raiseTo: BudgetQuestion["raiseTo"] | null,
): { readonly millionths: number | null; readonly tokens: number | null } {
  const { usd, tokens } = raiseTo ?? suggested;
  return { millionths: usd === null ? null : millionthsOf(usd), tokens };
}

/** The problem of limits to which somebody wants to raise a budget; null if there is none. */
export function raiseProblem(
  { limitUsd, limitTokens }: BudgetSnapshot,
  { usd, tokens }: BudgetQuestion["raiseTo"],
): { readonly field: "usd" | "tokens"; readonly message: string } | null {
  if (usd === null && tokens === null) return { field: "usd", message: "`raiseTo` needs `usd`, `tokens` or both" };
  if (usd !== null && limitUsd === null) return { field: "usd", message: "this budget has no limit in dollars: leave `usd` out" };
  if (tokens !== null && limitTokens === null)
    return { field: "tokens", message: "this budget has no limit in tokens: leave `tokens` out" };
  if (usd !== null && !(usd >= (limitUsd ?? 0) && usd <= MOST_USD))
    return { field: "usd", message: `must be at least the present limit of ${limitUsd} and at most ${MOST_USD}` };
  if (tokens !== null && !(Number.isInteger(tokens) && tokens >= (limitTokens ?? 0) && tokens <= MOST_TOKENS))
    return { field: "tokens", message: `must be a whole number from the present limit of ${limitTokens} to ${MOST_TOKENS}` };
  return null;
}
