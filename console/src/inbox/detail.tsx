import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { useEffect, useRef, type ReactNode } from "react";
import { useAnswerWords } from "../calls/call-state.tsx";
import { Ago, Until } from "../design/clock.tsx";
import { lazyPart } from "../design/lazy-part.tsx";
import { nameOf, useMay } from "../session/viewer.tsx";
import { useAsked, type Asked } from "./asked.ts";
import { Decision } from "./decision.tsx";
import { forgetRefusal, useDeciding } from "./decisions.ts";
import { Origin } from "./origin.tsx";
import { Reach } from "./reach.tsx";
import { RiskBadge, StateBadge } from "./row-badges.tsx";
import { Sentence } from "./sentence.tsx";
import { ShownInput } from "./shown-input.tsx";
import { SnoozeLine } from "./snooze/snooze-line.tsx";
import { useInbox, type Closed } from "./store.ts";
import { useProposal, Why } from "./why.tsx";

/** Few questions have an edit. */
const Edits = lazyPart(async () => (await import("./edits/edits.tsx")).Edits);

/** One question, in the order of its decision: what is asked, why, from where, its reach, and the answers. */
export function Detail({
  id,
  sent,
  decided,
}: {
  readonly id: string;
  readonly sent: (id: string) => void;
  readonly decided: (id: string) => void;
}): ReactNode {
  const inbox = useInbox();
  const closed = inbox.closed.get(id) ?? null;
  const deciding = useDeciding().get(id) ?? null;
  const { look, again } = useAsked(id, closed?.state ?? inbox.rows.get(id)?.missingDecisions);
  const asked = look.kind === "seen" ? look.asked : null;
  const proposal = useProposal(asked?.state === "PENDING" ? asked : null, useMay("STORE_ALLOW_RULES").isAllowed);
  const top = useRef<HTMLDivElement>(null);
  const shownId = asked?.id;
  // The focus of an answered question is gone with it: readers continue at the begin of the next one.
  useEffect(() => (document.activeElement === document.body ? top.current?.focus() : undefined), [shownId]);
  useEffect(() => () => forgetRefusal(id), [id]);
  switch (look.kind) {
    case "looking":
      return <Loading />;
    case "gone":
      return (
        <div className="empty">
          <h2>
            <Trans>There is no such approval.</Trans>
          </h2>
        </div>
      );
    case "failed":
      return (
        <div className="empty">
          <p role="alert">{look.problem}</p>
          <button type="button" onClick={again}>
            <Trans>Look again</Trans>
          </button>
        </div>
      );
    case "seen": {
      const { asked, atMs } = look;
      return (
        <>
          <div className="detail-scroll" ref={top} tabIndex={-1}>
            <Sentence asked={asked} />
            <Head asked={asked} />
            <ShownInput asked={asked} />
            {asked.hasEditedInput ? <Edits asked={asked} /> : null}
            <Why asked={asked} proposal={proposal} />
            <Origin asked={asked} />
            <Reach asked={asked} />
            <Decided asked={asked} />
          </div>
          <footer className="decide">
            {asked.state === "PENDING" && closed === null ? (
              <Decision
                key={id}
                asked={asked}
                shownAtMs={atMs}
                deciding={deciding}
                proposal={proposal}
                sent={() => sent(id)}
                decided={() => decided(id)}
              />
            ) : (
              <Outcome asked={asked} closed={closed} />
            )}
            {asked.state === "PENDING" && closed === null ? (
              <SnoozeLine
                approvalId={id}
                expiresAt={asked.expiresAt}
                snooze={inbox.snoozes.get(id) ?? null}
                snoozed={() => decided(id)}
              />
            ) : null}
          </footer>
        </>
      );
    }
  }
}

function Head({ asked }: { readonly asked: Asked }): ReactNode {
  const { risk, requestedAt, expiresAt, quorum, missingDecisions, id, shortId, state } = asked;
  const votes = quorum - missingDecisions;
  return (
    <p className="row small quiet head-line">
      <RiskBadge risk={risk} />
      {state === "PENDING" ? null : <StateBadge state={state} />}
      <span>
        <Trans>
          asked <Ago time={requestedAt} />
        </Trans>
      </span>
      {expiresAt === null ? null : (
        <span className="badge waits">
          <Trans>
            expires <Until time={expiresAt} />
          </Trans>
        </span>
      )}
      {quorum > 1 ? (
        <span className="badge">
          <Trans>
            {votes} of {quorum} votes
          </Trans>
        </span>
      ) : null}
      <code title={id}>{shortId}</code>
    </p>
  );
}

/** The decisions so far, with their words. */
function Decided({ asked: { decisions } }: { readonly asked: Asked }): ReactNode {
  const { t } = useLingui();
  const words = useAnswerWords();
  if (decisions.length === 0) return null;
  return (
    <section aria-label={t`Decisions`}>
      <h3>
        <Trans>Decisions</Trans>
      </h3>
      <ul className="lines">
        {decisions.map(({ decidedBy, decision, decidedAt, note, onBehalfOf }) => (
          <li key={decidedBy.id + decidedAt}>
            <strong>{nameOf(decidedBy)}</strong>
            {onBehalfOf === null ? null : (
              <>
                {" "}
                <Trans>for {nameOf(onBehalfOf)}</Trans>
              </>
            )}
            : <span className="badge">{words[decision]}</span> <Ago time={decidedAt} />
            {note === null ? null : <q>{visible(note)}</q>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The end of a question. Another person may have been faster. */
function Outcome({ asked, closed }: { readonly asked: Asked; readonly closed: Closed | null }): ReactNode {
  const by = closed?.by ?? (asked.decidedBy === null ? null : nameOf(asked.decidedBy));
  const state = closed?.state ?? asked.state;
  return (
    <p className="note outcome" role="status">
      <StateBadge state={state} />{" "}
      {by === null ? <Trans>Nobody decides it any more.</Trans> : <Trans>{by} has decided it.</Trans>}
    </p>
  );
}

function Loading(): ReactNode {
  const { t } = useLingui();
  return (
    <div className="detail-scroll" role="status" aria-label={t`Loading`}>
      <div className="skeleton wide" />
      <div className="skeleton" />
      <div className="skeleton block" />
    </div>
  );
}
