import { Type } from "typebox";
import type { TodoItem } from "../../events/snapshots.ts";
import type { JsonObject } from "../../lib/json.ts";
import { closed } from "../../lib/setting.ts";
import { byteLength } from "../../lib/text.ts";
import { defineTool, optional } from "./tool.ts";

/** The largest list in bytes of JSON: two of them fit into a TODO_CHANGED event. */
const LIST_BYTES = 24 * 1024;

export const TODO_WRITE = "todo_write";

const ITEM = closed({
  id: Type.String({ minLength: 1, maxLength: 64, description: "Unique in the list." }),
  title: Type.String({ minLength: 1, maxLength: 500, pattern: "\\S" }),
  status: Type.Enum(["pending", "in_progress", "completed"], { type: "string" }),
  assignee: optional(Type.String({ maxLength: 100 })),
  notes: optional(Type.String({ maxLength: 2_000 })),
});

export const todoRead = defineTool({
  name: "todo_read",
  description: "Reads your todo list.",
  readOnly: true,
  idempotent: true,
  inputSchema: Type.Object({}, { required: [], additionalProperties: false }),
  async run(_input, { todos }) {
    const list = await todos.read();
    return {
      output: list.length === 0 ? "The list is empty." : list.map(describeTodo).join("\n"),
      details: { todos: list.map(toDetails) },
    };
  },
});

export const todoWrite = defineTool({
  name: TODO_WRITE,
  description: "Replaces your todo list. Give the whole list; at most one entry may be in_progress.",
  readOnly: false,
  inputSchema: closed({ todos: Type.Array(ITEM, { maxItems: 200 }) }),
  async run({ todos: input }, { todos }) {
    const list = input.map((item): TodoItem => ({
      id: item.id,
      title: item.title,
      status: item.status,
      assignee: item.assignee ?? null,
      notes: item.notes ?? null,
    }));
    check(list);
    await todos.write(list);
    return {
      output:
        list.length === 0
          ? "The list is empty now."
          : `Saved ${list.length} ${list.length === 1 ? "todo" : "todos"}:\n${list.map(describeTodo).join("\n")}`,
      details: { ok: true, count: list.length },
    };
  },
});

function check(list: readonly TodoItem[]): void {
  const ids = list.map((item) => item.id);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) throw new Error(`two todos have the id ${JSON.stringify(repeated)}: give each its own`);
  if (list.filter((item) => item.status === "in_progress").length > 1)
    throw new Error("more than one todo is in_progress: work on one at a time");
  if (byteLength(JSON.stringify(list)) > LIST_BYTES)
    throw new Error(`the list is larger than ${LIST_BYTES / 1024} KB: shorten titles and notes, or drop what is completed`);
}

export function describeTodo(item: TodoItem): string {
  const box = { pending: "[ ]", in_progress: "[~]", completed: "[x]" }[item.status];
  return `${box} ${item.id}: ${item.title}${item.assignee === null ? "" : ` (${item.assignee})`}${item.notes === null ? "" : ` — ${item.notes}`}`;
}

function toDetails(item: TodoItem): JsonObject {
  return { ...item };
}
