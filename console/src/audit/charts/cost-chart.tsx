import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { ChartCostsDocument, type ChartCostsQuery, type StepFilter } from "../../generated/documents.ts";
import { useAmounts } from "./amounts.ts";
import { Chart, type ChartSetting } from "./chart.tsx";
import { valuesOf, type ChartContent, type Series, type Tone } from "./content.ts";
import { useReading } from "./reading.ts";

const TONES = ["series-1", "series-2", "series-3", "series-4", "series-5", "series-6"] as const satisfies readonly Tone[];

/** The cost of steps by model: the most expensive models, and all others as one. */
export function CostChart({
  filter,
  setting,
  ignored,
}: {
  readonly filter: StepFilter;
  readonly setting: ChartSetting;
  readonly ignored: readonly string[];
}): ReactNode {
  const { t } = useLingui();
  const { count, money, variables } = useAmounts(setting);
  const reading = useReading(ChartCostsDocument, { filter, ...variables }, setting.round);
  const costs = ({ models, all: { buckets, groups, total, asOf } }: ChartCostsQuery): ChartContent | null => {
    if (total.steps === 0) return null;
    const sums = valuesOf(buckets, groups[0]?.series, ({ costUsd }) => costUsd, 0);
    const shown = models.groups.map(({ model, series }, index): Series => ({
      name: model ?? "–",
      tone: TONES[index] ?? "ink-quiet",
      shape: "stack",
      values: valuesOf(buckets, series, ({ costUsd }) => costUsd, 0),
    }));
    const others = sums.map((sum, index) =>
      Math.max(0, (sum ?? 0) - shown.reduce((all, { values }) => all + (values[index] ?? 0), 0)),
    );
    const rest = models.groupCount - shown.length;
    const series =
      rest === 0
        ? shown
        : [...shown, { name: t`other models (${rest})`, tone: "ink-quiet", shape: "stack", values: others } as const];
    const unpriced = count(total.unpricedSteps);
    return {
      buckets,
      series,
      columns: [
        ...series.map(({ name, values }) => ({ name, values, text: money })),
        { name: t`All models`, values: sums, text: money },
        {
          name: t`Steps without a price`,
          values: valuesOf(buckets, groups[0]?.series, ({ unpricedSteps }) => unpricedSteps, 0),
          text: count,
        },
      ],
      summary: t`${money(total.costUsd)} for ${count(total.steps)} steps`,
      ...(total.unpricedSteps === 0 ? {} : { note: t`The cost leaves out ${unpriced} steps, whose model has no price.` }),
      asOf,
    };
  };
  return (
    <Chart
      title={t`Cost by model`}
      measured={t`US dollars by the start of the steps`}
      unit="dollars"
      setting={setting}
      reading={reading}
      contentOf={costs}
      empty={t`No step in this range passes the filters.`}
      ignored={ignored}
    />
  );
}
