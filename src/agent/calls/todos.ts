import { Type } from "typebox";
import type { Sql, Statement } from "../../db/sql.ts";
import type { TodoItem } from "../../events/snapshots.ts";
import type { TodoReason } from "../../events/todo-event.ts";
import { withDefault, type Complete } from "../../lib/setting.ts";
import type { TodoList } from "../tools/todo-list.ts";

export const TODO_SETTINGS = {
  /** True if the first step of a turn reminds the model of its open todos. False if omitted. */
  reminderOnStart: withDefault(Type.Boolean(), false),
  /**
   * The model is reminded of its open todos after this number of steps without a change of the list, and without another
   * reminder. Never for null, or if omitted.
   */
  remindIntervalSteps: withDefault(Type.Unsafe<number | null>({ type: ["integer", "null"], minimum: 1 }), null),
  /** True if the step that follows tells the model that it has emptied its list. True if omitted. */
  remindWhenEmptied: withDefault(Type.Boolean(), true),
};

export type TodoSettings = Complete<typeof TODO_SETTINGS>;

/** A new list in the place of another, as a call writes it. */
export type TodoWrite = {
  readonly callId: string;
  readonly previousTodos: readonly TodoItem[];
  readonly todos: readonly TodoItem[];
  readonly remindWhenEmptied: boolean;
};

export type TodoReminder = { readonly todoReason: Exclude<TodoReason, "EMPTIED">; readonly todos: readonly TodoItem[] };

type WritingCall = Pick<TodoWrite, "callId" | "remindWhenEmptied"> & { readonly agentId: string; readonly ended: AbortSignal };

const READ: Statement<TodoItem, [agentId: string]> = {
  name: "read_todos",
  text: "SELECT id, title, status, assignee, notes FROM todo WHERE agent_id = $1 ORDER BY place",
};

/** The todo list of one agent, as one of its calls reads and writes it. `commit` is false if the lease is lost. */
export function todoList(
  sql: Sql,
  { agentId, callId, ended, remindWhenEmptied }: WritingCall,
  commit: (write: TodoWrite) => Promise<boolean>,
): TodoList {
  const read = (): Promise<TodoItem[]> => sql.query(READ, [agentId]);
  return {
    read,
    async write(todos) {
      const previousTodos = await read();
      if (ended.aborted) throw new Error("the call has ended: its result is dropped");
      if (!(await commit({ callId, previousTodos, todos, remindWhenEmptied })))
        throw new Error("the list could not be saved: this server no longer holds the agent");
    },
  };
}

const READ_OPEN: Statement<TodoItem, [agentId: string, afterStep: number | null]> = {
  name: "read_open_todos",
  text: `SELECT id, title, status, assignee, notes FROM todo WHERE agent_id = $1 AND status <> 'completed'
      AND ($2::int IS NULL OR NOT EXISTS (SELECT FROM tool_call t WHERE t.agent_id = $1 AND t.step > $2 AND t.todos IS NOT NULL)
        AND NOT EXISTS (SELECT FROM notice n WHERE n.agent_id = $1 AND n.source = 'TODO' AND n.told_at_step > $2))
    ORDER BY place`,
};

type Counts = { readonly id: string; readonly stepCount: number; readonly stepsInTurn: number };

/** The reminder that is due with the next step of an agent; null for none. */
export async function dueReminder(
  sql: Sql,
  { id, stepCount, stepsInTurn }: Counts,
  { reminderOnStart, remindIntervalSteps }: TodoSettings,
): Promise<TodoReminder | null> {
  const isStart = reminderOnStart && stepsInTurn === 0;
  const intervalSince = stepCount + 1 - (remindIntervalSteps ?? Infinity);
  // A list is written by a step.
  if (!isStart && intervalSince < 1) return null;
  const todos = await sql.query(READ_OPEN, [id, isStart ? null : intervalSince]);
  return todos.length === 0 ? null : { todoReason: isStart ? "STARTUP" : "INTERVAL", todos };
}
