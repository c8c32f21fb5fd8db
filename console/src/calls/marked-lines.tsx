import { useLingui } from "@lingui/react/macro";
import { askedLines, type AskedPart } from "@triplane/client/command-lines";
import type { ReactNode } from "react";

/** The command lines of an input, with their asking parts marked. Null if it has none. */
export function MarkedLines({ input, parts }: { readonly input: unknown; readonly parts: readonly AskedPart[] }): ReactNode {
  const { t } = useLingui();
  const lines = askedLines(input, parts);
  if (lines.length === 0) return null;
  return (
    <div className="marked">
      {lines.map(({ parameter, pieces }) => (
        <pre key={parameter} className="command" tabIndex={0} role="group" aria-label={t`Command line, asking parts marked`}>
          {pieces.map(({ text, reasons }, index) =>
            reasons.length === 0 ? (
              <span key={index}>{text}</span>
            ) : (
              <mark key={index} title={reasons.join("; ")}>
                {text}
              </mark>
            ),
          )}
        </pre>
      ))}
    </div>
  );
}
