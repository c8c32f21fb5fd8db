import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { BucketUnit } from "../../generated/documents.ts";
import { bucketText } from "./axes.ts";
import type { ChartContent } from "./content.ts";

/** The values of a chart, a row for each bucket. */
export function ChartTable({
  title,
  zone,
  unit,
  content: { buckets, columns },
}: {
  readonly title: string;
  readonly zone: string;
  readonly unit: BucketUnit;
  readonly content: ChartContent;
}): ReactNode {
  const { t, i18n } = useLingui();
  return (
    <div className="wide chart-table" tabIndex={0} role="group" aria-label={title}>
      <table>
        <caption className="visually-hidden">{title}</caption>
        <thead>
          <tr>
            <th scope="col">{t`From (${zone})`}</th>
            {columns.map(({ name }) => (
              <th key={name} scope="col" className="amount">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {buckets.map(({ from, isWhole }, index) => (
            <tr key={from}>
              <th scope="row">
                <time dateTime={from}>{bucketText(from, unit, i18n.locale)}</time>{" "}
                {isWhole ? null : <span className="badge waits">{t`in part`}</span>}
              </th>
              {columns.map(({ name, values, text }) => {
                const value = values[index] ?? null;
                return (
                  <td key={name} className="amount">
                    {value === null ? "–" : <data value={value}>{text(value)}</data>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
