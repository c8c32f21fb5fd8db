import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";

/** The ways between the parts of a long text; null for one that leads nowhere. */
export function PartKeys({
  first,
  back,
  next,
  last,
  children,
}: {
  readonly first: (() => void) | null;
  readonly back: (() => void) | null;
  readonly next: (() => void) | null;
  readonly last: (() => void) | null;
  /** The place of the shown part in words. */
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="row">
      <button type="button" disabled={first === null} onClick={() => first?.()}>
        <Trans>First part</Trans>
      </button>
      <button type="button" disabled={back === null} onClick={() => back?.()}>
        <Trans>Back</Trans>
      </button>
      <button type="button" disabled={next === null} onClick={() => next?.()}>
        <Trans>Next part</Trans>
      </button>
      <button type="button" disabled={last === null} onClick={() => last?.()}>
        <Trans>Last part</Trans>
      </button>
      <span className="quiet small" role="status">
        {children}
      </span>
    </div>
  );
}
