import { randomUUIDv7 } from "node:crypto";
import type { OutsideChange, ScheduleRow, WaitRow } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { ActorRef } from "../../../events/snapshots.ts";
import { storable } from "../../../lib/text.ts";
import type { MissedPolicy } from "./look.ts";
import { timeAfter } from "./next-time.ts";
import { specOf, type Trigger } from "./trigger.ts";

/** The most schedules of one agent. None triggers more than once a minute by time. */
export const MOST_SCHEDULES = 20;

/** A schedule that is wanted for an agent. */
export type WantedSchedule = { readonly text: string; readonly trigger: Trigger; readonly missed: MissedPolicy };

/** The agent of a schedule, its maker, and the times by which it begins: of the database and of events. */
export type ScheduledAgent = {
  readonly id: string;
  readonly tenant: string;
  readonly stepCount: number;
  readonly createdBy: ActorRef;
  readonly isOfTemplate: boolean;
  readonly now: Date;
  readonly at: Date;
};

export type MadeSchedules = {
  readonly ids: readonly string[];
  readonly change: Pick<OutsideChange, "schedulesMade" | "mostSchedules" | "waits" | "watch">;
  readonly events: readonly AgentEventBody[];
};

/** The parts of the commit by which an agent has schedules. */
export function schedulesMade(wanted: readonly WantedSchedule[], agent: ScheduledAgent): MadeSchedules {
  // Their ids have their order.
  const ids = wanted.map(() => randomUUIDv7()).toSorted();
  const rows = wanted.map((each, index) => rowOf(ids[index] ?? randomUUIDv7(), each, agent));
  const waits = rows.flatMap(({ id, nextAt }): WaitRow[] => {
    const { tenant, id: agentId } = agent;
    return nextAt === null
      ? []
      : [{ id, tenant, agentId, callId: null, kind: "SCHEDULE", ref: id, due: nextAt, process: null, settledAt: null }];
  });
  return {
    ids,
    change:
      rows.length === 0
        ? {}
        : { schedulesMade: rows, mostSchedules: MOST_SCHEDULES, waits, ...(wanted.some(isOfFiles) ? { watch: true } : {}) },
    events: wanted.map(({ trigger }, index) => ({
      kind: "SCHEDULE_CHANGED",
      taskId: ids[index] ?? "",
      spec: specOf(trigger),
      scheduleChange: "CREATED",
      changedBy: agent.createdBy,
    })),
  };
}

function isOfFiles({ trigger }: Pick<WantedSchedule, "trigger">): boolean {
  return trigger.kind === "FILES";
}

function rowOf(
  id: string,
  { text, trigger, missed }: WantedSchedule,
  { id: agentId, tenant, stepCount, createdBy, isOfTemplate, now, at }: ScheduledAgent,
): ScheduleRow {
  return {
    id,
    tenant,
    agentId,
    text: storable(text),
    trigger: { ...trigger },
    missed,
    ...firstOf(trigger, stepCount, now),
    owed: 0,
    triggered: 0,
    lastTriggeredAt: null,
    pausedAt: null,
    countsAfter: null,
    moves: 0,
    isOfTemplate,
    createdBy: createdBy.id,
    createdByKind: createdBy.kind,
    createdAt: at,
  };
}

/** The first time or step of a schedule that begins, or is resumed. */
export function firstOf(
  trigger: Trigger,
  stepCount: number,
  now: Date,
): { readonly nextAt: Date | null; readonly nextStep: number | null } {
  if (trigger.kind === "FILES") return { nextAt: null, nextStep: null };
  if (trigger.kind === "STEPS") return { nextAt: null, nextStep: stepCount + trigger.everySteps };
  return { nextAt: timeAfter(trigger, now, now), nextStep: null };
}

/** The text that the model reads. Policy ONCE says how many times were missed. */
export function textOf(text: string, missed: number, policy: MissedPolicy): string {
  if (missed === 0 || policy === "SKIP") return text;
  return `${text}\n\n[${missed} earlier ${missed === 1 ? "time of this schedule was" : "times of this schedule were"} missed.]`;
}

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
