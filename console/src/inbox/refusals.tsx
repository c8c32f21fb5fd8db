import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { forgetRefusal, useDeciding } from "./decisions.ts";
import { toolOf, type Filters, type Row } from "./queue.ts";
import { StateBadge } from "./row-badges.tsx";
import { forgetMissed, useInbox } from "./store.ts";

/** Refused decisions of questions that are neither open in the page nor in its list: another person was faster. */
export function Refusals({
  rows,
  selected,
  filters,
}: {
  readonly rows: ReadonlyMap<string, Row>;
  readonly selected: string | null;
  readonly filters: Filters;
}): ReactNode {
  return [...useDeciding()].map(([id, state]) =>
    state.kind !== "refused" || id === selected || rows.has(id) ? null : (
      <p key={id} role="alert" className="alert">
        <Trans>Your decision was not taken:</Trans> {state.problems.map(({ message }) => message).join("; ")}{" "}
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
