import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { dollars } from "../design/amounts.ts";
import { durationText, zonedText } from "../design/time.ts";
import type { AuditStepsQuery } from "../generated/documents.ts";
import { nameOf } from "../session/viewer.tsx";
import { StepBadge } from "./words.tsx";

export type StepRow = AuditStepsQuery["steps"]["nodes"][number] & { readonly id: string };

/** The cost of a step. A step without a price, or without counts, is no step that costs nothing. */
export function Cost({ step }: { readonly step: Pick<StepRow, "costUsd" | "isUnpriced"> }): ReactNode {
  const { t, i18n } = useLingui();
  if (step.costUsd !== null) return dollars(step.costUsd, i18n.locale);
  return step.isUnpriced ? <span className="quiet">{t`no price`}</span> : "–";
}

/** The facts of a step of the list. */
export function StepDetail({ step, isReading }: { readonly step: StepRow | null; readonly isReading: boolean }): ReactNode {
  const { t, i18n } = useLingui();
  if (step === null)
    return isReading ? (
      <div className="skeleton" aria-hidden="true" />
    ) : (
      <p className="quiet">
        <Trans>This step is not among the shown rows.</Trans>
      </p>
    );
  const { agentId, rootAgentId, templateId, state, model, stopReason, cachedShare, completedAt } = step;
  const count = (tokens: number | null): string => (tokens === null ? "–" : new Intl.NumberFormat(i18n.locale).format(tokens));
  const time = (ms: number | null): string => (ms === null ? "–" : durationText(ms));
  return (
    <>
      <h2>
        <Trans>
          Turn {step.turn}, step {step.step}
        </Trans>{" "}
        <StepBadge state={state} />
      </h2>
      <p className="row">
        <Link to="/agents/$agentId" params={{ agentId }} search={{ step: step.step }}>
          <Trans>The model's request of this step</Trans>
        </Link>
      </p>
      <dl className="look-facts">
        <dt>{t`Agent`}</dt>
        <dd>
          <Link to="/agents/$agentId" params={{ agentId }} search={{}}>
            {templateId}
          </Link>
          {rootAgentId === agentId ? null : (
            <>
              {" "}
              ·{" "}
              <Link to="/agents/$agentId" params={{ agentId: rootAgentId }} search={{}}>
                <Trans>first agent of its tree</Trans>
              </Link>
            </>
          )}
        </dd>
        <dt>{t`For`}</dt>
        <dd>{nameOf(step.requestedBy)}</dd>
        <dt>{t`Model`}</dt>
        <dd>
          <code>{model}</code> {step.isFallback ? <span className="badge waits">{t`fallback`}</span> : null}
        </dd>
        <dt>{t`Stop`}</dt>
        <dd>{stopReason === null ? "–" : <code>{stopReason}</code>}</dd>
        <dt>{t`Started`}</dt>
        <dd>{zonedText(step.startedAt, i18n.locale)}</dd>
        <dt>{t`Ended`}</dt>
        <dd>{completedAt === null ? "–" : zonedText(completedAt, i18n.locale)}</dd>
        <dt>{t`Time`}</dt>
        <dd>{time(step.durationMs)}</dd>
        <dt>{t`To the first output`}</dt>
        <dd>{time(step.firstTokenMs)}</dd>
        <dt>{t`Input tokens`}</dt>
        <dd>{count(step.inputTokens)}</dd>
        <dt>{t`From the cache`}</dt>
        <dd>
          {count(step.cacheReadTokens)}
          {cachedShare === null ? "" : ` · ${Math.round(cachedShare * 100)} %`}
        </dd>
        <dt>{t`Into the cache`}</dt>
        <dd>{count(step.cacheWriteTokens)}</dd>
        <dt>{t`Output tokens`}</dt>
        <dd>
          {count(step.outputTokens)} {step.outputIsEstimated ? <span className="badge waits">{t`estimated`}</span> : null}
        </dd>
        <dt>{t`Cost`}</dt>
        <dd>
          <Cost step={step} />
        </dd>
      </dl>
    </>
  );
}
