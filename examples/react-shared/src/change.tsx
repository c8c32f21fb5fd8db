import { askedLines, visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import type { Asked } from "./asked.ts";

/** Shows the changes that a call would make, as diffs. Nothing if its tool does not say that. */
export function Change({ preview }: { readonly preview: Asked["preview"] }): ReactNode {
  if (preview === null) return null;
  return (
    <>
      {preview.files.map(({ path, diff }, index) => (
        <figure key={index} aria-label={`Change of ${path}`}>
          <figcaption>{path}</figcaption>
          {diff === null ? <p>The change is not shown: it is too large, or no text.</p> : <Diff text={diff} />}
        </figure>
      ))}
      {preview.problem === null ? null : <p className="problem">What it would change is not known: {preview.problem}</p>}
    </>
  );
}

/** A unified diff. The signs stay: colours alone do not tell everybody. */
function Diff({ text }: { readonly text: string }): ReactNode {
  const lines = text.trimEnd().split("\n");
  const head = lines.findIndex((line) => line.startsWith("@@"));
  return (
    <pre className="diff" tabIndex={0}>
      {lines.map((line, index) => (
        <span key={index} className={index < head ? "place" : CLASSES[line[0] ?? ""]}>
          {`${line}\n`}
        </span>
      ))}
    </pre>
  );
}

/** The kind of a line of a diff, by the sign that it begins with. */
const CLASSES: Readonly<Record<string, string>> = { "+": "added", "-": "removed", "@": "place" };

/** The command lines of a call, the parts that ask marked, with their reasons below. */
export function CommandLines({ asked }: { readonly asked: Asked }): ReactNode {
  const reasons = [...new Set(asked.commandParts.map(({ reason }) => reason))];
  return (
    <>
      {askedLines(asked.input, asked.commandParts).map(({ parameter, pieces }) => (
        <pre key={parameter} aria-label={parameter} tabIndex={0}>
          {pieces.map(({ text, reasons: why }, index) => (why.length === 0 ? text : <mark key={index}>{text}</mark>))}
        </pre>
      ))}
      {reasons.length === 0 ? null : (
        <ul aria-label="Why it asks">
          {reasons.map((reason) => (
            <li key={reason}>{visible(reason)}</li>
          ))}
        </ul>
      )}
    </>
  );
}
