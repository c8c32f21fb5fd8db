import type { Sql, Statement } from "../db/sql.ts";
import type { TodoItem } from "../events/event.ts";
import type { Hold } from "./hold.ts";
import type { Look } from "./look.ts";
import { unchanged } from "./look-after.ts";
import type { TodoList } from "./tools/tool.ts";

const READ: Statement = {
  name: "read_todos",
  text: "SELECT id, title, status, assignee, notes FROM todo WHERE agent_id = $1 ORDER BY place",
};

/** The agent's todo list as a call reads and writes it, until `ended` aborts. */
export function todoList(sql: Sql, agent: Pick<Look, "id" | "tenant">, hold: Hold, ended: AbortSignal): TodoList {
  const read = (): Promise<TodoItem[]> => sql.query<TodoItem>(READ, [agent.id]);
  return {
    read,
    async write(todos) {
      const previousTodos = await read();
      if (ended.aborted) throw new Error("the call has ended: its result is dropped");
      const rows = todos.map((item, place) => ({ ...item, place, agentId: agent.id, tenant: agent.tenant }));
      const isCommitted = await hold.commit({ todos: rows }, [{ kind: "TODO_CHANGED", previousTodos, todos }], unchanged);
      if (!isCommitted) throw new Error("the list could not be saved: this server does not hold the agent any more");
    },
  };
}
