import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { bytesText } from "../design/amounts.ts";
import { visibleLines } from "../design/visible-lines.ts";
import { OutputPieceDocument } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";
import { LongLines } from "./long-lines.tsx";
import { PartKeys } from "./part-keys.tsx";

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
      <PartKeys
        first={isReading || offset === 0 ? null : () => setPath([0])}
        back={isReading || path.length < 2 ? null : () => setPath(path.slice(0, -1))}
        next={isReading || next === null ? null : () => setPath([...path, next])}
        last={isReading || next === null ? null : () => setPath([...path, Math.max(0, bytes - PART_BYTES)])}
      >
        <Trans>
          {bytesText(part.offset)} to {bytesText(end)} of {bytesText(bytes)}
        </Trans>
        {isWhole ? null : <Trans> (the rest was too much to keep)</Trans>}
      </PartKeys>
      <LongLines text={text} label={t`Whole output`} />
    </div>
  );
}
