import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { durationText } from "../../design/time.ts";
import { ChartDecisionsDocument, type ApprovalFilter, type ChartDecisionsQuery } from "../../generated/documents.ts";
import { useAmounts } from "./amounts.ts";
import { Chart, type ChartSetting } from "./chart.tsx";
import { timeCurves, valuesOf, type ChartContent } from "./content.ts";
import { useReading } from "./reading.ts";

/** The times from a request to its decision. */
export function DecisionChart({
  filter,
  setting,
  ignored,
}: {
  readonly filter: ApprovalFilter;
  readonly setting: ChartSetting;
  readonly ignored: readonly string[];
}): ReactNode {
  const { t } = useLingui();
  const { count, variables } = useAmounts(setting);
  const reading = useReading(ChartDecisionsDocument, { filter, ...variables }, setting.round);
  const times = ({ approvalGroups: { buckets, groups, total, asOf } }: ChartDecisionsQuery): ChartContent | null => {
    const { p50, p95 } = total.decisionMs;
    if (p50 === null || p95 === null) return null;
    const series = groups[0]?.series;
    const curves = timeCurves(buckets, series, ({ decisionMs }) => decisionMs);
    return {
      buckets,
      series: curves.series,
      columns: [
        ...curves.columns,
        { name: t`Decided`, values: valuesOf(buckets, series, ({ decided }) => decided, 0), text: count },
      ],
      summary: t`p50 ${durationText(p50)}, p95 ${durationText(p95)} of ${count(total.decided)} decided approvals`,
      asOf,
    };
  };
  return (
    <Chart
      title={t`From request to decision`}
      measured={t`waiting time, p50 and p95, by the time of the request`}
      unit="duration"
      setting={setting}
      reading={reading}
      contentOf={times}
      empty={t`No approval of this range was decided.`}
      ignored={ignored}
    />
  );
}
