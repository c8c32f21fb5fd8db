import type { TodoItem as Item } from "../events/snapshots.ts";
import { builder } from "./builder.ts";
import { TodoStatus } from "./enums.ts";

export const TodoItem = builder.objectRef<Item>("TodoItem").implement({
  description: "An entry of the agent's todo list.",
  fields: (t) => ({
    todoId: t.exposeID("id", { description: "Id given by the agent, unique within the list." }),
    title: t.exposeString("title", { nullable: true, description: "Title. Null if it was erased." }),
    status: t.expose("status", { type: TodoStatus, description: "Progress of the entry." }),
    assignee: t.exposeString("assignee", { nullable: true, description: "Assignee. Null if there is none." }),
    notes: t.exposeString("notes", { nullable: true, description: "Notes. Null if there are none." }),
  }),
});
