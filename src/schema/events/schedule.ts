import type { BodyOf } from "../../events/event.ts";
import type { ScheduleChange } from "../../events/snapshots.ts";
import { globalId } from "../../lib/global-id.ts";
import { messageByRow } from "../../resolvers/message.ts";
import type { EventView } from "../../resolvers/timeline.ts";
import { scheduleByRow } from "../../resolvers/schedule.ts";
import { ActorRef } from "../actor.ts";
import { builder, described } from "../builder.ts";
import { Message } from "../message.ts";
import { Schedule, SchedulerTrigger } from "../schedule.ts";
import { eventType, TimelineEvent } from "./event.ts";

const ScheduleChangeKind = builder.enumType("ScheduleChange", {
  description: "A change of a schedule.",
  values: described<ScheduleChange>({
    CREATED: "It was made.",
    PAUSED: "It sends nothing until it is resumed.",
    RESUMED: "It sends reminders again.",
    DELETED: "An actor deleted it.",
    ENDED: "It has no further time.",
  }),
});

const ScheduleEvent = builder
  .interfaceRef<EventView<BodyOf<"SCHEDULER_TRIGGERED" | "SCHEDULE_CHANGED">>>("ScheduleEvent")
  .implement({
    description: "An event about a schedule.",
    interfaces: [TimelineEvent],
    fields: (t) => ({
      taskId: t.id({ description: "`id` of the schedule.", resolve: ({ body }) => globalId("Schedule", body.taskId) }),
      schedule: t.prismaField({
        type: Schedule,
        nullable: true,
        description: "The schedule as it is now. Null if it is over.",
        resolve: (query, { body }, _args, context) => scheduleByRow(context, body.taskId, query),
      }),
      spec: t.string({ description: "Its trigger in words.", resolve: ({ body }) => body.spec }),
    }),
  });

eventType("SCHEDULER_TRIGGERED").implement({
  description: "A schedule sent its reminder. REMINDER_SENT with the text follows.",
  interfaces: [TimelineEvent, ScheduleEvent],
  fields: (t) => ({
    trigger: t.field({ type: SchedulerTrigger, description: "Kind of its trigger.", resolve: ({ body }) => body.trigger }),
    triggeredAt: t.field({
      type: "DateTime",
      description: "Time at which it was triggered.",
      resolve: ({ body }) => body.triggeredAt,
    }),
    dueAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Time by its plan. Null if a step triggered it.",
      resolve: ({ body }) => body.dueAt,
    }),
    missed: t.int({
      description: "Number of its times since its last reminder that have none. The times of one outage count up to 100.",
      resolve: ({ body }) => body.missed,
    }),
    messageId: t.id({ description: "Id of its reminder.", resolve: ({ body }) => globalId("Message", body.messageId) }),
    receivedMessage: t.prismaField({
      type: Message,
      nullable: true,
      description: "The reminder as it is now.",
      resolve: (query, { body }, _args, context) => messageByRow(context, body.messageId, query),
    }),
  }),
});

eventType("SCHEDULE_CHANGED").implement({
  description: "A schedule was created, paused, resumed or deleted, or it is over.",
  interfaces: [TimelineEvent, ScheduleEvent],
  fields: (t) => ({
    scheduleChange: t.field({
      type: ScheduleChangeKind,
      description: "The change.",
      resolve: ({ body }) => body.scheduleChange,
    }),
    changedBy: t.field({ type: ActorRef, description: "Actor that made the change.", resolve: ({ body }) => body.changedBy }),
  }),
});
