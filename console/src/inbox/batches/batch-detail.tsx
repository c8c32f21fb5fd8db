import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { firstClick } from "../../design/clicks.ts";
import { useKeys } from "../../design/keys.ts";
import { ServerWords } from "../../design/server-words.tsx";
import { useDraftsOf } from "../../session/drafts.ts";
import { namesOf, useMay } from "../../session/viewer.tsx";
import { forgetRefusal } from "../decisions.ts";
import { DenyWithWords } from "../deny.tsx";
import type { Row } from "../queue.ts";
import { RiskBadge, StateBadge } from "../row-badges.tsx";
import { compared, wholeInput, type Compared } from "./shape.ts";
import { useBatch, type BatchState, type Member, type Standing } from "./use-batch.ts";
import "./batches.css";

/** The batch must be in view for this time before a key or a click decides it. */
const SEEN_MS = 400;

/** Alike questions: their common part, the parts that differ, and one answer for all of them. */
export function BatchDetail({
  rows,
  select,
}: {
  /** The rows of the batch now; none if the list has no such batch. */
  readonly rows: readonly Row[];
  readonly select: (approvalId: string) => void;
}): ReactNode {
  const batch = useBatch(rows);
  const { members } = batch;
  const top = useRef<HTMLDivElement>(null);
  const [first] = members;
  useEffect(() => (document.activeElement === document.body ? top.current?.focus() : undefined), [first?.row.id]);
  const latest = useRef(members);
  latest.current = members;
  useEffect(() => () => latest.current.forEach(({ row }) => forgetRefusal(row.id)), []);
  if (first === undefined)
    return (
      <div className="empty">
        <h2>
          <Trans>These questions are no longer open.</Trans>
        </h2>
      </div>
    );
  return (
    <>
      <div className="detail-scroll" ref={top} tabIndex={-1}>
        <BatchHead first={first.row} members={members} />
        <Differences members={members} select={select} />
      </div>
      <footer className="decide">
        <Newcomers batch={batch} />
        <BatchAnswers batch={batch} />
      </footer>
    </>
  );
}

function BatchHead({ first, members }: { readonly first: Row; readonly members: readonly Member[] }): ReactNode {
  const { agent, toolCall, risk } = first;
  const people = namesOf(members.flatMap(({ row }) => row.requestedBy));
  const count = members.length;
  return (
    <>
      <h2 className="sentence">
        <Trans>
          {count} alike: <strong>{agent.template.templateId}</strong> wants to run <code>{toolCall?.name}</code>
        </Trans>
        {people === "" ? null : (
          <span className="quiet">
            {" "}
            <Trans>for {people}</Trans>
          </span>
        )}
      </h2>
      <p className="row small quiet head-line">
        <RiskBadge risk={risk} />
        <span>
          <Trans>Folder</Trans> <code>{visible(agent.workspace)}</code>
        </span>
        {toolCall?.explanation === null || toolCall === null ? null : (
          <span>
            <Trans>
              Asked by <code>{visible(toolCall.explanation.rule)}</code> at <code>{toolCall.explanation.place}</code>
            </Trans>
          </span>
        )}
      </p>
    </>
  );
}

