import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import { nameOf, useViewer } from "../session/viewer.tsx";
import { forgetRefusal, isLost, useDeciding, type Deciding } from "./decisions.ts";
import { toolOf } from "../calls/asked-words.ts";
import type { Filters, Row } from "./queue.ts";
import { StateBadge } from "./row-badges.tsx";
import { forgetMissed, useInbox, type Closed } from "./store.ts";

/**
 * Refused decisions of questions that are neither open in the page nor in its list: another person was faster. Those that the
 * end of a session has cut off are there in any case.
 */
export function Refusals({
  rows,
  closed,
  selected,
  filters,
}: {
  readonly rows: ReadonlyMap<string, Row>;
  readonly closed: ReadonlyMap<string, Closed>;
  readonly selected: string | null;
  readonly filters: Filters;
}): ReactNode {
  const { actor } = useViewer();
  // The news of the closed question say that the lost answer was a yes.
  const isTaken = (id: string, state: Deciding): boolean => isLost(state) && closed.get(id)?.by === nameOf(actor);
  return [...useDeciding()].map(([id, state]) =>
    state.kind !== "refused" || id === selected || (rows.has(id) && state.isCutOff !== true) || isTaken(id, state) ? null : (
      <p key={id} role="alert" className="alert">
        {isLost(state) ? (
          <Trans>The answer to your decision was lost. Look whether it was taken:</Trans>
        ) : (
          <Trans>Your decision was not taken:</Trans>
        )}{" "}
        {visible(state.problems.map(({ message }) => message).join("; "))}{" "}
        <Link to="/inbox/$approvalId" params={{ approvalId: id }} search={filters}>
          <Trans>Open the question</Trans>
        </Link>{" "}
        <button type="button" className="plain" onClick={() => forgetRefusal(id)}>
          <Trans>Close</Trans>
        </button>
      </p>
    ),
  );
}

/** Approvals that expired while the viewer had put them off. */
export function Missed({ missed }: { readonly missed: ReadonlyMap<string, Row> }): ReactNode {
  return [...missed.values()].map((row) => (
    <p key={row.id} role="alert" className="alert">
      <Trans>It expired while you had put it off:</Trans> <code>{toolOf(row)}</code>{" "}
      <Link to="/inbox/$approvalId" params={{ approvalId: row.id }} search={{}}>
        <Trans>Open the question</Trans>
      </Link>{" "}
      <button type="button" className="plain" onClick={() => forgetMissed(row.id)}>
        <Trans>Close</Trans>
      </button>
    </p>
  ));
}

/** The latest decision of this page, for an inbox without another question. */
export function LatestDecision(): ReactNode {
  const { latest, closed } = useInbox();
  const end = latest === null ? undefined : closed.get(latest);
  if (latest === null || end === undefined) return null;
  return (
    <p className="row small" role="status">
      <Trans>Your latest decision:</Trans> <StateBadge state={end.state} />
      <Link to="/inbox/$approvalId" params={{ approvalId: latest }} search={{}}>
        <Trans>Open the question</Trans>
      </Link>
    </p>
  );
}
