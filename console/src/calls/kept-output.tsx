import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { bytesText } from "../design/amounts.ts";
import { visibleLines } from "../design/visible-lines.ts";
import { OutputPieceDocument } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";

/** The bytes of one part: a page shows one at a time, however long the output is. */
const PART_BYTES = 64 * 1024;

type Kept = { readonly bytes: number; readonly isWhole: boolean };
type Part = { readonly offset: number; readonly text: string; readonly nextOffset: number | null };

/** A kept output, read part by part. */
export function KeptOutput({ callId, kept }: { readonly callId: string; readonly kept: Kept }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <Parts callId={callId} kept={kept} />;
  return (
    <button type="button" className="plain" onClick={() => setOpen(true)}>
      <Trans>Read the whole output ({bytesText(kept.bytes)})</Trans>
    </button>
  );
}

function Parts({ callId, kept: { bytes, isWhole } }: { readonly callId: string; readonly kept: Kept }): ReactNode {
  const { t } = useLingui();
  /** The offsets from the first part read to the one that is shown. */
  const [path, setPath] = useState<readonly number[]>([0]);
  const [part, setPart] = useState<Part | "gone" | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const offset = path.at(-1) ?? 0;
  useEffect(() => {
    let isCurrent = true;
    setProblem(null);
    ask(OutputPieceDocument, { callId, offset, bytes: PART_BYTES }).then(
      ({ toolCall }) => {
        const piece = toolCall?.keptOutput?.piece ?? null;
        if (isCurrent) setPart(piece === null ? "gone" : { offset, ...piece });
      },
      (failure: unknown) => (isCurrent ? setProblem(failure instanceof Error ? failure.message : String(failure)) : null),
    );
    return () => {
      isCurrent = false;
    };
  }, [callId, offset]);
  const text = useMemo(() => (part === null || part === "gone" ? "" : visibleLines(part.text)), [part]);
  if (problem !== null)
    return (
      <p role="alert" className="alert">
        {problem}
      </p>
    );
  if (part === "gone")
    return (
      <p className="note">
        <Trans>Another server has the file, or it was removed.</Trans>
      </p>
    );
  if (part === null) return <div className="skeleton" role="status" aria-label={t`Loading`} />;
  const isReading = part.offset !== offset;
  const next = part.nextOffset;
  const end = next ?? bytes;
  return (
    <div>
      <div className="row">
        <button type="button" disabled={isReading || offset === 0} onClick={() => setPath([0])}>
          <Trans>First part</Trans>
        </button>
        <button type="button" disabled={isReading || path.length < 2} onClick={() => setPath(path.slice(0, -1))}>
          <Trans>Back</Trans>
        </button>
        <button
          type="button"
          disabled={isReading || next === null}
          onClick={() => (next === null ? null : setPath([...path, next]))}
        >
          <Trans>Next part</Trans>
        </button>
        <button
          type="button"
          disabled={isReading || next === null}
          onClick={() => setPath([...path, Math.max(0, bytes - PART_BYTES)])}
        >
          <Trans>Last part</Trans>
        </button>
        <span className="quiet small" role="status">
          <Trans>
            {bytesText(part.offset)} to {bytesText(end)} of {bytesText(bytes)}
          </Trans>
          {isWhole ? null : <Trans> (the rest was too much to keep)</Trans>}
        </span>
      </div>
      <pre className="long" tabIndex={0} role="group" aria-label={t`Whole output`}>
        {text}
      </pre>
    </div>
  );
}
