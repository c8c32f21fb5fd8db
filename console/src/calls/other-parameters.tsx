import { visible, type AskedPart } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import { readableJson, visibleLines } from "../design/visible-lines.ts";
import { LongText } from "./long-text.tsx";

/** A longer value scrolls. */
const LONG_CHARACTERS = 1_000;

/** The parameters of an input beside its shown command lines: a host or a switch may change what a command does. */
export function OtherParameters({ input, parts }: { readonly input: unknown; readonly parts: readonly AskedPart[] }): ReactNode {
  const others = otherParameters(input, parts);
  if (others.length === 0) return null;
  return (
    <dl className="facts">
      {others.map(({ name, text }) => (
        <div key={name} className="key-line">
          <dt>{visible(name)}</dt>
          <dd>
            {text.length > LONG_CHARACTERS ? (
              <LongText text={text} label={visible(name)} />
            ) : (
              <code className="parameter">{visibleLines(text)}</code>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The parameters of which no command line is shown whole. */
export function otherParameters(
  input: unknown,
  parts: readonly AskedPart[],
): readonly { readonly name: string; readonly text: string }[] {
  if (typeof input !== "object" || input === null) return [];
  const shown = new Set(parts.map(({ parameter }) => parameter));
  return Object.entries(input).flatMap(([name, value]) =>
    typeof value === "string" && shown.has(name) ? [] : [{ name, text: typeof value === "string" ? value : readableJson(value) }],
  );
}
