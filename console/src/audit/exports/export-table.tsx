import { Trans, useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { bytesText } from "../../design/amounts.ts";
import { Ago, Until } from "../../design/clock.tsx";
import { Confirm } from "../../design/confirm.tsx";
import { CancelExportDocument, type ExportState } from "../../generated/documents.ts";
import { change, refusalText } from "../../session/ask.ts";
import { nameOf } from "../../session/viewer.tsx";
import { useExportWords, useSubjectWords } from "../words.tsx";
import type { ExportRow } from "./export-list.ts";
import type { ExportList } from "./use-exports.ts";

/** The exports, the newest first. */
export function ExportTable({ list }: { readonly list: ExportList }): ReactNode {
  const { t } = useLingui();
  const { rows, total, problem, more, again } = list;
  const shown = rows.length;
  return (
    <>
      {problem === null ? null : (
        <p role="alert" className="alert row">
          {problem}
          <button type="button" onClick={again}>
            <Trans>Try again</Trans>
          </button>
        </p>
      )}
      {total === null && problem === null ? <div className="skeleton" aria-hidden="true" /> : null}
      {total === 0 ? (
        <p className="quiet">
          <Trans>There is no export. Each one is kept for 7 days.</Trans>
        </p>
      ) : null}
      {shown === 0 ? null : (
        <div className="wide" tabIndex={0} role="group" aria-label={t`Files`}>
          <table aria-label={t`Files`}>
            <thead>
              <tr>
                <th scope="col">{t`Requested`}</th>
                <th scope="col">{t`Rows of`}</th>
                <th scope="col">{t`By`}</th>
                <th scope="col">{t`State`}</th>
                <th scope="col" className="amount">{t`Rows`}</th>
                <th scope="col" className="amount">{t`Size`}</th>
                <th scope="col">{t`Removed`}</th>
                <th scope="col">
                  <span className="visually-hidden">{t`Actions`}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Line key={row.id} row={row} again={again} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {more === null ? null : (
        <div className="row">
          <button type="button" onClick={more}>
            <Trans>Show more</Trans>
          </button>
          <span className="quiet">
            <Trans>
              {shown} of {total} shown
            </Trans>
          </span>
        </div>
      )}
    </>
  );
}

const TONES: Readonly<Record<ExportState, string>> = { RUNNING: "works", DONE: "good", FAILED: "bad", CANCELLED: "" };

function Line({ row, again }: { readonly row: ExportRow; readonly again: () => void }): ReactNode {
  const { t, i18n } = useLingui();
  const words = useSubjectWords();
  const states = useExportWords();
  const { id, what, format, withTexts, state, problem, viewerUrl } = row;
  const rows = new Intl.NumberFormat(i18n.locale).format(row.rows);
  const name = `${words[what]}, ${format}`;
  const cancel = async (): Promise<string | null> => {
    const { cancelExport } = await change(CancelExportDocument, { exportId: id });
    again();
    return refusalText(cancelExport.userErrors);
  };
  return (
    <tr>
      <td>
        <Ago time={row.createdAt} />
      </td>
      <td>
        {name} {withTexts ? <span className="badge waits">{t`with texts`}</span> : null}
      </td>
      <td>{nameOf(row.createdBy)}</td>
      <td>
        <span className={`badge ${TONES[state]}`}>{states[state]}</span> {problem}
      </td>
      <td className="amount">{rows}</td>
      <td className="amount">{bytesText(row.bytes)}</td>
      <td>{row.expiresAt === null ? "–" : <Until time={row.expiresAt} />}</td>
      <td className="amount">
        <span className="row">
          {viewerUrl === null ? null : (
            <a href={viewerUrl} download="" aria-label={t`Download: ${name}, ${rows} rows`}>
              <Trans>Download</Trans>
            </a>
          )}
          {state === "DONE" && viewerUrl === null ? (
            <span className="quiet">
              <Trans>you may not read all its rows</Trans>
            </span>
          ) : null}
          {state === "RUNNING" || state === "DONE" ? (
            <Confirm
              label={state === "RUNNING" ? t`Cancel the export` : t`Remove`}
              title={state === "RUNNING" ? t`Cancel this export?` : t`Remove this file?`}
              act={cancel}
            >
              {state === "RUNNING" ? (
                <Trans>Its file is not made. The audit keeps that it was asked for.</Trans>
              ) : (
                <Trans>Nobody can download it any more. The audit keeps that it was made.</Trans>
              )}
            </Confirm>
          ) : null}
        </span>
      </td>
    </tr>
  );
}
