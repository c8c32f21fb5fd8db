import { Trans, useLingui } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { Until } from "../design/clock.tsx";
import { Confirm } from "../design/confirm.tsx";
import { DeleteScheduleDocument, PauseScheduleDocument, ResumeScheduleDocument } from "../generated/documents.ts";
import { change, refusalText } from "../session/ask.ts";
import { useMaySteer } from "../session/viewer.tsx";

type Next = { readonly nextAt: string | null; readonly nextStep: number | null; readonly pausedAt: string | null };

const UNITS = [
  { unit: "d", ms: 86_400_000 },
  { unit: "h", ms: 3_600_000 },
  { unit: "min", ms: 60_000 },
  { unit: "s", ms: 1_000 },
] as const;

/** The trigger of a schedule, in which a distance has its greatest whole unit: `every 2 h`. */
export function shortTrigger(spec: string): string {
  return spec.replace(/^every (\d+) ms$/, (given, distance: string) => {
    const ms = Number(distance);
    const found = UNITS.find((each) => ms >= each.ms && ms % each.ms === 0);
    return found === undefined ? given : `every ${ms / found.ms} ${found.unit}`;
  });
}

/** The time or step at which a schedule sends its next reminder. */
export function NextReminder({ of: { nextAt, nextStep, pausedAt } }: { readonly of: Next }): ReactNode {
  const { t } = useLingui();
  if (pausedAt !== null) return <span className="badge waits">{t`paused`}</span>;
  if (nextAt !== null) return <Until time={nextAt} />;
  return nextStep === null ? "–" : t`step ${nextStep}`;
}

/** The commands of a schedule, for people who may steer its agent. `again` reads it again. */
export function ScheduleButtons({
  scheduleId,
  isPaused,
  owner,
  again,
}: {
  readonly scheduleId: string;
  readonly isPaused: boolean;
  /** The person who created the agent. */
  readonly owner: { readonly id: string };
  readonly again: () => void;
}): ReactNode {
  const { t } = useLingui();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (!useMaySteer(owner)) return null;
  const input = { scheduleId };
  const move = async (): Promise<string | null> => {
    const { userErrors } = isPaused
      ? (await change(ResumeScheduleDocument, { input })).resumeSchedule
      : (await change(PauseScheduleDocument, { input })).pauseSchedule;
    return refusalText(userErrors);
  };
  const press = async (): Promise<void> => {
    setBusy(true);
    setProblem(await move().catch((failure: unknown) => (failure instanceof Error ? failure.message : String(failure))));
    setBusy(false);
    again();
  };
  const remove = async (): Promise<string | null> => {
    const refusal = refusalText((await change(DeleteScheduleDocument, { input })).deleteSchedule.userErrors);
    if (refusal === null) again();
    return refusal;
  };
  return (
    <div className="row">
      <button type="button" disabled={isBusy} onClick={() => void press()}>
        {isPaused ? <Trans>Resume</Trans> : <Trans>Pause</Trans>}
      </button>
      <Confirm label={t`Delete`} title={t`Delete the schedule?`} act={remove}>
        <Trans>The agent gets no further reminder of it. Those that it has got stay in the conversation.</Trans>
      </Confirm>
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
