import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import type { Conversation } from "@triplane/client/conversation";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { CallState, useCallWords } from "../../calls/call-state.tsx";
import { KeptOutput } from "../../calls/kept-output.tsx";
import { LongText } from "../../calls/long-text.tsx";
import { ResultImages } from "../../calls/result-images.tsx";
import { bytesText } from "../../design/amounts.ts";
import { Ago } from "../../design/clock.tsx";
import { ServerWords } from "../../design/server-words.tsx";
import { durationText } from "../../design/time.ts";
import { CallDetailsDocument, type CallDetailsQuery } from "../../generated/documents.ts";
import { ask } from "../../session/ask.ts";
import { AnswerCall } from "./answer-call.tsx";
import { ContextShown } from "../context-shown.tsx";
import { nameOf } from "../../session/viewer.tsx";

type ToolItem = Extract<Conversation["items"][number], { readonly kind: "tool" }>;
type Details = NonNullable<CallDetailsQuery["toolCall"]>;

/** One call. Opened, it shows its stages, payloads and output. */
export function CallItem({
  agentId,
  item: { call, progress, toAnswer, child },
}: {
  readonly agentId: string;
  readonly item: ToolItem;
}): ReactNode {
  const { t } = useLingui();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <details className="call" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <code className="name">{visible(call.name)}</code>
          <code className="preview">{visible(call.inputPreview ?? "")}</code>
          <CallState state={call.state} />
          <span className="quiet small">{call.durationMs === null ? "" : durationText(call.durationMs)}</span>
        </summary>
        {progress === null ? null : (
          <p className="small quiet">
            {progress.eventType} <code>{visible(JSON.stringify(progress.eventData))}</code>
          </p>
        )}
        {child === null ? null : (
          <p className="small">
            <Link to="/agents/$agentId" params={{ agentId: child.agentId }}>
              {child.templateId}: {visible(child.description)}
            </Link>{" "}
            {child.end === null ? (
              <span className="badge works">{t`working`}</span>
            ) : (
              <span className="badge">{child.end.outcome}</span>
            )}
          </p>
        )}
        {isOpen ? <Opened agentId={agentId} callId={call.callId} state={call.state} /> : null}
      </details>
      {toAnswer === null ? null : <AnswerCall callId={call.callId} name={call.name} {...toAnswer} />}
    </>
  );
}

function Opened({
  agentId,
  callId,
  state,
}: {
  readonly agentId: string;
  readonly callId: string;
  readonly state: string;
}): ReactNode {
  const { t } = useLingui();
  const words = useCallWords();
  const [opened, setOpened] = useState<{ readonly details: Details | null; readonly isEdited: boolean } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    ask(CallDetailsDocument, { callId }).then(
      ({ toolCall }) => (isCurrent ? setOpened({ details: toolCall, isEdited: isEdited(toolCall) }) : null),
      (failure: unknown) => (isCurrent ? setProblem(failure instanceof Error ? failure.message : String(failure)) : null),
    );
    return () => {
      isCurrent = false;
    };
  }, [callId, state]);
  if (problem !== null) return <p className="alert">{problem}</p>;
  if (opened === null || opened.details === null) return <div className="skeleton" role="status" aria-label={t`Loading`} />;
  const { stages, explanation, auditTrail, input, requestedInput, output, error, keptOutput, images } = opened.details;
  return (
    <div className="opened">
      <Stages stages={stages} />
      <p>
        <ContextShown agentId={agentId} step={opened.details.step} />
      </p>
      {explanation === null ? null : (
        <p className="small quiet">
          <span className="badge">{explanation.verdict}</span> <code>{visible(explanation.rule)}</code> ·{" "}
          <ServerWords text={explanation.reason} />
        </p>
      )}
      {opened.isEdited ? <Payload title={t`Requested input`} value={requestedInput} /> : null}
      <Payload title={opened.isEdited ? t`Input that ran` : t`Input`} value={input} />
      {error === null ? null : (
        <p className="alert">
          {error.type}: <ServerWords text={error.message ?? ""} />
        </p>
      )}
      {output === null || output === "" ? null : (
        <div>
          <h2>
            <Trans>Output</Trans> {keptOutput === null ? null : <span className="quiet">({bytesText(keptOutput.bytes)})</span>}
          </h2>
          <LongText text={output} label={t`Output`} />
          {keptOutput === null ? null : <KeptOutput callId={callId} kept={keptOutput} />}
        </div>
      )}
      <ResultImages images={images} />
      <ul className="lines small">
        {auditTrail.map(({ state: passed, timestamp, by, note }) => (
          <li key={passed + timestamp}>
            {words[passed]} · <Ago time={timestamp} />
            {by === null ? "" : ` · ${nameOf(by)}`}
            {note === null ? null : <q>{visible(note)}</q>}
          </li>
        ))}
      </ul>
    </div>
  );
}

function isEdited(call: Details | null): boolean {
  return call !== null && call.requestedInput !== null && !isSame(call.requestedInput, call.input);
}

/** True for the same JSON. Large texts are compared as they are. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  const [ones, others] = [Object.entries(one), new Map(Object.entries(other))];
  return (
    Array.isArray(one) === Array.isArray(other) &&
    ones.length === others.size &&
    ones.every(([name, value]) => others.has(name) && isSame(value, others.get(name)))
  );
}

function Payload({ title, value }: { readonly title: string; readonly value: unknown }): ReactNode {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? "", [value]);
  if (value === null || value === undefined) return null;
  return (
    <div>
      <h2>{title}</h2>
      <LongText text={text} label={title} isJson />
    </div>
  );
}

/** The times of a call's stages, next to each other. */
function Stages({ stages }: { readonly stages: Details["stages"] }): ReactNode {
  return (
    <ol className="stages">
      {stages.map(({ stage, durationMs }) => (
        <li key={stage}>
          <span className="quiet">{stage.toLowerCase()}</span> {durationText(durationMs)}
        </li>
      ))}
    </ol>
  );
}
