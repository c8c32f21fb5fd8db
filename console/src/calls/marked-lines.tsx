import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { askedLines, type AskedPart, type LinePiece } from "@triplane/client/command-lines";
import { Fragment, type ReactNode } from "react";

/** A command with more lines, or characters, is partly out of view. */
const SHOWN = { lines: 12, characters: 1_000 };
/** The beginning of a line with an asking part, as their list shows it. */
const PART_CHARACTERS = 200;

/** The command lines of an input, with their asking parts marked. Null if it has none. */
export function MarkedLines({ input, parts }: { readonly input: unknown; readonly parts: readonly AskedPart[] }): ReactNode {
  const { t } = useLingui();
  const lines = askedLines(input, parts);
  if (lines.length === 0) return null;
  return (
    <div className="marked">
      {lines.map(({ parameter, pieces }) => (
        <Fragment key={parameter}>
          <pre className="command" tabIndex={0} role="group" aria-label={t`Command line, asking parts marked`}>
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
          <Beyond pieces={pieces} />
        </Fragment>
      ))}
    </div>
  );
}

/** The lines with asking parts of a command that does not fit into its view: the one that matters may stand at its end. */
function Beyond({ pieces }: { readonly pieces: readonly LinePiece[] }): ReactNode {
  const { t } = useLingui();
  const whole = pieces.map(({ text }) => text).join("");
  const count = whole.split("\n").length;
  if (count <= SHOWN.lines && whole.length <= SHOWN.characters) return null;
  return (
    <div className="note warning small">
      <Plural value={count} one="This command has # long line." other="This command has # lines." /> <Trans>It asks for:</Trans>
      <ul className="lines beyond" tabIndex={0} aria-label={t`Asking parts`}>
        {askingLines(whole, pieces).map((line) => (
          <li key={line}>
            <code className="parameter">{line.length > PART_CHARACTERS ? `${line.slice(0, PART_CHARACTERS)} …` : line}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The lines of a command in which a part asks, each once. */
function askingLines(whole: string, pieces: readonly LinePiece[]): readonly string[] {
  const lines: string[] = [];
  let at = 0;
  for (const { text, reasons } of pieces) {
    if (reasons.length > 0 && text.trim() !== "") {
      const begin = whole.slice(0, at + text.length - text.trimStart().length).lastIndexOf("\n") + 1;
      const end = whole.indexOf("\n", at + text.trimEnd().length);
      lines.push(whole.slice(begin, end < 0 ? whole.length : end));
    }
    at += text.length;
  }
  return [...new Set(lines)];
}
