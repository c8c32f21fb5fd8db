import type { JSONSchemaType } from "ajv";
import type { TodoItem } from "../../events/event.ts";
import type { JsonObject } from "../../lib/json.ts";
import { byteLength } from "../../lib/text.ts";
import { defineTool } from "./tool.ts";

type TodoInput = { id: string; title: string; status: TodoItem["status"]; assignee?: string; notes?: string };

/** The largest list in bytes of JSON: two of them fit into a TODO_CHANGED event. */
const LIST_BYTES = 24 * 1024;

const ITEM: JSONSchemaType<TodoInput> = {
  type: "object",
  required: ["id", "title", "status"],
  additionalProperties: false,
  properties: {
    id: { type: "string", minLength: 1, maxLength: 64, description: "Unique in the list." },
    title: { type: "string", minLength: 1, maxLength: 500, pattern: "\\S" },
    status: { type: "string", enum: ["pending", "in_progress", "completed"] },
    assignee: { type: "string", maxLength: 100, nullable: true },
    notes: { type: "string", maxLength: 2_000, nullable: true },
  },
};

/** Reads the agent's todo list. */
export const todoRead = defineTool<Record<string, never>>({
  name: "todo_read",
  description: "Reads your todo list.",
  readOnly: true,
  idempotent: true,
  inputSchema: { type: "object", required: [], properties: {}, additionalProperties: false },
  async run(_input, { todos }) {
    const list = await todos.read();
    return {
      output: list.length === 0 ? "The list is empty." : list.map(describe).join("\n"),
      details: { todos: list.map(toDetails) },
    };
  },
});

/** Replaces the agent's todo list. */
export const todoWrite = defineTool<{ todos: TodoInput[] }>({
  name: "todo_write",
  description: "Replaces your todo list. Give the whole list; at most one entry may be in_progress.",
  readOnly: false,
  inputSchema: {
    type: "object",
    required: ["todos"],
    additionalProperties: false,
    properties: { todos: { type: "array", maxItems: 200, items: ITEM } },
  },
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
      output: list.length === 0 ? "The list is empty now." : `Saved ${list.length} todos:\n${list.map(describe).join("\n")}`,
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

function describe(item: TodoItem): string {
  const box = { pending: "[ ]", in_progress: "[~]", completed: "[x]" }[item.status];
  return `${box} ${item.id}: ${item.title}${item.assignee === null ? "" : ` (${item.assignee})`}${item.notes === null ? "" : ` — ${item.notes}`}`;
}

function toDetails(item: TodoItem): JsonObject {
  return { ...item };
}
