import { Trans } from "@lingui/react/macro";
import { useMemo, useState, type ReactNode } from "react";
import { unfolded, visibleLines } from "../design/visible-lines.ts";
import { LongLines } from "./long-lines.tsx";
import { PartKeys } from "./part-keys.tsx";
import { partsOf } from "./text-parts.ts";

/** A text of any length, in which nothing hides. Of a long one, a page shows one part at a time. */
export function LongText({
  text,
  label,
  isJson = false,
}: {
  readonly text: string;
  readonly label: string;
  /** True for JSON whose texts are shown with their line feeds. */
  readonly isJson?: boolean;
}): ReactNode {
  const begins = useMemo(() => partsOf(text), [text]);
  const [chosen, setChosen] = useState(0);
  const count = begins.length - 1;
  const part = Math.min(chosen, count - 1);
  const shown = useMemo(() => {
    const piece = text.slice(begins[part], begins[part + 1]);
    return visibleLines(isJson ? unfolded(piece) : piece);
  }, [text, begins, part, isJson]);
  const to = (place: number): (() => void) | null =>
    place === part || place < 0 || place >= count ? null : () => setChosen(place);
  return (
    <>
      {count === 1 ? null : (
        <PartKeys first={to(0)} back={to(part - 1)} next={to(part + 1)} last={to(count - 1)}>
          <Trans>
            part {part + 1} of {count}
          </Trans>
        </PartKeys>
      )}
      <LongLines text={shown} label={label} />
    </>
  );
}
