import { Trans } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { useMemo, type ReactNode } from "react";

/** Characters that change the look of a text, or have none. */
const HIDDEN = /[\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?![\n\t\r])\p{Cc}/gu;

/** A field shows its text as it is: its hidden characters are named below it. */
export function HiddenNote({ text }: { readonly text: string }): ReactNode {
  const found = useMemo(() => new Set(text.match(HIDDEN)), [text]);
  if (found.size === 0) return null;
  const characters = <code>{visible([...found].join(""))}</code>;
  return (
    <p className="note warning small" role="status">
      <Trans>This text has hidden characters: {characters}</Trans>
    </p>
  );
}
