import { Trans, useLingui } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { presentMs } from "../../design/present.ts";
import { callFilter, decisionFilter, stepFilter, turnFilter, type AuditFilter, type AuditSearch } from "../filters.ts";
import { CallCharts, VerdictChart } from "./call-charts.tsx";
import type { ChartSetting } from "./chart.tsx";
import { CostChart } from "./cost-chart.tsx";
import { DecisionChart } from "./decision-chart.tsx";
import { browserZone, chartRange } from "./range.ts";
import { TurnCharts } from "./turn-charts.tsx";
import { useFilterWords, useUnitWords } from "../words.tsx";
import "./charts.css";

/** Filters of the view that the groups of each kind do not know. */
const UNKNOWN = {
  calls: [],
  steps: ["tool", "verdict", "error", "place", "person"],
  approvals: ["model", "verdict", "error", "place"],
} as const satisfies Readonly<Record<string, readonly AuditFilter[]>>;

/** Charts of the groups over the range and with the filters of the address, in the zone of the browser. */
export function Charts({ search, set }: { readonly search: AuditSearch; readonly set: (part: AuditSearch) => void }): ReactNode {
  const { t } = useLingui();
  const words = useUnitWords();
  const filterWords = useFilterWords();
  const [round, setRound] = useState(0);
  const again = (): void => setRound((before) => before + 1);
  const range = chartRange(search, new Date(presentMs()));
  const zone = browserZone();
  const setting: ChartSetting = { range, zone, round, again };
  const { state: _, ...filters } = search;
  const calls = { ...callFilter(filters), createdBy: search.requester === undefined ? null : [search.requester], created: null };
  const ignored = (names: readonly AuditFilter[]): readonly string[] =>
    names.filter((name) => search[name] !== undefined).map((name) => filterWords[name] ?? name);
  return (
    <>
      <div className="audit-counts chart-choices">
        <label className="row chart-bucket">
          <Trans>Bucket</Trans>
          <select value={range.unit} onChange={({ target }) => set({ bucket: target.value })}>
            {range.units.map((unit) => (
              <option key={unit} value={unit}>
                {words[unit]}
              </option>
            ))}
          </select>
        </label>
        <span className="quiet">
          {search.from === undefined ? <Trans>30 days, in the zone {zone}</Trans> : <Trans>In the zone {zone}</Trans>}
        </span>
        <button type="button" onClick={again}>
          <Trans>Read again</Trans>
        </button>
      </div>
      <div className="charts" role="region" aria-label={t`Charts`} tabIndex={0}>
        <CallCharts filter={calls} setting={setting} ignored={ignored(UNKNOWN.calls)} />
        <VerdictChart filter={calls} setting={setting} ignored={ignored(UNKNOWN.calls)} />
        <TurnCharts filter={turnFilter(filters)} setting={setting} ignored={ignored(UNKNOWN.steps)} />
        <CostChart filter={{ ...stepFilter(filters), started: null }} setting={setting} ignored={ignored(UNKNOWN.steps)} />
        <DecisionChart
          filter={{ ...decisionFilter(filters), requested: null }}
          setting={setting}
          ignored={ignored(UNKNOWN.approvals)}
        />
      </div>
    </>
  );
}
