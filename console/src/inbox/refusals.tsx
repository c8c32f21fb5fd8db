import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { forgetRefusal, useDeciding } from "./decisions.ts";
import type { Filters, Row } from "./queue.ts";

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
