import { Trans, useLingui } from "@lingui/react/macro";
import { useId, useState, type ReactNode } from "react";
import { dollars, percent } from "../design/amounts.ts";
import { Until } from "../design/clock.tsx";
import type { BudgetAsked } from "./asked.ts";

/** The spending on a budget, and the cost of the next step. */
export function BudgetFacts({ asked }: { readonly asked: BudgetAsked }): ReactNode {
  const { t, i18n } = useLingui();
  const { spentUsd, limitUsd, spentTokens, limitTokens, averageStep, nextStep, windowEndsAt } = asked;
  const usd = (amount: number | null): string => (amount === null ? t`no price` : dollars(amount, i18n.locale));
  const count = (tokens: number): string => tokens.toLocaleString(i18n.locale);
  return (
    <dl className="facts">
      {limitUsd === null ? null : (
        <>
          <dt>
            <Trans>Spent</Trans>
          </dt>
          <dd>
            <Trans>
              {usd(spentUsd)} of {usd(limitUsd)}
            </Trans>{" "}
            <meter aria-label={t`Spent`} min={0} max={100} value={percent(spentUsd, limitUsd)} />
          </dd>
        </>
      )}
      {limitTokens === null ? null : (
        <>
          <dt>
            <Trans>Tokens</Trans>
          </dt>
          <dd>
            <Trans>
              {count(spentTokens)} of {count(limitTokens)}
            </Trans>{" "}
            <meter aria-label={t`Tokens`} min={0} max={100} value={percent(spentTokens, limitTokens)} />
          </dd>
        </>
      )}
      {averageStep === null ? null : (
        <>
          <dt>
            <Trans>A step so far</Trans>
          </dt>
          <dd>
            <Trans>
              {usd(averageStep.usd)}, {count(averageStep.tokens)} tokens
            </Trans>
          </dd>
        </>
      )}
      <dt>
        <Trans>The next step</Trans>
      </dt>
      <dd>
        <Trans>
          about {usd(nextStep.usd)}, {count(nextStep.tokens)} tokens
        </Trans>
      </dd>
      {windowEndsAt === null ? null : (
        <>
          <dt>
            <Trans>The period ends</Trans>
          </dt>
          <dd>
            <Until time={windowEndsAt} />
          </dd>
        </>
      )}
    </dl>
  );
}

/** The new limits of the present period, and the two answers. */
export function RaiseBudget({
  asked: { raiseTo },
  isBusy,
  raise,
  deny,
}: {
  readonly asked: BudgetAsked;
  readonly isBusy: boolean;
  readonly raise: (to: { readonly usd: number | null; readonly tokens: number | null }) => void;
  readonly deny: () => void;
}): ReactNode {
  const [money, setMoney] = useState(String(raiseTo.usd ?? ""));
  const [tokens, setTokens] = useState(String(raiseTo.tokens ?? ""));
  const id = useId();
  return (
    <form
      className="answer"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        raise({ usd: raiseTo.usd === null ? null : Number(money), tokens: raiseTo.tokens === null ? null : Number(tokens) });
      }}
    >
      {raiseTo.usd === null ? null : (
        <div className="field">
          <label htmlFor={`${id}-usd`}>
            <Trans>Raise to (US dollars)</Trans>
          </label>
          <input id={`${id}-usd`} inputMode="decimal" value={money} onChange={({ target }) => setMoney(target.value)} />
        </div>
      )}
      {raiseTo.tokens === null ? null : (
        <div className="field">
          <label htmlFor={`${id}-tokens`}>
            <Trans>Raise to (tokens)</Trans>
          </label>
          <input id={`${id}-tokens`} inputMode="numeric" value={tokens} onChange={({ target }) => setTokens(target.value)} />
        </div>
      )}
      <div className="row">
        <button type="submit" className="primary" disabled={isBusy}>
          <Trans>Raise</Trans> <kbd>Ctrl ⏎</kbd>
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={deny}>
          <Trans>End the turn</Trans>
        </button>
      </div>
    </form>
  );
}
