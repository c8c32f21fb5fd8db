import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { durationText } from "../../design/time.ts";
import {
  ChartCallsDocument,
  ChartVerdictsDocument,
  type ChartCallsQuery,
  type ChartVerdictsQuery,
  type PermissionVerdict,
  type ToolCallFilter,
} from "../../generated/documents.ts";
import { Chart, type ChartSetting } from "./chart.tsx";
import { timeCurves, valuesOf, type ChartContent, type Tone } from "./content.ts";
import { useReading } from "./reading.ts";
import { useAmounts } from "./amounts.ts";

type Props = { readonly filter: ToolCallFilter; readonly setting: ChartSetting; readonly ignored: readonly string[] };

/** Calls and their run times: two charts of one answer. */
export function CallCharts({ filter, setting, ignored }: Props): ReactNode {
  const { t } = useLingui();
  const { count, share, variables } = useAmounts(setting);
  const reading = useReading(ChartCallsDocument, { filter, ...variables }, setting.round);
  const calls = ({ toolCallGroups: { buckets, groups, total, asOf } }: ChartCallsQuery): ChartContent | null => {
    if (total.calls === 0) return null;
    const series = groups[0]?.series;
    const all = valuesOf(buckets, series, (figures) => figures.calls, 0);
    const failed = valuesOf(buckets, series, (figures) => figures.failed, 0);
    const rate = total.failureRate === null ? "–" : share(total.failureRate);
    return {
      buckets,
      series: [
        { name: t`Calls`, tone: "accent", shape: "stack", values: all },
        { name: t`of these failed`, tone: "danger", shape: "over", values: failed },
      ],
      columns: [
        { name: t`Calls`, values: all, text: count },
        { name: t`Failed`, values: failed, text: count },
        { name: t`Failed share`, values: valuesOf(buckets, series, ({ failureRate }) => failureRate, null), text: share },
      ],
      summary: t`${count(total.calls)} calls, ${count(total.failed)} failed (${rate} of those that ended)`,
      asOf,
    };
  };
  const durations = ({ toolCallGroups: { buckets, groups, total, asOf } }: ChartCallsQuery): ChartContent | null => {
    const { p50, p95 } = total.durationMs;
    if (p50 === null || p95 === null) return null;
    const series = groups[0]?.series;
    const curves = timeCurves(buckets, series, ({ durationMs }) => durationMs);
    return {
      buckets,
      series: curves.series,
      columns: [
        ...curves.columns,
        { name: t`Calls that ran`, values: valuesOf(buckets, series, ({ durationMs }) => durationMs.count, 0), text: count },
      ],
      summary: t`p50 ${durationText(p50)}, p95 ${durationText(p95)} of ${count(total.durationMs.count)} calls that ran`,
      asOf,
    };
  };
  return (
    <>
      <Chart
        title={t`Calls`}
        measured={t`calls by the time of their request`}
        unit="count"
        setting={setting}
        reading={reading}
        contentOf={calls}
        empty={t`No call in this range passes the filters.`}
        ignored={ignored}
      />
      <Chart
        title={t`Run times`}
        measured={t`time that calls ran, p50 and p95`}
        unit="duration"
        setting={setting}
        reading={reading}
        contentOf={durations}
        empty={t`No call of this range has run and ended.`}
        ignored={ignored}
      />
    </>
  );
}

const TONES: readonly (readonly [PermissionVerdict | null, Tone])[] = [
  ["ALLOW", "series-1"],
  ["ASK", "series-2"],
  ["DENY", "danger"],
  [null, "ink-quiet"],
];

/** The calls by the verdict of the gate. */
export function VerdictChart({ filter, setting, ignored }: Props): ReactNode {
  const { t } = useLingui();
  const { count, variables } = useAmounts(setting);
  const reading = useReading(ChartVerdictsDocument, { filter, ...variables }, setting.round);
  const names = { ALLOW: t`allow`, ASK: t`ask`, DENY: t`deny`, none: t`without a verdict` };
  const verdicts = ({ toolCallGroups: { buckets, groups, asOf } }: ChartVerdictsQuery): ChartContent | null => {
    if (groups.length === 0) return null;
    const shown = TONES.flatMap(([verdict, tone]) => {
      const group = groups.find((each) => each.verdict === verdict);
      const values = valuesOf(buckets, group?.series, ({ calls }) => calls, 0);
      const calls = group?.figures.calls ?? 0;
      return verdict === null && calls === 0 ? [] : [{ name: names[verdict ?? "none"], tone, values, calls }];
    });
    return {
      buckets,
      series: shown.map(({ name, tone, values }) => ({ name, tone, values, shape: "stack" })),
      columns: shown.map(({ name, values }) => ({ name, values, text: count })),
      summary: shown.map(({ name, calls }) => `${name}: ${count(calls)}`).join(", "),
      asOf,
    };
  };
  return (
    <Chart
      title={t`Verdicts`}
      measured={t`calls by the time of their request`}
      unit="count"
      setting={setting}
      reading={reading}
      contentOf={verdicts}
      empty={t`No call in this range passes the filters.`}
      ignored={ignored}
    />
  );
}
