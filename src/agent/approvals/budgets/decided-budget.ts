import type { Sql, Statement } from "../../../db/sql.ts";
import type { BudgetQuestion } from "../../../events/budgets/budget-question.ts";
import { actorRef } from "../../actors/actor.ts";
import { usdOf } from "../../budgets/budget.ts";
import type { FoundBudget } from "../approval.ts";
import { decisionPart, stateAfter, type DecisionCommit, type DecisionMade } from "../decided.ts";
import { raisedTo } from "./ask-budget.ts";

export type BudgetDecided = DecisionMade & { readonly approval: FoundBudget };

type Present = {
  readonly spentMillionths: number;
  readonly spentTokens: number;
  readonly raisedMillionths: number | null;
  readonly raisedTokens: number | null;
};

const READ: Statement<{ present: Present }, [tenant: string, budgetId: string, ref: string, startsAt: string]> = {
  name: "read_raised_period",
  text: `SELECT json_build_object('spentMillionths', p.spent_millionths, 'spentTokens', p.spent_tokens, 'raisedMillionths', p.raised_millionths, 'raisedTokens', p.raised_tokens) AS present
    FROM budget_period p WHERE p.tenant = $1 AND p.budget_id = $2 AND p.ref = $3 AND p.starts_at = $4::timestamptz`,
};

const UNUSED: Present = { spentMillionths: 0, spentTokens: 0, raisedMillionths: null, raisedTokens: null };

/** The commit of a decision on a budget. The last required ALLOW raises the limits of the period, and never lowers them. */
export async function decidedBudget(sql: Sql, made: BudgetDecided): Promise<DecisionCommit> {
  const { approval, actor, request } = made;
  const { state } = stateAfter(made);
  const part = decisionPart(made, request.raiseTo === null ? null : { input: { ...request.raiseTo }, inputHash: null });
  if (state !== "ALLOWED") return part;
  const { budget: question } = approval;
  const { budgetId, ref, startsAt, windowEndsAt: endsAt } = question;
  const [row] = await sql.query(READ, [approval.tenant, budgetId, ref, startsAt]);
  const present = row?.present ?? UNUSED;
  const wanted = raisedTo(question, request.raiseTo);
  const toMillionths = higher(present.raisedMillionths, wanted.millionths);
  const toTokens = higher(present.raisedTokens, wanted.tokens);
  return {
    change: {
      ...part.change,
      budgetRaise: {
        budgetId,
        ref,
        startsAt,
        endsAt,
        fromMillionths: present.raisedMillionths,
        fromTokens: present.raisedTokens,
        toMillionths,
        toTokens,
        raisedBy: actor.id,
      },
    },
    events: [
      ...part.events,
      {
        kind: "BUDGET_RAISED",
        budgetId,
        per: question.per,
        spentUsd: usdOf(present.spentMillionths),
        limitUsd: limit(question.limitUsd, toMillionths === null ? null : usdOf(toMillionths)),
        spentTokens: present.spentTokens,
        limitTokens: limit(question.limitTokens, toTokens),
        windowEndsAt: endsAt,
        priced: question.priced,
        approvalId: approval.id,
        changedBy: actorRef(actor),
      },
    ],
  };
}

function higher(present: number | null, wanted: number | null): number | null {
  return present === null || wanted === null ? (wanted ?? present) : Math.max(present, wanted);
}

function limit(asked: BudgetQuestion["limitUsd"], raised: number | null): number | null {
  return asked === null ? null : Math.max(asked, raised ?? asked);
}
