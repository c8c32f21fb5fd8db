import { useLingui } from "@lingui/react/macro";
import { Trans } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import { Diff } from "../calls/diff.tsx";
import { flatView } from "../calls/flat-view.tsx";
import { LongText } from "../calls/long-text.tsx";
import { MarkedLines } from "../calls/marked-lines.tsx";
import { OtherParameters } from "../calls/other-parameters.tsx";
import { budgetIn, hostIn, inputIn, type Asked } from "./asked.ts";
import { BudgetFacts } from "./budget.tsx";

/** The action to decide: marked command lines, a diff, or the whole input with hidden characters as escapes. */
export function ShownInput({ asked }: { readonly asked: Asked }): ReactNode {
  const { t } = useLingui();
  const { commandParts, input, inputText, preview, erasedAt } = asked;
  const budget = budgetIn(asked);
  const host = hostIn(asked);
  const question = inputIn(asked);
  if (budget !== null) return <BudgetFacts asked={budget} />;
  if (erasedAt !== null)
    return (
      <p className="quiet">
        <Trans>The input was erased.</Trans>
      </p>
    );
  const files = preview?.files ?? [];
  const hasLines = commandParts.length > 0;
  const fields =
    hasLines || files.length > 0 || host !== null ? null : flatView(asked.toolCall?.tool?.inputSchema ?? null, input);
  const isPlain = !hasLines && files.length === 0 && fields === null;
  return (
    <>
      {question === null ? null : <p className="note">{visible(question.message)}</p>}
      {host === null ? null : <HostCalls host={host} />}
      {fields}
      {hasLines ? <MarkedLines input={input} parts={commandParts} /> : null}
      {hasLines ? <OtherParameters input={input} parts={commandParts} /> : null}
      {files.map(({ path, diff }) => (
        <Diff key={path} path={visible(path)} diff={diff} />
      ))}
      {preview?.problem === null || preview === null ? null : <p className="note warning">{visible(preview.problem)}</p>}
      {inputText === null || inputText === "" || host !== null ? null : isPlain ? (
        <LongText text={inputText} label={t`Input`} />
      ) : (
        <details>
          <summary>
            <Trans>The whole input</Trans>
          </summary>
          <LongText text={inputText} label={t`Input`} />
        </details>
      )}
    </>
  );
}

function HostCalls({ host }: { readonly host: NonNullable<ReturnType<typeof hostIn>> }): ReactNode {
  return (
    <>
      <p>
        <Trans>These calls have tried to reach it, and were refused:</Trans>
      </p>
      <ul className="lines">
        {host.toolCalls.map(({ id, name, inputPreview }) => (
          <li key={id}>
            <code>
              {name} {visible(inputPreview ?? "")}
            </code>
          </li>
        ))}
      </ul>
    </>
  );
}
