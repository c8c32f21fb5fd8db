import { MISSED_POLICIES, type MissedPolicy as Policy } from "../agent/calls/schedules/look.ts";
import type { TriggerKind } from "../events/snapshots.ts";
import { schedules, triggerOf } from "../resolvers/schedule.ts";
import { ActorRef } from "./actor.ts";
import { builder, connectionOf, described, nodesSelection } from "./builder.ts";

export const SchedulerTrigger = builder.enumType("SchedulerTrigger", {
  description: "Kind of the condition under which a schedule sends its reminder.",
  values: described<TriggerKind>({
    STEPS: "A number of steps of the agent.",
    TIME: "A time.",
    INTERVAL: "Elapsed time.",
    CRON: "A wall clock in a time zone.",
    FILES: "Changed files of the workspace, while the agent is idle.",
  }),
});

export const MissedPolicy = builder.enumType("MissedPolicy", {
  description: "Policy for missed times: no server ran, or the last reminder still waited.",
  values: described<Policy>({
    SKIP: "They have no reminder. A time that is more than a minute late is skipped as well.",
    ONCE: "One reminder for all of them. Its text says how many were missed.",
    ALL: "A reminder for each, at most 10; the older ones are counted.",
  }),
});

export const Schedule = builder.prismaNode("Schedule", {
  id: { field: "id", description: "Relay id of the schedule." },
  description:
    "A reminder that is sent to an agent again and again, or once at a time. A schedule that is over does not exist any more.",
  fields: (t) => ({
    agent: t.relation("agent", { description: "Agent that gets the reminders." }),
    text: t.exposeString("text", { description: "Text of the reminders." }),
    trigger: t.field({
      type: SchedulerTrigger,
      nullable: true,
      description: "Kind of its trigger. Null if a newer server made the schedule.",
      select: { trigger: true },
      resolve: ({ trigger }) => triggerOf(trigger).kind,
    }),
    spec: t.string({
      description: "The trigger in words, for example `every 5 steps` or `0 9 * * 1-5 (Europe/Berlin)`.",
      select: { trigger: true },
      resolve: ({ trigger }) => triggerOf(trigger).spec,
    }),
    missed: t.field({
      type: MissedPolicy,
      description: "Policy for missed times.",
      select: { missed: true },
      resolve: ({ missed }) => MISSED_POLICIES.find((known) => known === missed) ?? "ONCE",
    }),
    nextAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Next time. Null if steps trigger it, or while it is paused.",
      select: { nextAt: true, pausedAt: true },
      resolve: ({ nextAt, pausedAt }) => (pausedAt === null ? nextAt : null),
    }),
    nextStep: t.field({
      type: "Int",
      nullable: true,
      description: "Next step that triggers it. Null if time triggers it, or while it is paused.",
      select: { nextStep: true, pausedAt: true },
      resolve: ({ nextStep, pausedAt }) => (pausedAt === null ? nextStep : null),
    }),
    triggerCount: t.exposeInt("triggered", { description: "Number of reminders that it has sent." }),
    lastTriggeredAt: t.expose("lastTriggeredAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of its last reminder. Null before the first.",
    }),
    pausedAt: t.expose("pausedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of its pause. Null if it is not paused.",
    }),
    isOfTemplate: t.exposeBoolean("isOfTemplate", { description: "True if the template of its agent declares it." }),
    createdBy: t.field({
      type: ActorRef,
      description: "Actor that made it: the sender of its reminders.",
      select: { createdBy: true, createdByKind: true },
      resolve: (row) => ({ id: row.createdBy, kind: row.createdByKind }),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Creation time." }),
  }),
});

const ScheduleFilter = builder.inputType("ScheduleFilter", {
  description: "Filter for schedules. All given conditions must match.",
  fields: (t) => ({
    isPaused: t.boolean({ description: "True for paused schedules only, false for all others." }),
  }),
});

builder.queryField("schedules", (t) =>
  t.connection(
    {
      type: Schedule,
      description: "Schedules of the agents that the viewer may see, oldest first.",
      args: { filter: t.arg({ type: ScheduleFilter, description: "Filter. All schedules if omitted." }) },
      resolve: (_root, args, context, info) => schedules(context, args, nodesSelection(context, info)),
    },
    connectionOf("Schedule", Schedule),
  ),
);
