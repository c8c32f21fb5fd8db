import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { Pages } from "./pages.ts";

/** The end of a short list: a failure, the wait, or the way to its next page. */
export function More({ pages }: { readonly pages: Pages<unknown> }): ReactNode {
  const { problem, total, hasMore, isReading, more, again } = pages;
  if (problem !== null)
    return (
      <p role="alert" className="alert row">
        {problem}
        <button type="button" onClick={again}>
          <Trans>Try again</Trans>
        </button>
      </p>
    );
  if (total === null) return <div className="skeleton" aria-hidden="true" />;
  if (!hasMore) return null;
  return (
    <div>
      <button type="button" disabled={isReading} onClick={more}>
        <Trans>Show more</Trans>
      </button>
    </div>
  );
}
