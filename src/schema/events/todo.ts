import { TodoItem } from "../agent-state.ts";
import { builder, described } from "../builder.ts";
import type { TodoReason } from "../../events/todo-event.ts";
import { eventType, TimelineEvent } from "./event.ts";

const TodoReminderReason = builder.enumType("TodoReminderReason", {
  description: "Reason of a reminder of todos.",
  values: described<TodoReason>({
    STARTUP: "A turn started with open todos.",
    INTERVAL: "The agent took a number of steps without changing the list.",
    EMPTIED: "The list was emptied.",
  }),
});

eventType("TODO_REMINDER").implement({
  description: "The agent is reminded of its todo list, by a message that the model reads.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    todoReason: t.field({ type: TodoReminderReason, description: "Reason.", resolve: ({ body }) => body.todoReason }),
    todos: t.field({
      type: [TodoItem],
      description: "Open todos, at most 200 entries. Empty for EMPTIED.",
      resolve: ({ body }) => [...body.todos],
    }),
  }),
});
