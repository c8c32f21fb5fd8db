import type { CompactionPatch } from "./compaction-rows.ts";
import type { AgentPatch, KnownFileRow, NewMessage, NewToolCall, OwnerChange, StepEnd, ToolCallPatch } from "./change.ts";

export type ColumnType =
  | "text"
  | "int"
  | "bigint"
  | "double precision"
  | "boolean"
  | "json"
  | "jsonb"
  | "timestamptz"
  | "agent_state"
  | "breakpoint"
  | "step_state"
  | "message_kind"
  | "actor_kind"
  | "tool_call_state";

export type Column = ColumnType | `${ColumnType}?`;

export type Columns<Field extends string = string> = { readonly [Name in Field]: Column };

type ColumnsOf<Input> = { readonly [Name in keyof Input]-?: null extends Input[Name] ? `${ColumnType}?` : ColumnType };

/** The columns of an agent that a commit may set, without `lastActivityAt`, which never decreases. */
export const AGENT_PATCH = {
  state: "agent_state",
  breakpoint: "breakpoint",
  turn: "int",
  stepCount: "int",
  transcriptLength: "int",
  lastSfpIndex: "int",
  interruptAt: "timestamptz?",
  interruptNote: "text?",
  leaseOwner: "text?",
  leaseUntil: "timestamptz?",
  runnableAt: "timestamptz?",
  needs: "int",
  doneReason: "text?",
} as const satisfies ColumnsOf<Omit<AgentPatch, "lastActivityAt">>;

export const STEP_END = {
  state: "step_state",
  stopReason: "text?",
  inputTokens: "int?",
  outputTokens: "int?",
  outputIsEstimated: "boolean",
  cacheReadTokens: "int?",
  cacheWriteTokens: "int?",
  contextTokens: "int?",
  contextBytes: "int?",
  contextWindow: "int?",
  request: "json?",
  costUsd: "double precision?",
  completedAt: "timestamptz?",
  errorType: "text?",
} as const satisfies ColumnsOf<StepEnd>;

export const STEP = {
  agentId: "text",
  step: "int",
  tenant: "text",
  turn: "int",
  model: "text",
  startedAt: "timestamptz",
  ...STEP_END,
  copiedFrom: "text?",
} as const satisfies ColumnsOf<NonNullable<OwnerChange["stepStart"]>>;

export const MESSAGE = {
  id: "text",
  tenant: "text",
  agentId: "text",
  kind: "message_kind",
  content: "json?",
  bytes: "int",
  ordinal: "int?",
  turn: "int?",
  step: "int?",
  createdAt: "timestamptz",
  arrival: "int?",
  createdBy: "text?",
  createdByKind: "actor_kind?",
  erasedAt: "timestamptz?",
  withdrawnAt: "timestamptz?",
  reminder: "json?",
} as const satisfies ColumnsOf<Omit<NewMessage, "shape">>;

export const TOOL_CALL_PATCH = {
  state: "tool_call_state",
  attempt: "int",
  effectiveInput: "json?",
  ruleValues: "json?",
  inputHash: "text?",
  output: "text?",
  details: "json?",
  images: "json?",
  keptOutputBytes: "int?",
  error: "json?",
  isError: "boolean",
  explanation: "json?",
  verdict: "text?",
  hookVerdict: "text?",
  stages: "json?",
  startedAt: "timestamptz?",
  completedAt: "timestamptz?",
  durationMs: "double precision?",
  cachedFrom: "text?",
  exitCode: "int?",
  hosts: "jsonb?",
  updatedAt: "timestamptz",
} as const satisfies ColumnsOf<ToolCallPatch>;

export const TOOL_CALL = {
  id: "text",
  tenant: "text",
  agentId: "text",
  turn: "int",
  step: "int",
  ordinal: "int",
  providerId: "text",
  name: "text",
  requestedInput: "json?",
  auditTrail: "jsonb",
  createdAt: "timestamptz",
  ...TOOL_CALL_PATCH,
  cancelRequested: "json?",
  copiedFrom: "text?",
  todos: "json?",
  erasedAt: "timestamptz?",
} as const satisfies ColumnsOf<NewToolCall>;

/** The columns that the steps of a compaction set, from state to state. */
export const COMPACTION_PATCH = {
  state: "text",
  fromOrdinal: "int?",
  toOrdinal: "int?",
  wordsFrom: "int?",
  summary: "text?",
  restated: "text?",
  model: "text?",
  tokensBefore: "int?",
  tokensAfter: "int?",
  contentHash: "text?",
  failure: "text?",
  inputTokens: "int?",
  outputTokens: "int?",
  outputIsEstimated: "boolean",
  cacheReadTokens: "int?",
  cacheWriteTokens: "int?",
  costUsd: "double precision?",
  epoch: "int?",
  appliedAtStep: "int?",
  startedAt: "timestamptz?",
  endedAt: "timestamptz?",
} as const satisfies ColumnsOf<CompactionPatch>;

/**
 * The columns of a known file that its last reading or writing call sets, without `isWhole`, which stays true for the
 * same content.
 */
export const KNOWN_FILE_PATCH = {
  access: "text",
  digest: "text",
  bytes: "bigint",
  modifiedAt: "timestamptz",
  stamp: "text",
  callId: "text",
  at: "timestamptz",
} as const satisfies ColumnsOf<Omit<KnownFileRow, "agentId" | "path" | "tenant" | "isWhole">>;

export const KNOWN_FILE = {
  agentId: "text",
  path: "text",
  tenant: "text",
  isWhole: "boolean",
  ...KNOWN_FILE_PATCH,
} as const satisfies ColumnsOf<KnownFileRow>;
