import { Trans, useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { useQuery } from "urql";
import { shortCount } from "../design/amounts.ts";
import { durationText } from "../design/time.ts";
import { AuditCountsDocument, type ToolCallFilter } from "../generated/documents.ts";
import { useCallWords } from "../calls/state-words.ts";

/** The number of calls that pass the filters, and on demand those of each tool. */
export function Counts({
  filter,
  total,
  shown,
  save,
}: {
  readonly filter: ToolCallFilter;
  readonly total: number | null;
  readonly shown: number;
  readonly save: () => void;
}): ReactNode {
  return (
    <div className="audit-counts">
      <details>
        <summary>
          {total === null ? (
            <Trans>Counting</Trans>
          ) : (
            <Trans>
              {shown} of {total} calls shown · counts by tool
            </Trans>
          )}
        </summary>
        <ByTool filter={filter} />
      </details>
      <button type="button" disabled={shown === 0} onClick={save}>
        <Trans>CSV of the shown rows</Trans>
      </button>
    </div>
  );
}

function ByTool({ filter }: { readonly filter: ToolCallFilter }): ReactNode {
  const { t, i18n } = useLingui();
  const words = useCallWords();
  const [{ data, error }] = useQuery({ query: AuditCountsDocument, variables: { filter } });
  if (error !== undefined)
    return (
      <p role="alert" className="alert">
        {error.message}
      </p>
    );
  return (
    <div className="wide" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t`Tool`}</th>
            <th scope="col" className="amount">{t`Calls`}</th>
            <th scope="col" className="amount">{t`Run`}</th>
            <th scope="col" className="amount">{t`Mean`}</th>
            <th scope="col" className="amount">{t`Slowest`}</th>
            <th scope="col">{t`States`}</th>
          </tr>
        </thead>
        <tbody>
          {(data?.toolCallStats.tools ?? []).map(({ tool, calls, executed, meanMs, slowestMs, states }) => (
            <tr key={tool}>
              <td>
                <code>{tool}</code>
              </td>
              <td className="amount">{shortCount(calls, i18n.locale)}</td>
              <td className="amount">{shortCount(executed, i18n.locale)}</td>
              <td className="amount">{meanMs === null ? "–" : durationText(meanMs)}</td>
              <td className="amount">{slowestMs === null ? "–" : durationText(slowestMs)}</td>
              <td>{states.map(({ state, calls: count }) => `${words[state]} ${count}`).join(", ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
