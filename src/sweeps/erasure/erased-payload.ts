import type { EventKind } from "../../events/event.ts";
import type { Json, JsonObject } from "../../lib/json.ts";

/** Contents that a retention time erases: those of tool calls, of messages, and of approvals. */
export const ERASED_CONTENTS = ["TOOL_CALLS", "MESSAGES", "APPROVALS"] as const;
export type ErasedContent = (typeof ERASED_CONTENTS)[number];

/** A field of a payload with a text, by its path through objects and lists, and the contents that it repeats. */
type TextField = { readonly path: readonly string[]; readonly of: readonly ErasedContent[] };

const fields = (of: ErasedContent | readonly ErasedContent[], ...paths: readonly string[]): readonly TextField[] =>
  paths.map((path) => ({ path: path.split("."), of: typeof of === "string" ? [of] : of }));

const callAt = (path: string): readonly TextField[] => [
  ...fields("TOOL_CALLS", `${path}.inputPreview`, `${path}.output`, `${path}.error.message`),
  ...fields("APPROVALS", `${path}.approval.note`),
];
const NONE: readonly TextField[] = [];
const CALL = callAt("call");
const DELTA = fields("MESSAGES", "delta");
const TEXT = fields("MESSAGES", "text");
const COMMAND = fields("TOOL_CALLS", "command");
const ENDED = fields("TOOL_CALLS", "error.message");
const BOTH = ["TOOL_CALLS", "MESSAGES"] as const;

/** The fields with texts, by kind. Texts about rules, budgets, memory and the configuration are no content of an agent. */
const TEXTS: Readonly<Record<EventKind, readonly TextField[]>> = {
  MESSAGE_RECEIVED: TEXT,
  MESSAGE_WITHDRAWN: NONE,
  TEXT_CHUNK_START: NONE,
  TEXT_CHUNK: DELTA,
  TEXT_CHUNK_END: TEXT,
  THINK_CHUNK_START: NONE,
  THINK_CHUNK: DELTA,
  THINK_CHUNK_END: TEXT,
  TOOL_START: CALL,
  TOOL_WAITING: CALL,
  TOOL_END: CALL,
  AGENT_SPAWNED: fields(BOTH, "description"),
  AGENT_RETURNED: fields(BOTH, "text"),
  TOOL_ERROR: [...CALL, ...fields("TOOL_CALLS", "error")],
  DONE: fields("MESSAGES", "value", "problems"),
  PERMISSION_REQUIRED: [
    ...callAt("request.call"),
    ...fields("APPROVALS", "request.call.inputPreview", "request.reason", "request.meta", "request.question"),
  ],
  PERMISSION_DECIDED: fields("APPROVALS", "note"),
  PERMISSION_CLOSED: fields("APPROVALS", "note"),
  AGENT_CREATED: NONE,
  AGENT_RENAMED: NONE,
  AGENT_ARCHIVED: NONE,
  AGENT_UNARCHIVED: NONE,
  STATE_CHANGED: NONE,
  BREAKPOINT_CHANGED: NONE,
  STEP_COMPLETE: NONE,
  TOKEN_USAGE: NONE,
  TOOL_EXECUTED: CALL,
  ERROR: fields("MESSAGES", "message", "detail"),
  INTERRUPT_REQUESTED: fields("MESSAGES", "note"),
  TURN_RETRY_REQUESTED: NONE,
  TOOL_CANCEL_REQUESTED: fields("TOOL_CALLS", "note"),
  AGENT_RESUMED: callAt("sealed"),
  STORAGE_FAILURE: NONE,
  TODO_CHANGED: fields("TOOL_CALLS", "previousTodos.title", "previousTodos.notes", "todos.title", "todos.notes"),
  TODO_REMINDER: fields("TOOL_CALLS", "todos.title", "todos.notes"),
  SHELL_STARTED: COMMAND,
  SHELL_ENDED: COMMAND,
  FILE_CHANGED: fields("TOOL_CALLS", "files.path"),
  TEMPLATE_CHANGED: NONE,
  CONTEXT_COMPRESSION: fields("MESSAGES", "summary", "instruction", "failure"),
  TOOL_MANUAL_UPDATED: NONE,
  MEMORY_CHANGED: NONE,
  REMINDER_SENT: fields("MESSAGES", "content"),
  SCHEDULER_TRIGGERED: NONE,
  SCHEDULE_CHANGED: NONE,
  EXECUTION_STARTED: fields("TOOL_CALLS", "inputPreview", "parameters"),
  STAGE_STARTED: NONE,
  STAGE_COMPLETED: NONE,
  EXECUTION_COMPLETED: fields("TOOL_CALLS", "result"),
  EXECUTION_FAILED: ENDED,
  EXECUTION_ABORTED: ENDED,
  TOOL_CUSTOM_EVENT: fields("TOOL_CALLS", "eventData"),
  BUDGET_WARNED: NONE,
  BUDGET_ASKED: NONE,
  BUDGET_RAISED: NONE,
  BUDGET_STOPPED: NONE,
  BUDGET_SET: NONE,
  BUDGET_REVOKED: NONE,
  ALLOW_RULE_STORED: NONE,
  ALLOW_RULE_REVOKED: NONE,
  DELEGATION_STARTED: NONE,
  DELEGATION_ENDED: NONE,
  TOOL_ACCEPTED: NONE,
  AGENT_DELETED: NONE,
  ACCESS_TOKEN_CREATED: NONE,
  ACCESS_TOKEN_REVOKED: NONE,
  EXPORT_CREATED: NONE,
  EXPORT_ENDED: NONE,
  CONFIGURATION_CHANGED: NONE,
  SNOOZE_CHANGED: NONE,
};

/** The kinds whose payloads repeat such contents. */
export function kindsWith(content: ErasedContent): readonly EventKind[] {
  return (Object.keys(TEXTS) as EventKind[]).filter((kind) => TEXTS[kind].some(({ of }) => of.includes(content)));
}

/** A stored payload without its texts of these contents; null if it has none. */
export function erasedPayload(kind: EventKind, stored: string, content: ErasedContent): string | null {
  const own = TEXTS[kind].filter(({ of }) => of.includes(content));
  const payload = JSON.parse(stored) as JsonObject;
  const erased = own.reduce<Json>((value, { path }) => without(value, path), payload);
  return JSON.stringify(erased) === JSON.stringify(payload)
    ? null
    : JSON.stringify({ ...(erased as JsonObject), isErased: true });
}

/** The value with null at the end of the path. Pieces of a text stay pieces: their text is empty. */
function without(value: Json, [field, ...rest]: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((item: Json) => without(item, field === undefined ? [] : [field, ...rest]));
  if (field === undefined || typeof value !== "object" || value === null) return value;
  const object = value as JsonObject;
  const inner = object[field];
  if (inner === undefined || inner === null) return value;
  if (rest.length > 0) return { ...object, [field]: without(inner, rest) };
  return { ...object, [field]: field === "delta" ? "" : null };
}
