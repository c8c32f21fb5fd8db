import { memo, useMemo, type ReactNode } from "react";
import { blocksOf } from "../design/visible-lines.ts";

/** A text of many lines that scrolls. */
export const LongLines = memo(function LongLines({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <pre className="long" tabIndex={0} role="group" aria-label={label}>
      {blocks.map((block, index) => (
        <span key={index} className="block">
          {block}
        </span>
      ))}
    </pre>
  );
});
