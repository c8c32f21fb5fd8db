import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { ApprovalState, BucketUnit, ExportState, ExportSubject, StepState, TurnOrderField } from "../generated/documents.ts";
import type { AuditFilter } from "./filters.ts";

export function useDecisionWords(): Readonly<Record<ApprovalState, string>> {
  const { t } = useLingui();
  return {
    ALLOWED: t`allowed`,
    DENIED: t`denied`,
    EXPIRED: t`expired`,
    PENDING: t`open`,
    RESOLVED: t`resolved`,
    SEALED: t`turn ended`,
    STALE: t`replaced`,
  };
}

export function useStepWords(): Readonly<Record<StepState, string>> {
  const { t } = useLingui();
  return { STARTED: t`running`, COMPLETED: t`completed`, ABORTED: t`aborted` };
}

export function useOrderWords(): Readonly<Record<TurnOrderField, string>> {
  const { t } = useLingui();
  return { STARTED_AT: t`Newest first`, DURATION: t`Longest first`, COST: t`Most expensive first` };
}

export function useUnitWords(): Readonly<Record<BucketUnit, string>> {
  const { t } = useLingui();
  return { HOUR: t`hour`, DAY: t`day`, WEEK: t`week`, MONTH: t`month` };
}

export function useSubjectWords(): Readonly<Record<ExportSubject, string>> {
  const { t } = useLingui();
  return {
    TOOL_CALLS: t`Calls`,
    APPROVALS: t`Questions`,
    DECISIONS: t`Decisions`,
    MESSAGES: t`Messages`,
    STEPS: t`Steps`,
    TURNS: t`Turns`,
    EVENTS: t`Events of the log`,
  };
}

export function useExportWords(): Readonly<Record<ExportState, string>> {
  const { t } = useLingui();
  return { RUNNING: t`being made`, DONE: t`complete`, FAILED: t`failed`, CANCELLED: t`cancelled` };
}

/** The names of filters that some views know only. */
export function useFilterWords(): { readonly [Name in AuditFilter]?: string } {
  const { t } = useLingui();
  return {
    tool: t`Tool`,
    model: t`Model`,
    verdict: t`Verdict`,
    error: t`Error`,
    place: t`Place of the rule`,
    person: t`Decided by`,
  };
}

const STEP_TONES: Readonly<Record<StepState, string>> = { STARTED: "works", COMPLETED: "good", ABORTED: "bad" };

export function StepBadge({ state }: { readonly state: StepState }): ReactNode {
  return <span className={`badge ${STEP_TONES[state]}`}>{useStepWords()[state]}</span>;
}
