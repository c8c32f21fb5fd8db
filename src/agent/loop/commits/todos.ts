import type { NoticeRow } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { TodoItem } from "../../../events/snapshots.ts";
import type { TodoReason } from "../../../events/todo-event.ts";
import { headBytes } from "../../../lib/text.ts";
import { notice } from "../../calls/notices.ts";
import type { TodoReminder, TodoWrite } from "../../calls/todos.ts";
import { describeTodo } from "../../tools/todo.ts";
import { compose, noticed, type Commit } from "./commit.ts";

/** The most todos that a reminder names, and the most bytes of each. */
const NAMED = { todos: 20, bytes: 200 };

const EMPTIED = "Your todo list is empty. If work is left, write it down with todo_write.";

type AgentIds = { readonly id: string; readonly tenant: string };

/** A call replaces the agent's todo list. The step that follows tells the model that the list was emptied. */
export function todosWritten(agent: AgentIds, { callId, previousTodos, todos, remindWhenEmptied }: TodoWrite, at: Date): Commit {
  const isEmptied = remindWhenEmptied && todos.length === 0 && previousTodos.length > 0;
  const notices = isEmptied ? [reminder(agent, "EMPTIED", EMPTIED, at)] : [];
  const dropped = todos.length === 0 ? [] : [{ source: "TODO", ref: "EMPTIED" } as const];
  return {
    change: {
      todos: todos.map((item, place) => ({ ...item, place, agentId: agent.id, tenant: agent.tenant })),
      todosBy: callId,
      notices,
      noticesDropped: dropped,
    },
    events: [
      { kind: "TODO_CHANGED", previousTodos, todos },
      ...(isEmptied ? [{ kind: "TODO_REMINDER", todoReason: "EMPTIED", todos } as const] : []),
    ],
    after: compose(noticed(notices), (view) => ({
      ...view,
      notices: view.notices.filter(({ source, ref }) => !dropped.some((each) => each.source === source && each.ref === ref)),
    })),
  };
}

export type TodoNews = { readonly notices: readonly NoticeRow[]; readonly events: readonly AgentEventBody[] };

/** The reminder that this step tells; null for none. */
export function todosReminded(agent: AgentIds, due: TodoReminder | null, at: Date, step: number): TodoNews {
  if (due === null) return { notices: [], events: [] };
  return {
    notices: [reminder(agent, due.todoReason, openText(due.todos), at, step)],
    events: [{ kind: "TODO_REMINDER", ...due }],
  };
}

function reminder(agent: AgentIds, ref: TodoReason, text: string, at: Date, step: number | null = null): NoticeRow {
  return notice(agent, { source: "TODO", ref, text }, at, step);
}

function openText(todos: readonly TodoItem[]): string {
  const named = todos.slice(0, NAMED.todos).map((item) => headBytes(describeTodo(item), NAMED.bytes));
  const more = todos.length - named.length;
  return [
    `Your todo list has ${todos.length} open ${todos.length === 1 ? "todo" : "todos"}:`,
    ...named,
    ...(more > 0 ? [`and ${more} more: todo_read has all`] : []),
    "Continue with them, or bring the list up to date with todo_write.",
  ].join("\n");
}
