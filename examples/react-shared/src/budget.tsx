import { useId, useState, type ReactNode } from "react";
import type { Decision } from "./actions.ts";
import type { Asked } from "./asked.ts";

/** The question whether a budget may be raised. */
export type BudgetAsked = Extract<NonNullable<Asked["subject"]>, { readonly averageStep: unknown }>;

export function budgetIn({ subject }: Asked): BudgetAsked | null {
  return subject !== null && isBudget(subject) ? subject : null;
}

function isBudget(subject: NonNullable<Asked["subject"]>): subject is BudgetAsked {
  return "raiseTo" in subject;
}

function usd(amount: number | null): string {
  return amount === null ? "no price" : `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}

function amounts({ usd: money, tokens }: { readonly usd: number | null; readonly tokens: number }): string {
  return `${usd(money)}, ${tokens.toLocaleString("en")} tokens`;
}

/** The spending on a budget, and the cost of the next step. */
export function BudgetFacts({ asked }: { readonly asked: BudgetAsked }): ReactNode {
  const { spentUsd, limitUsd, spentTokens, limitTokens, averageStep, nextStep, windowEndsAt } = asked;
  return (
    <dl className="budget" aria-label="Budget">
      {limitUsd === null ? null : (
        <>
          <dt>Spent</dt>
          <dd>
            {usd(spentUsd)} of {usd(limitUsd)}
          </dd>
        </>
      )}
      {limitTokens === null ? null : (
        <>
          <dt>Tokens</dt>
          <dd>
            {spentTokens.toLocaleString("en")} of {limitTokens.toLocaleString("en")}
          </dd>
        </>
      )}
      {averageStep === null ? null : (
        <>
          <dt>A step so far</dt>
          <dd>{amounts(averageStep)}</dd>
        </>
      )}
      <dt>Next step</dt>
      <dd>about {amounts(nextStep)}</dd>
      {windowEndsAt === null ? null : (
        <>
          <dt>Counted until</dt>
          <dd>{windowEndsAt}</dd>
        </>
      )}
    </dl>
  );
}

/** The new limits, and the two answers. */
export function RaiseBudget({
  asked: { raiseTo },
  decide,
}: {
  readonly asked: BudgetAsked;
  readonly decide: (decision: Decision) => void;
}): ReactNode {
  const [money, setMoney] = useState(String(raiseTo.usd ?? ""));
  const [tokens, setTokens] = useState(String(raiseTo.tokens ?? ""));
  const id = useId();
  const given = {
    usd: raiseTo.usd === null ? null : Number(money),
    tokens: raiseTo.tokens === null ? null : Number(tokens),
  };
  return (
    <form
      className="input"
      aria-label="Raise the budget"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        decide({ decision: "ALLOW", raiseTo: given });
      }}
    >
      {raiseTo.usd === null ? null : (
        <div>
          <label htmlFor={`${id}-usd`}>Raise to (US dollars)</label>
          <input id={`${id}-usd`} inputMode="decimal" value={money} onChange={({ target }) => setMoney(target.value)} />
        </div>
      )}
      {raiseTo.tokens === null ? null : (
        <div>
          <label htmlFor={`${id}-tokens`}>Raise to (tokens)</label>
          <input id={`${id}-tokens`} inputMode="numeric" value={tokens} onChange={({ target }) => setTokens(target.value)} />
        </div>
      )}
      <button type="submit">Raise</button>
      <button type="button" onClick={() => decide({ decision: "DENY" })}>
        End the turn
      </button>
    </form>
  );
}
