import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { durationText } from "../../design/time.ts";
import { ChartDecisionsDocument, type ApprovalFilter, type ChartDecisionsQuery } from "../../generated/documents.ts";
import { useAmounts } from "./amounts.ts";
import { Chart, type ChartSetting } from "./chart.tsx";
import { valuesOf, type ChartContent } from "./content.ts";
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
    const halves = valuesOf(buckets, series, ({ decisionMs }) => decisionMs.p50, null);
    const most = valuesOf(buckets, series, ({ decisionMs }) => decisionMs.p95, null);
    return {
      buckets,
      series: [
        { name: "p50", tone: "series-1", shape: "line", values: halves },
        { name: "p95", tone: "series-2", shape: "dashed", values: most },
      ],
      columns: [
        { name: "p50", values: halves, text: durationText },
        { name: "p95", values: most, text: durationText },
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
