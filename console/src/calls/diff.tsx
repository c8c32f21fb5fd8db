import { Trans } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { visibleLines } from "../design/visible-lines.ts";
import { diffLines, diffSize, type DiffLine } from "./diff-lines.ts";

/** Longer diffs are shown from their beginning, and wholly by a button. */
const SHOWN_LINES = 400;

const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { context: " ", added: "+", removed: "−", place: "", note: "" };

/** The change of one file. */
export function Diff({ path, diff }: { readonly path: string; readonly diff: string | null }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  if (diff === null)
    return (
      <p className="small">
        <code>{path}</code>: <Trans>the change of this file is too large to show, or was erased.</Trans>
      </p>
    );
  const lines = diffLines(diff);
  const { added, removed } = diffSize(lines);
  const shown = isWhole ? lines : lines.slice(0, SHOWN_LINES);
  return (
    <figure className="diff">
      <figcaption>
        <code>{path}</code>
        <span className="added">+{added}</span>
        <span className="removed">−{removed}</span>
      </figcaption>
      <div className="diff-lines" tabIndex={0} role="group" aria-label={path}>
        {shown.map((line, index) => (
          <div key={index} className={`diff-line ${line.kind}`}>
            <span className="number" aria-hidden>
              {line.after ?? line.before ?? ""}
            </span>
            <span className="sign">{SIGNS[line.kind]}</span>
            <span className="content">{visibleLines(line.text)}</span>
          </div>
        ))}
      </div>
      {shown.length < lines.length ? (
        <button type="button" className="plain" onClick={() => setWhole(true)}>
          <Trans>Show all {lines.length} lines</Trans>
        </button>
      ) : null}
    </figure>
  );
}
