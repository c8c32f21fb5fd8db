import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { durationText } from "../../design/time.ts";
import { ChartTurnsDocument, type ChartTurnsQuery, type DoneReason, type TurnFilter } from "../../generated/documents.ts";
import { useReasonWords } from "../../calls/turn-ends.ts";
import { useAmounts } from "./amounts.ts";
import { Chart, type ChartSetting } from "./chart.tsx";
import { timeCurves, valuesOf, type ChartContent, type Tone } from "./content.ts";
import { useReading } from "./reading.ts";

/** The reasons in the order of their bars; null is a turn that has not ended. */
const TONES: readonly (readonly [DoneReason | null, Tone])[] = [
  ["COMPLETED", "series-1"],
  ["INTERRUPTED", "series-2"],
  ["ERROR", "danger"],
  ["MAX_STEPS", "series-3"],
  ["BUDGET", "series-5"],
  ["SHAPE", "series-6"],
  [null, "ink-quiet"],
];

/** Turns by the reasons of their ends, their times and their cost: three charts of one answer. */
export function TurnCharts({
  filter,
  setting,
  ignored,
}: {
  readonly filter: TurnFilter;
  readonly setting: ChartSetting;
  readonly ignored: readonly string[];
}): ReactNode {
  const { t } = useLingui();
  const words = useReasonWords();
  const { count, money, variables } = useAmounts(setting);
  const reading = useReading(ChartTurnsDocument, { filter, ...variables }, setting.round);
  const turns = ({ reasons, all: { buckets, total, asOf } }: ChartTurnsQuery): ChartContent | null => {
    if (total.turns === 0) return null;
    const shown = TONES.flatMap(([reason, tone]) => {
      const group = reasons.groups.find((each) => each.reason === reason);
      const values = valuesOf(buckets, group?.series, ({ turns: number }) => number, 0);
      const number = group?.figures.turns ?? 0;
      return number === 0 ? [] : [{ name: words[reason ?? "OPEN"], tone, values, number }];
    });
    return {
      buckets,
      series: shown.map(({ name, tone, values }) => ({ name, tone, values, shape: "stack" })),
      columns: shown.map(({ name, values }) => ({ name, values, text: count })),
      summary: shown.map(({ name, number }) => `${name}: ${count(number)}`).join(", "),
      asOf,
    };
  };
  const durations = ({ all: { buckets, groups, total, asOf } }: ChartTurnsQuery): ChartContent | null => {
    const { p50, p95 } = total.durationMs;
    if (p50 === null || p95 === null) return null;
    const series = groups[0]?.series;
    const curves = timeCurves(buckets, series, ({ durationMs }) => durationMs);
    return {
      buckets,
      series: curves.series,
      columns: [
        ...curves.columns,
        { name: t`Ended turns`, values: valuesOf(buckets, series, ({ durationMs }) => durationMs.count, 0), text: count },
      ],
      summary: t`p50 ${durationText(p50)}, p95 ${durationText(p95)} of ${count(total.durationMs.count)} ended turns`,
      asOf,
    };
  };
  const costs = ({ all: { buckets, groups, total, asOf } }: ChartTurnsQuery): ChartContent | null => {
    if (total.turns === 0) return null;
    const series = groups[0]?.series;
    const sums = valuesOf(buckets, series, ({ costUsd }) => costUsd, 0);
    const each = valuesOf(buckets, series, ({ costUsd, turns: number }) => (number === 0 ? null : costUsd / number), null);
    const unpriced = count(total.unpricedSteps);
    return {
      buckets,
      series: [{ name: t`All turns`, tone: "accent", shape: "stack", values: sums }],
      columns: [
        { name: t`All turns`, values: sums, text: money },
        { name: t`Mean of a turn`, values: each, text: money },
        {
          name: t`Steps without a price`,
          values: valuesOf(buckets, series, ({ unpricedSteps }) => unpricedSteps, 0),
          text: count,
        },
      ],
      summary: t`${money(total.costUsd)} for ${count(total.turns)} turns, ${money(total.costUsd / total.turns)} each`,
      ...(total.unpricedSteps === 0 ? {} : { note: t`The cost leaves out ${unpriced} steps, whose model has no price.` }),
      asOf,
    };
  };
  const shared = { setting, reading, ignored };
  const none = t`No turn in this range passes the filters.`;
  return (
    <>
      <Chart
        {...shared}
        title={t`Turns by reason`}
        measured={t`turns by their start, and the reasons of their ends`}
        unit="count"
        contentOf={turns}
        empty={none}
      />
      <Chart
        {...shared}
        title={t`Turn times`}
        measured={t`time from start to end, p50 and p95`}
        unit="duration"
        contentOf={durations}
        empty={t`No turn of this range has ended.`}
      />
      <Chart
        {...shared}
        title={t`Cost of turns`}
        measured={t`US dollars by the start of the turns`}
        unit="dollars"
        contentOf={costs}
        empty={none}
      />
    </>
  );
}
