import { Trans, useLingui } from "@lingui/react/macro";
import type { Conversation } from "@triplane/client/conversation";
import type { ReactNode } from "react";
import { LongText } from "../../calls/long-text.tsx";
import { shortCount } from "../../design/amounts.ts";

type Item = Extract<Conversation["items"][number], { readonly kind: "compaction" }>;

/** A place where older messages or outputs left the context of the model, with the summary that stands for them. */
export function CompactionItem({ item: { method, summary, tokensBefore, tokensAfter } }: { readonly item: Item }): ReactNode {
  const { t, i18n } = useLingui();
  const words: Readonly<Record<Item["method"], string>> = {
    SUMMARY: t`Earlier messages were summarized`,
    SHORTENED: t`Earlier messages were left out`,
    CLEARED: t`Old outputs left out`,
  };
  const count = (amount: number | null): string | null => (amount === null ? null : shortCount(amount, i18n.locale));
  const [before, after] = [count(tokensBefore), count(tokensAfter)];
  const line = (
    <>
      {words[method]}
      {before === null || after === null ? null : (
        <>
          {" · "}
          <Trans>
            {before} → {after} tokens
          </Trans>
        </>
      )}
    </>
  );
  if (summary === null) return <p className="small quiet">{line}</p>;
  return (
    <details>
      <summary className="small quiet">{line}</summary>
      <LongText text={summary} label={words[method]} />
    </details>
  );
}
