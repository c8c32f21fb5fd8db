import type { Sql, Statement } from "../../db/sql.ts";
import type { EventLog } from "../../events/log.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { type ActorRef, SERVER } from "../../events/snapshots.ts";
import { newWrite } from "../../events/write.ts";
import type { Clock } from "../../lib/time.ts";
import { reminderSent, WAITING_REMINDERS } from "../calls/reminder.ts";
import { lookAt, type Looked, type MissedPolicy } from "../calls/schedules/look.ts";
import { textOf } from "../calls/schedules/schedule.ts";
import { specOf, storedTrigger, type TimeTrigger } from "../calls/schedules/trigger.ts";
import type { DueWait } from "./due.ts";

export type ScheduleServices = {
  readonly sql: Sql;
  readonly log: Pick<EventLog, "commit">;
  readonly clock: Clock;
};

/** The pause between two looks while the queue of the agent is full, in ms. */
const FULL_MS = 60_000;

type FoundRow = {
  readonly id: string;
  readonly tenant: string;
  readonly agentId: string;
  readonly agentCreatedBy: string;
  readonly text: string;
  readonly trigger: unknown;
  readonly missed: MissedPolicy;
  readonly nextAt: Date;
  readonly countsAfter: Date | null;
  readonly owed: number;
  readonly triggered: number;
  readonly moves: number;
  readonly createdBy: string;
  readonly createdByKind: ActorRef["kind"];
  /** The reminders that wait for the agent, and those of this schedule among them. */
  readonly reminders: number;
  readonly waiting: number;
  readonly now: Date;
};

const FIND: Statement<FoundRow, [id: string]> = {
  name: "find_due_schedule",
  text: `SELECT s.id, s.tenant, s.agent_id AS "agentId", a.created_by AS "agentCreatedBy", s.text, s.trigger, s.missed, s.next_at AS "nextAt", s.counts_after AS "countsAfter",
      s.owed, s.triggered, s.moves, s.created_by AS "createdBy", s.created_by_kind AS "createdByKind", r.reminders, r.waiting, policy_time() AS now
    FROM schedule s JOIN agent a ON a.id = s.agent_id CROSS JOIN LATERAL (
      SELECT count(*)::int AS reminders, (count(*) FILTER (WHERE m.reminder ->> 'scheduleId' = s.id))::int AS waiting
      FROM message m WHERE m.agent_id = s.agent_id AND m.ordinal IS NULL AND m.withdrawn_at IS NULL AND m.kind = 'REMINDER') r
    WHERE s.id = $1 AND s.paused_at IS NULL AND s.next_at IS NOT NULL AND a.archived_at IS NULL`,
};

/**
 * Looks at a schedule whose time has come. The reminder and the next time are one commit, which is refused if another
 * server was first. While the queue is full, the time stays due.
 */
export async function lookAtSchedule(services: ScheduleServices, { ref }: DueWait): Promise<void> {
  const [row] = await services.sql.query(FIND, [ref]);
  const trigger = storedTrigger(row?.trigger);
  if (row === undefined || trigger === null || trigger.kind === "STEPS" || trigger.kind === "FILES") return;
  const looked = lookAt({ ...row, trigger, policy: row.missed }, row.now);
  if (looked.reminder === null) return moveOn(services, row, trigger, looked);
  const { reminder } = looked;
  if (row.reminders >= WAITING_REMINDERS) return postpone(services, row);
  const at = services.clock.now();
  const maker = { id: row.createdBy, kind: row.createdByKind };
  const text = textOf(row.text, reminder.missed, row.missed);
  const sent = reminderSent(
    { id: row.agentId, tenant: row.tenant },
    { text, category: "GENERAL", priority: "MEDIUM", startsTurn: true, scheduleId: row.id },
    maker,
    at,
  );
  const body: AgentEventBody = {
    kind: "SCHEDULER_TRIGGERED",
    taskId: row.id,
    spec: specOf(trigger),
    trigger: trigger.kind,
    triggeredAt: row.now.toISOString(),
    dueAt: reminder.dueAt.toISOString(),
    missed: reminder.missed,
    messageId: sent.id,
  };
  await services.log.commit(
    row.tenant,
    {
      agentId: row.agentId,
      createdBy: row.agentCreatedBy,
      events: [{ at, body }, { at, body: sent.event }, ...endedEvents(row, trigger, looked).map((each) => ({ at, body: each }))],
    },
    { ...sent.change, ...moved(row, looked) },
    newWrite(sent.id),
  );
}

/** A time that has no reminder: it counts as missed. */
async function moveOn({ log, clock }: ScheduleServices, row: FoundRow, trigger: TimeTrigger, looked: Looked): Promise<void> {
  const at = clock.now();
  const events = endedEvents(row, trigger, looked).map((body) => ({ at, body }));
  await log.commit(row.tenant, { agentId: row.agentId, createdBy: row.agentCreatedBy, events }, moved(row, looked));
}

async function postpone({ log }: ScheduleServices, { id, tenant, agentId, agentCreatedBy, moves, now }: FoundRow): Promise<void> {
  const due = new Date(now.getTime() + FULL_MS);
  await log.commit(tenant, { agentId, createdBy: agentCreatedBy, events: [] }, { schedulesMoved: [{ id, moves, due, set: {} }] });
}

function moved({ id, moves, triggered, now }: FoundRow, { reminder, nextAt, owed }: Looked) {
  if (nextAt === null) return { scheduleEnded: { id, moves } };
  const trace = reminder === null ? {} : { triggered: triggered + 1, lastTriggeredAt: now };
  return { schedulesMoved: [{ id, moves, due: nextAt, set: { nextAt, owed, ...trace } }] };
}

function endedEvents({ id }: FoundRow, trigger: TimeTrigger, { nextAt }: Looked): readonly AgentEventBody[] {
  if (nextAt !== null) return [];
  const spec = specOf(trigger);
  return [{ kind: "SCHEDULE_CHANGED", taskId: id, spec, scheduleChange: "ENDED", changedBy: SERVER }];
}
