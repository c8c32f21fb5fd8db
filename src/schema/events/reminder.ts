import { globalId } from "../../lib/global-id.ts";
import { messageByRow } from "../../resolvers/message.ts";
import { ActorRef } from "../actor.ts";
import { ReminderCategory, ReminderPriority } from "../enums.ts";
import { Message } from "../message.ts";
import { eventType, TimelineEvent } from "./event.ts";

eventType("REMINDER_SENT").implement({
  description: "A reminder was sent to the agent: by a person, a program, a tool or a schedule.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    messageId: t.id({ description: "Id of its message.", resolve: ({ body }) => globalId("Message", body.messageId) }),
    category: t.field({ type: ReminderCategory, description: "Subject of the reminder.", resolve: ({ body }) => body.category }),
    priority: t.field({
      type: ReminderPriority,
      description: "Importance of the reminder.",
      resolve: ({ body }) => body.priority,
    }),
    content: t.string({
      nullable: true,
      description: "Text of the reminder. Null if it was erased.",
      resolve: ({ body }) => body.content,
    }),
    startsTurn: t.boolean({
      description: "True if an idle agent begins a turn for it.",
      resolve: ({ body }) => body.startsTurn,
    }),
    sentBy: t.field({ type: ActorRef, description: "Actor that sent the reminder.", resolve: ({ body }) => body.sentBy }),
    receivedMessage: t.prismaField({
      type: Message,
      nullable: true,
      description: "The message as it is now.",
      resolve: (query, { body }, _args, context) => messageByRow(context, body.messageId, query),
    }),
  }),
});
