import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import { useQuery } from "urql";
import { ServerWords } from "../design/server-words.tsx";
import { durationText, zonedText } from "../design/time.ts";
import { readableJson } from "../design/visible-lines.ts";
import { AuditCallDocument, type AuditCallQuery } from "../generated/documents.ts";
import { nameOf } from "../session/viewer.tsx";
import { LongText } from "../calls/long-text.tsx";
import { ResultImages } from "../calls/result-images.tsx";
import { CallState } from "../calls/call-state.tsx";
import { Considered, Verdict } from "../calls/verdict.tsx";
import { useDecisionWords } from "./words.tsx";

type Call = NonNullable<AuditCallQuery["toolCall"]>;

/** All that is known of one call. */
export function CallDetail({ callId }: { readonly callId: string }): ReactNode {
  const [{ data, error }] = useQuery({ query: AuditCallDocument, variables: { callId }, requestPolicy: "network-only" });
  if (error !== undefined)
    return (
      <p role="alert" className="alert">
        {error.message}
      </p>
    );
  if (data === undefined) return <div className="skeleton" aria-hidden="true" />;
  if (data.toolCall === null)
    return (
      <p className="quiet">
        <Trans>There is no such call, or you may not see it.</Trans>
      </p>
    );
  return <Known call={data.toolCall} />;
}

function Known({ call }: { readonly call: Call }): ReactNode {
  const { t, i18n } = useLingui();
  const { agent, error, explanation } = call;
  const words = useDecisionWords();
  return (
    <>
      <h2>
        <code>{visible(call.name)}</code> <CallState state={call.state} /> <Verdict verdict={call.verdict} />
      </h2>
      <dl className="look-facts">
        <dt>{t`Id`}</dt>
        <dd>
          <code>{call.callId}</code>
        </dd>
        <dt>{t`Agent`}</dt>
        <dd>
          <Link to="/agents/$agentId" params={{ agentId: agent.id }}>
            {agent.template.templateId}
            {agent.title === null ? "" : ` · ${visible(agent.title)}`}
          </Link>{" "}
          · {nameOf(agent.createdBy)}
        </dd>
        <dt>{t`Requested`}</dt>
        <dd>
          {zonedText(call.createdAt, i18n.locale)} ·{" "}
          <Trans>
            turn {call.turn}, step {call.step}, attempt {call.attempt}
          </Trans>
        </dd>
        <dt>{t`Time`}</dt>
        <dd>{call.durationMs === null ? "–" : durationText(call.durationMs)}</dd>
        {call.stages.length === 0 ? null : (
          <>
            <dt>{t`Stages`}</dt>
            <dd>
              {call.stages.map(({ stage, durationMs }) => `${stage.toLowerCase()} ${durationText(durationMs)}`).join(" → ")}
            </dd>
          </>
        )}
        {call.inputHash === null ? null : (
          <>
            <dt>{t`Input hash`}</dt>
            <dd>
              <code>{call.inputHash}</code>
            </dd>
          </>
        )}
      </dl>
      {error === null ? null : (
        <p className="alert">
          {error.type.toLowerCase().replaceAll("_", " ")}: <ServerWords text={error.message ?? ""} />
        </p>
      )}
      {explanation === null ? null : (
        <section>
          <h3>
            <Trans>Why this verdict</Trans>
          </h3>
          <p>
            <ServerWords text={explanation.reason} />
          </p>
          <p className="quiet">
            <code>{visible(explanation.rule)}</code> · <code>{explanation.place}</code>
          </p>
          <details>
            <summary>
              <Trans>All that was evaluated ({explanation.considered.length})</Trans>
            </summary>
            <Considered entries={explanation.considered} />
          </details>
          <Link to="/policy" search={{ view: "explain", call: call.callId }}>
            <Trans>The verdict of the present rules</Trans>
          </Link>
        </section>
      )}
      <section>
        <h3>
          <Trans>History of the call</Trans>
        </h3>
        <ol>
          {call.auditTrail.map(({ state, timestamp, note, by }) => (
            <li key={`${timestamp} ${state}`}>
              <CallState state={state} /> <span className="quiet">{zonedText(timestamp, i18n.locale)}</span>{" "}
              {by === null ? "" : nameOf(by)} {visible(note ?? "")}
            </li>
          ))}
        </ol>
      </section>
      {call.approvals.length === 0 ? null : (
        <section>
          <h3>
            <Trans>Decisions</Trans>
          </h3>
          <ul>
            {call.approvals.map(({ id, state, decisions }) => (
              <li key={id}>
                <Link to="/inbox/$approvalId" params={{ approvalId: id }} search={{}}>
                  {words[state]}
                </Link>{" "}
                {decisions.map(({ decidedBy, onBehalfOf, note }) => (
                  <span key={decidedBy.id}>
                    {nameOf(decidedBy)}
                    {onBehalfOf === null ? "" : ` (${t`for ${nameOf(onBehalfOf)}`})`} {visible(note ?? "")}{" "}
                  </span>
                ))}
              </li>
            ))}
          </ul>
        </section>
      )}
      {call.erasedAt === null ? (
        <>
          <Value title={call.startedAt === null ? t`Input` : t`Input that ran`} value={call.input} />
          {JSON.stringify(call.requestedInput) === JSON.stringify(call.input) ? null : (
            <Value title={t`Input of the model`} value={call.requestedInput} />
          )}
          {call.output === null ? null : <Value title={t`Output`} value={call.output} />}
          <ResultImages images={call.images} />
        </>
      ) : (
        <p className="note">
          <Trans>Input and output were erased at {zonedText(call.erasedAt, i18n.locale)}.</Trans>
        </p>
      )}
    </>
  );
}

function Value({ title, value }: { readonly title: string; readonly value: unknown }): ReactNode {
  const text = typeof value === "string" ? value : readableJson(value);
  return (
    <section>
      <h3>{title}</h3>
      <LongText text={text} label={title} />
    </section>
  );
}
