import { Trans, useLingui } from "@lingui/react/macro";
import { useId, useMemo, useState, type ReactNode } from "react";
import { zonedText } from "../../design/time.ts";
import { bucketText } from "./axes.ts";
import { ChartTable } from "./chart-table.tsx";
import type { ChartContent, Unit } from "./content.ts";
import { Plot } from "./plot.tsx";
import type { ChartRange } from "./range.ts";
import type { Reading } from "./reading.ts";

/** What all charts share: the range, its zone, and a way to read again. */
export type ChartSetting = {
  readonly range: ChartRange;
  readonly zone: string;
  /** Grows when all charts are to be read again. */
  readonly round: number;
  readonly again: () => void;
};

/** A chart with its title, unit, legend, and table. */
export function Chart<Data>({
  title,
  measured,
  unit,
  setting,
  reading,
  contentOf,
  empty,
  ignored,
}: {
  readonly title: string;
  /** The unit of the values, for people. */
  readonly measured: string;
  readonly unit: Unit;
  readonly setting: ChartSetting;
  readonly reading: Reading<Data>;
  /** Null if there is nothing to draw. */
  readonly contentOf: (data: Data) => ChartContent | null;
  readonly empty: string;
  /** Filters of the address that this chart does not know. */
  readonly ignored: readonly string[];
}): ReactNode {
  const { t, i18n } = useLingui();
  const id = useId();
  const { locale } = i18n;
  const data = reading.kind === "read" ? reading.data : null;
  const content = useMemo(() => (data === null ? null : contentOf(data)), [data, locale]);
  const filters = ignored.join(", ");
  return (
    <section
      className="chart"
      aria-labelledby={id}
      aria-busy={reading.kind === "loading" || (reading.kind === "read" && reading.isReading)}
    >
      <div className="chart-head">
        <h2 id={id}>{title}</h2>
        <span className="quiet small">{measured}</span>
      </div>
      {filters === "" ? null : (
        <p className="quiet small">
          <Trans>Without the filter: {filters}</Trans>
        </p>
      )}
      {reading.kind === "loading" ? <div className="skeleton chart-skeleton" role="status" aria-label={t`Loading`} /> : null}
      {reading.kind !== "failed" ? null : (
        <div role="alert" className="alert chart-failed">
          <p>{reading.message}</p>
          <button type="button" onClick={setting.again}>
            <Trans>Try again</Trans>
          </button>
        </div>
      )}
      {reading.kind !== "read" ? null : content === null ? (
        <p className="empty">{empty}</p>
      ) : (
        <Drawn title={title} unit={unit} setting={setting} content={content} readAt={reading.readAt} />
      )}
    </section>
  );
}

function Drawn({
  title,
  unit,
  setting: { range, zone },
  content,
  readAt,
}: {
  readonly title: string;
  readonly unit: Unit;
  readonly setting: ChartSetting;
  readonly content: ChartContent;
  readonly readAt: Date;
}): ReactNode {
  const { i18n } = useLingui();
  const [pointed, setPointed] = useState<number | null>(null);
  const [isOpen, setOpen] = useState(false);
  const { buckets, series, columns, summary, note, asOf } = content;
  const bucket = pointed === null ? undefined : buckets[pointed];
  const said =
    bucket === undefined
      ? summary
      : [bucketText(bucket.from, range.unit, i18n.locale), ...columns.map((column) => cellText(column, pointed ?? 0))].join(
          " · ",
        );
  const time = zonedText(readAt.toISOString(), i18n.locale);
  return (
    <>
      <ul className="chart-legend small">
        {series.map(({ name, tone, shape }) => (
          <li key={name}>
            <span className={`swatch ${tone} ${shape}`} aria-hidden="true" />
            {name}
          </li>
        ))}
        {buckets.every(({ isWhole }) => isWhole) ? null : (
          <li>
            <span className="swatch part" aria-hidden="true" />
            <Trans>in part: the range or the present cuts it</Trans>
          </li>
        )}
      </ul>
      <Plot content={content} unit={unit} locale={i18n.locale} label={`${title}. ${summary}`} point={setPointed} />
      <p className="chart-said small">{said}</p>
      {note === undefined ? null : <p className="note warning small">{note}</p>}
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <Trans>Table: {title}</Trans>
        </summary>
        {isOpen ? <ChartTable title={title} zone={zone} unit={range.unit} content={content} /> : null}
      </details>
      <p className="quiet small chart-fresh">
        <Trans>
          As of <code>{asOf}</code>, read at {time}
        </Trans>
      </p>
    </>
  );
}

function cellText({ name, values, text }: ChartContent["columns"][number], index: number): string {
  const value = values[index] ?? null;
  return `${name}: ${value === null ? "–" : text(value)}`;
}
