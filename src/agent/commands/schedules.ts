import type { ScheduleMove } from "../../db/commit/change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { AgentEventBody } from "../../events/event.ts";
import type { ScheduleChange } from "../../events/snapshots.ts";
import { newWrite } from "../../events/write.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { actorRef, type Actor, type CommandRefusal, type Outcome } from "../actors/actor.ts";
import { answerOf, claimKey, onceByKey, type KeyedRequest } from "../actors/idempotency.ts";
import { reminderProblem } from "../calls/reminder.ts";
import type { MissedPolicy } from "../calls/schedules/look.ts";
import { firstOf, MOST_SCHEDULES, schedulesMade, type WantedSchedule } from "../calls/schedules/schedule.ts";
import { readTrigger, specOf, storedTrigger, type GivenTrigger, type Trigger } from "../calls/schedules/trigger.ts";
import type { AgentServices } from "../loop/scope.ts";
import { ARCHIVED, findAgent, findSteered, findSteeredPart, type FoundAgent } from "./find-agent.ts";

/** `agentId` is the row's id. */
export type CreateSchedule = {
  readonly agentId: string;
  readonly text: string;
  readonly trigger: GivenTrigger;
  readonly missed: MissedPolicy;
  readonly idempotencyKey: string | null;
};

const READ_AGENT: Statement<{ stepCount: number; schedules: number; now: Date }, [agentId: string]> = {
  name: "read_scheduled_agent",
  text: `SELECT step_count AS "stepCount", (SELECT count(*)::int FROM schedule s WHERE s.agent_id = a.id) AS schedules, policy_time() AS now FROM agent a WHERE id = $1`,
};

/** Makes a schedule, which sends reminders to an agent by its trigger. Its maker sends them. */
export async function createSchedule(
  services: AgentServices,
  actor: Actor,
  { idempotencyKey: key, ...request }: CreateSchedule,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findSteered(services.sql, actor, request.agentId, "scheduling for");
  if (!found.ok) return found;
  const problem = reminderProblem(request.text);
  if (problem !== null) return refused(problem);
  const keyed = { actor, operation: "createSchedule", key, body: request };
  return onceByKey(services.sql, keyed, () => tryToCreate(services, found.value, request, keyed));
}

async function tryToCreate(
  { sql, log, clock }: AgentServices,
  agent: FoundAgent,
  { text, trigger: given, missed }: Omit<CreateSchedule, "idempotencyKey">,
  keyed: KeyedRequest,
): Promise<Result<Outcome, CommandRefusal> | "KEY_USED"> {
  if (agent.isArchived) return refused(ARCHIVED);
  const { actor } = keyed;
  const [row] = await sql.query(READ_AGENT, [agent.id]);
  if (row === undefined) throw new Error(`agent ${agent.id} does not exist`);
  if (row.schedules >= MOST_SCHEDULES) return refused(TOO_MANY);
  const trigger = readTrigger(given, row.now);
  if (!trigger.ok) {
    const { field, message } = trigger.refusal;
    return refused({ code: "INVALID", field: ["trigger", ...(field === null ? [] : [field])], message });
  }
  const at = clock.now();
  const wanted: WantedSchedule = { text, trigger: trigger.value, missed };
  const { id: agentId, tenant, createdBy } = agent;
  const scheduled = {
    id: agentId,
    tenant,
    stepCount: row.stepCount,
    createdBy: actorRef(actor),
    isOfTemplate: false,
    now: row.now,
    at,
  };
  const made = schedulesMade([wanted], scheduled);
  const [id = ""] = made.ids;
  const outcome = await log.commit(
    tenant,
    { agentId, createdBy, events: made.events.map((body) => ({ at, body })) },
    { ...claimKey(keyed, id, at), ...made.change, ...wakeFor(trigger.value) },
    newWrite(id),
  );
  return answerOf(id, outcome, async (): Promise<Result<never, CommandRefusal>> => {
    const now = await findAgent(sql, actor, agentId);
    return refused(now.ok && now.value.isArchived ? ARCHIVED : TOO_MANY);
  });
}

const TOO_MANY: CommandRefusal = {
  code: "TOO_LARGE",
  field: ["agentId"],
  message: `an agent has at most ${MOST_SCHEDULES} schedules: delete one of \`Agent.schedules\` first`,
};

/** The owner of a working agent reads its schedules again; the watch of an idle one begins again. */
function wakeFor({ kind }: Trigger): { readonly wake?: true; readonly watch?: true } {
  if (kind === "FILES") return { wake: true, watch: true };
  return kind === "STEPS" ? { wake: true } : {};
}

