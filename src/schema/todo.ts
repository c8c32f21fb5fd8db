import type { TodoItem as Item } from "../events/snapshots.ts";
import { builder } from "./builder.ts";
import { TodoStatus } from "./enums.ts";

export const TodoItem = builder.objectRef<Item>("TodoItem").implement({
  description: "An entry of an agent's todo list.",
  fields: (t) => ({
    todoId: t.exposeID("id", { description: "Unique in the list; given by the agent." }),
    title: t.exposeString("title", { nullable: true, description: "What is to be done; null where that was erased." }),
    status: t.expose("status", { type: TodoStatus, description: "How far it has come." }),
    assignee: t.exposeString("assignee", { nullable: true, description: "Who does it." }),
    notes: t.exposeString("notes", { nullable: true, description: "What else is known of it." }),
  }),
});
