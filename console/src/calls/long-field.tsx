import { Trans } from "@lingui/react/macro";
import { useState, type ReactNode, type TextareaHTMLAttributes } from "react";
import { withLineEndsOf, partAt, partBefore, type Part } from "./text-parts.ts";
import { PartKeys } from "./part-keys.tsx";

type FieldChecks = Pick<TextareaHTMLAttributes<HTMLTextAreaElement>, "required" | "aria-invalid" | "aria-describedby">;

/**
 * A field for a text of any length. Of a long one it has one part at a time: a browser lays out all that a field has, at each key.
 * The text keeps its line ends, of which a field knows line feeds alone.
 */
export function LongField({
  id,
  text,
  rows,
  change,
  ...checks
}: FieldChecks & {
  readonly id: string;
  readonly text: string;
  /** The rows of the field; fewer for a shorter text, if it is the most. */
  readonly rows: { readonly exactly: number } | { readonly most: number };
  readonly change: (text: string) => void;
}): ReactNode {
  // The part grows and shrinks with its text: only the ways to others look for the parts anew.
  const [edited, setEdited] = useState<{ readonly part: Part; readonly of: string } | null>(null);
  const part = edited?.of === text ? edited.part : partAt(text, 0);
  const shown = text.slice(part.begin, part.end);
  const show = (next: Part, of = text): void => setEdited({ part: next, of });
  const isFirst = part.begin === 0;
  const isLast = part.end === text.length;
  return (
    <>
      {isFirst && isLast ? null : (
        <PartKeys
          first={isFirst ? null : () => show(partAt(text, 0))}
          back={isFirst ? null : () => show(partBefore(text, part.begin))}
          next={isLast ? null : () => show(partAt(text, part.end))}
          last={isLast ? null : () => show(partBefore(text, text.length))}
        >
          <Trans>
            characters {part.begin + 1} to {part.end} of {text.length}
          </Trans>
        </PartKeys>
      )}
      <textarea
        id={id}
        className="code"
        rows={"exactly" in rows ? rows.exactly : Math.min(rows.most, shown.split("\n").length)}
        spellCheck={false}
        value={shown}
        onChange={({ target }) => {
          const written = withLineEndsOf(shown, target.value);
          const whole = text.slice(0, part.begin) + written + text.slice(part.end);
          show({ begin: part.begin, end: part.begin + written.length }, whole);
          change(whole);
        }}
        {...checks}
      />
    </>
  );
}