function Differences({
  members,
  select,
}: {
  readonly members: readonly Member[];
  readonly select: (approvalId: string) => void;
}): ReactNode {
  const { t } = useLingui();
  const inputs = members.map(({ row }) => wholeInput(row) ?? {});
  const parameters = compared(inputs);
  const different = parameters.filter(({ parts }) => parts !== null);
  return (
    <>
      <section aria-label={t`Common to all`}>
        <h3>
          <Trans>Common to all</Trans>
        </h3>
        <dl className="facts">
          {parameters.map((parameter) => (
            <div key={parameter.name} className="key-line">
              <dt>{visible(parameter.name)}</dt>
              <dd>
                <Common parameter={parameter} />
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <section aria-label={t`Each of them`}>
        <h3>
          <Trans>Each of them</Trans>
        </h3>
        <ol className="batch-members">
          {members.map(({ row, standing }, index) => (
            <li key={row.id} aria-busy={standing.kind === "sending"}>
              <button type="button" className="plain link" title={t`Open the question`} onClick={() => select(row.id)}>
                <code>{row.shortId}</code>
              </button>
              <span className="batch-parts">
                {different.map(({ name, parts }) => (
                  <code key={name}>
                    {different.length > 1 ? <span className="quiet">{visible(name)} </span> : null}
                    <mark>{visible(parts?.[index] ?? "")}</mark>
                  </code>
                ))}
              </span>
              <span className="small quiet">
                {visible(row.agent.title ?? row.agent.shortId)} · {namesOf(row.requestedBy)}
              </span>
              <StandingBadge standing={standing} />
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

function Common({ parameter: { before, after, parts } }: { readonly parameter: Compared }): ReactNode {
  return (
    <code className="batch-common">
      {visible(before)}
      {parts === null ? null : <mark>…</mark>}
      {visible(after)}
    </code>
  );
}

function StandingBadge({ standing }: { readonly standing: Standing }): ReactNode {
  const { t } = useLingui();
  switch (standing.kind) {
    case "open":
      return null;
    case "sending":
      return <span className="badge works">{t`sending`}</span>;
    case "voted":
      return <span className="badge waits">{t`your vote counts, more people must decide`}</span>;
    case "closed":
      return (
        <span className="small">
          <StateBadge state={standing.closed.state} /> {standing.closed.by ?? ""}
        </span>
      );
    case "refused":
      return (
        <span className="alert small" role="alert">
          <ServerWords text={standing.message} />
        </span>
      );
  }
}

function Newcomers({ batch: { newcomers, takeIn, isBusy } }: { readonly batch: BatchState }): ReactNode {
  if (newcomers === 0) return null;
  return (
    <p className="note small" role="status">
      <Plural value={newcomers} one="# more alike question has come." other="# more alike questions have come." />{" "}
      <button type="button" disabled={isBusy} onClick={takeIn}>
        <Trans>Show</Trans>
      </button>
    </p>
  );
}

function BatchAnswers({ batch }: { readonly batch: BatchState }): ReactNode {
  const { members, left, isBusy, shownAtMs, decideAll } = batch;
  const { t } = useLingui();
  const may = useMay("DECIDE");
  const about = `batch ${members[0]?.row.id ?? ""}`;
  const drafts = useDraftsOf(about);
  const [isDenying, setDenying] = useState(() => drafts.has("deny"));
  const box = useRef<HTMLDivElement>(null);
  const canAct = may.isAllowed && !isBusy && left.length > 0;
  const wasSeen = (): boolean => performance.now() - shownAtMs > SEEN_MS;
  const allow = (): void => void (wasSeen() ? decideAll("ALLOW", null) : null);
  const close = (): void => {
    setDenying(false);
    box.current?.focus();
  };
  const back = (): void => {
    drafts.forget();
    close();
  };
  const isDecided = left.length === 0;
  useEffect(() => (isDecided ? drafts.forget() : undefined), [isDecided]);
  useKeys({
    A: () => (canAct && !isDenying ? allow() : null),
    D: () => (canAct ? setDenying(true) : null),
    Escape: back,
  });
  const count = left.length;
  const done = members.filter(({ standing }) => standing.kind === "closed" || standing.kind === "voted").length;
  const refused = members.filter(({ standing }) => standing.kind === "refused").length;
  const total = members.length;
  return (
    <div className="decision" ref={box} tabIndex={-1} aria-busy={isBusy}>
      <p className="small quiet" role="status">
        {done === 0 && refused === 0 && !isBusy ? null : (
          <>
            <Trans>
              {done} of {total} decided
            </Trans>
            {refused === 0 ? null : <Trans>, {refused} refused</Trans>}
          </>
        )}
      </p>
      {may.isAllowed ? null : (
        <p className="note">{may.reason === null ? t`You may not decide.` : <ServerWords text={may.reason} />}</p>
      )}
      {!may.isAllowed || count === 0 ? null : isDenying ? (
        <DenyWithWords
          about={about}
          isBusy={isBusy}
          back={back}
          deny={(note) => {
            if (!wasSeen()) return;
            close();
            void decideAll("DENY", note);
          }}
        />
      ) : (
        <div className="row choices">
          <button type="button" className="primary" disabled={isBusy} onClick={firstClick(allow)}>
            <Trans>Allow all {count}</Trans> <kbd>⇧ A</kbd>
          </button>
          <button type="button" className="danger" disabled={isBusy} onClick={() => setDenying(true)}>
            <Trans>Deny all {count} …</Trans> <kbd>⇧ D</kbd>
          </button>
        </div>
      )}
    </div>
  );
}
