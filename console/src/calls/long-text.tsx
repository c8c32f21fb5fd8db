import { Trans } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { bytesText } from "../design/amounts.ts";
import { visibleLines } from "../design/visible-lines.ts";

/** Longer texts are shown from their beginning; each press of the button adds as much again. */
const SHOWN_CHARACTERS = 20_000;

/** A text of any length, in which nothing hides. */
export function LongText({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const [shown, setShown] = useState(SHOWN_CHARACTERS);
  const rest = text.length - shown;
  return (
    <>
      <pre className="long" tabIndex={0} role="group" aria-label={label}>
        {visibleLines(text.slice(0, shown))}
      </pre>
      {rest > 0 ? (
        <button type="button" className="plain" onClick={() => setShown(shown * 4)}>
          <Trans>Show more ({bytesText(rest)} left)</Trans>
        </button>
      ) : null}
    </>
  );
}