type FoundSchedule = {
  readonly id: string;
  readonly agentId: string;
  readonly trigger: unknown;
  readonly moves: number;
  readonly isPaused: boolean;
  readonly stepCount: number;
  readonly now: Date;
};

const FIND: Statement<FoundSchedule, [id: string]> = {
  name: "find_schedule",
  text: `SELECT s.id, s.agent_id AS "agentId", s.trigger, s.moves, s.paused_at IS NOT NULL AS "isPaused", a.step_count AS "stepCount", policy_time() AS now
    FROM schedule s JOIN agent a ON a.id = s.agent_id WHERE s.id = $1`,
};

type Steered = FoundSchedule & { readonly createdBy: string };

/** A change of a schedule; null if it is so already. */
type Change = {
  readonly change: Exclude<ScheduleChange, "CREATED" | "ENDED">;
  readonly make: (schedule: Steered, trigger: Trigger, at: Date) => Result<ScheduleMove | "delete" | null, CommandRefusal>;
};

/** The schedule triggers no more until it is resumed. Times that pass meanwhile do not count. */
export async function pauseSchedule(services: AgentServices, actor: Actor, id: string): Promise<Result<Outcome, CommandRefusal>> {
  return changeSchedule(services, actor, id, {
    change: "PAUSED",
    make: ({ moves, isPaused }, _trigger, pausedAt) => accepted(isPaused ? null : { id, moves, due: null, set: { pausedAt } }),
  });
}

/** The schedule triggers again, from its next time on. An interval begins anew. */
export async function resumeSchedule(
  services: AgentServices,
  actor: Actor,
  id: string,
): Promise<Result<Outcome, CommandRefusal>> {
  return changeSchedule(services, actor, id, {
    change: "RESUMED",
    make: ({ moves, isPaused, stepCount, now }, trigger) => {
      if (!isPaused) return accepted(null);
      const next = firstOf(trigger, stepCount, now);
      if (trigger.kind !== "FILES" && next.nextAt === null && next.nextStep === null)
        return refused({
          code: "INVALID",
          field: ["scheduleId"],
          message: "its time has passed while it was paused: delete it, and make another one",
        });
      return accepted({ id, moves, due: next.nextAt, set: { pausedAt: null, ...next } });
    },
  });
}

export async function deleteSchedule(
  services: AgentServices,
  actor: Actor,
  id: string,
): Promise<Result<Outcome, CommandRefusal>> {
  return changeSchedule(services, actor, id, { change: "DELETED", make: () => accepted("delete") });
}

/** The tries of a change that others were faster than: a schedule triggers once a minute at most. */
const TRIES = 10;

async function changeSchedule(
  { sql, log, clock }: AgentServices,
  actor: Actor,
  id: string,
  { change, make }: Change,
): Promise<Result<Outcome, CommandRefusal>> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const steered = await steeredSchedule(sql, actor, id);
    if (!steered.ok) return steered;
    const { agentId, createdBy, moves } = steered.value;
    const trigger = storedTrigger(steered.value.trigger);
    if (trigger === null) throw new Error(`a newer server has made schedule ${id}`);
    const at = clock.now();
    const made = make(steered.value, trigger, at);
    if (!made.ok) return made;
    if (made.value === null) return accepted({ id, position: null });
    const body: AgentEventBody = {
      kind: "SCHEDULE_CHANGED",
      taskId: id,
      spec: specOf(trigger),
      scheduleChange: change,
      changedBy: actorRef(actor),
    };
    const parts = made.value === "delete" ? { scheduleEnded: { id, moves } } : { schedulesMoved: [made.value] };
    const outcome = await log.commit(
      actor.tenant,
      { agentId, createdBy, events: [{ at, body }] },
      { ...parts, ...wakeFor(trigger) },
    );
    if (outcome.outcome === "COMMITTED") return accepted({ id, position: outcome.position });
  }
  throw new Error(`schedule ${id} could not be changed in ${TRIES} tries`);
}

async function steeredSchedule(sql: Sql, actor: Actor, id: string): Promise<Result<Steered, CommandRefusal>> {
  const [row] = await sql.query(FIND, [id]);
  const missing = "there is no such schedule, or it is over: list those of an agent with `Agent.schedules`";
  return findSteeredPart(sql, actor, { row, field: "scheduleId", missing, doing: "scheduling for" });
}
