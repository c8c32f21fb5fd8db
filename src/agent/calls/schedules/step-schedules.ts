/** A schedule that steps of its agent trigger, as the agent's owner sees it. `nextStep` triggers it. */
export type StepSchedule = {
  readonly id: string;
  readonly text: string;
  readonly everySteps: number;
  readonly nextStep: number;
  readonly triggered: number;
  readonly moves: number;
  readonly createdBy: string;
  readonly createdByKind: "USER" | "SERVICE" | "SYSTEM";
};

/** The schedules of an agent `a` that steps trigger, as StepSchedules in the order in which they were made. */
export const STEP_SCHEDULES = `(SELECT coalesce(json_agg(json_build_object('id', h.id, 'text', h.text, 'everySteps', (h.trigger ->> 'everySteps')::int, 'nextStep', h.next_step,
    'triggered', h.triggered, 'moves', h.moves, 'createdBy', h.created_by, 'createdByKind', h.created_by_kind) ORDER BY h.id), '[]')
    FROM schedule h WHERE h.agent_id = a.id AND h.next_step IS NOT NULL AND h.paused_at IS NULL)`;
