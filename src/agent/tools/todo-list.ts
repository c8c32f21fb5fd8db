import type { TodoItem } from "../../events/snapshots.ts";

export type TodoList = {
  read(): Promise<readonly TodoItem[]>;
  /** Replaces the list and appends TODO_CHANGED, in one transaction. */
  write(todos: readonly TodoItem[]): Promise<void>;
};
