import type { TodoSnapshot } from "./snapshots.ts";

/** At the start of a turn, after a number of steps, or because the list was emptied. */
export type TodoReason = "STARTUP" | "INTERVAL" | "EMPTIED";

/** The events of an agent's todo list. The todos of a reminder are the open ones. */
export type TodoEvent =
  | { readonly kind: "TODO_CHANGED"; readonly previousTodos: readonly TodoSnapshot[]; readonly todos: readonly TodoSnapshot[] }
  | { readonly kind: "TODO_REMINDER"; readonly todoReason: TodoReason; readonly todos: readonly TodoSnapshot[] };
