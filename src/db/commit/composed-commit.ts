import { storableJson } from "../../lib/json.ts";
import { storable } from "../../lib/text.ts";
import type { Statement } from "../sql.ts";
import type { OwnerChange, NewToolCall, ToolCallAudit, ToolCallPatch, ToolCallTransition } from "./change.ts";
import {
  AGENT_PATCH,
  KNOWN_FILE,
  MESSAGE,
  STEP,
  STEP_END,
  TOOL_CALL,
  TOOL_CALL_PATCH,
  type Column,
  type Columns,
} from "./columns.ts";
import { commitText, mayBeNull, ownColumns, SHAPES, shapeName, type Count, type Shape } from "./commit-text.ts";
import { isComposable } from "./parts.ts";

/** The seq and the position before a commit's events, and how often the agent had been signalled. */
export type CommitPlace = {
  base_seq: number;
  base_position: string | number;
  signal: number;
  ancestors: readonly string[] | null;
};

/**
 * The statement of a change, and its values. The common parameters precede them: tenant, agent, owner, epoch, write id,
 * event columns.
 */
export type ComposedCommit = { readonly statement: Statement<CommitPlace>; readonly values: readonly unknown[] };

const STATEMENTS = new Map(
  SHAPES.map((shape): [string, Statement<CommitPlace>] => {
    const name = shapeName(shape);
    return [name, { name, text: commitText(shape) }];
  }),
);

type Encoding<Field extends string> = {
  readonly field: Field;
  readonly mayBeNull: boolean;
  readonly encode: (value: unknown) => unknown;
};

const ENCODINGS = {
  agentPatch: encodingsOf(AGENT_PATCH),
  stepEnd: encodingsOf(STEP_END),
  toolCallPatch: encodingsOf(TOOL_CALL_PATCH),
  message: encodingsOf(MESSAGE),
  toolCall: encodingsOf(TOOL_CALL),
  stepStart: encodingsOf(STEP),
  knownFile: encodingsOf(KNOWN_FILE),
};

function encodingsOf<Field extends string>(columns: Columns<Field>): readonly Encoding<Field>[] {
  return ownColumns(columns).map(([field, column]) => ({ field, mayBeNull: mayBeNull(column), encode: encoderOf(column) }));
}

/** The driver's form of a value; in texts, characters that PostgreSQL cannot store are replaced. */
function encoderOf(column: Column): (value: unknown) => unknown {
  switch (column) {
    case "json":
    case "json?":
    case "jsonb":
    case "jsonb?":
      return storableJson;
    case "text":
    case "text?":
      return (value) => (typeof value === "string" ? storable(value) : value);
    case "timestamptz":
    case "timestamptz?":
      return encodeTime;
    default:
      return (value) => value;
  }
}

function encodeTime(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

/**
 * An owner's change as one SQL statement with typed parameters, which PostgreSQL plans once a connection. Null for
 * changes that depend on others' commits, which only the function `commit_change` makes. These are joining messages,
 * approvals, conditions of a call's start, interrupts, notes, background shells, and the beginning of a turn. Also null
 * for a change with several messages.
 *
 * The statement locks as the function does: the agent's row, the changed rows, the tenant's log. Each part reads from
 * the one before, and the position in the log depends on their writes, so that PostgreSQL cannot reorder the locks. It
 * returns no row if the lease is another's or the agent was signalled or interrupted. It fails with TP005 if a row is
 * not in its expected state. Then nothing is written, and `commit_change` gives the reason.
 */
export function composeCommit(change: OwnerChange): ComposedCommit | null {
  const rows = isComposable(change) ? finalRows(change) : null;
  if (rows === null) return null;
  const shape = shapeOf(rows);
  const statement = STATEMENTS.get(shapeName(shape));
  const isWhole = statement !== undefined && rows.messages.length <= 1;
  return isWhole ? { statement, values: valuesOf(change, rows, shape) } : null;
}

function shapeOf({ stepEnd, messages, toolCalls, transitions, stepStart, knownFiles }: FinalRows): Shape {
  return {
    stepEnd: stepEnd !== undefined,
    message: messages.length > 0,
    toolCalls: countOf(toolCalls),
    transitions: countOf(transitions),
    stepStart: stepStart !== undefined,
    knownFiles: knownFiles.length > 0,
  };
}

function countOf({ length }: readonly unknown[]): Count {
  return length === 0 ? "none" : length === 1 ? "one" : "many";
}

function valuesOf({ agent = {}, expectSignal, interruptEnd }: OwnerChange, rows: FinalRows, shape: Shape): readonly unknown[] {
  const { stepEnd, transitions, messages, toolCalls, stepStart, knownFiles, starts } = rows;
  const values: unknown[] = [];
  addPatch(values, ENCODINGS.agentPatch, agent);
  values.push(encodedBy(encodeTime, agent.lastActivityAt));
  values.push(expectSignal ?? null, starts || interruptEnd !== undefined);
  if (stepEnd !== undefined) {
    addRow(values, ENCODINGS.stepEnd, stepEnd);
    values.push(stepEnd.step);
  }
  addAll(values, transitions, shape.transitions, addTransition);
  for (const message of messages) addRow(values, ENCODINGS.message, message);
  addAll(values, toolCalls, shape.toolCalls, (of, call) => addRow(of, ENCODINGS.toolCall, call));
  if (stepStart !== undefined) addRow(values, ENCODINGS.stepStart, stepStart);
  addAll(values, knownFiles, shape.knownFiles ? "many" : "none", (of, file) => addRow(of, ENCODINGS.knownFile, file));
  const written = transitions.length + messages.length + toolCalls.length + knownFiles.length;
  values.push(written + Number(stepEnd !== undefined) + Number(stepStart !== undefined));
  return values;
}

function addAll<Row>(values: unknown[], rows: readonly Row[], count: Count, add: (values: unknown[], row: Row) => void): void {
  if (count !== "many") return rows.forEach((row) => add(values, row));
  const all = rows.map((row) => {
    const own: unknown[] = [];
    add(own, row);
    return own;
  });
  all[0]?.forEach((_value, index) => values.push(all.map((own) => own[index])));
}

function addTransition(values: unknown[], { id, from, audit, starts, set }: FinalTransition): void {
  values.push(id, from, storableJson(audit), starts);
  addPatch(values, ENCODINGS.toolCallPatch, set);
}

function addRow<Field extends string>(
  values: unknown[],
  encodings: readonly Encoding<Field>[],
  row: { readonly [Name in NoInfer<Field>]?: unknown },
): void {
  for (const { field, encode } of encodings) values.push(encodedBy(encode, row[field]));
}

function addPatch<Field extends string>(
  values: unknown[],
  encodings: readonly Encoding<Field>[],
  patch: { readonly [Name in NoInfer<Field>]?: unknown },
): void {
  for (const { field, mayBeNull, encode } of encodings) {
    const value = patch[field];
    values.push(encodedBy(encode, value));
    if (mayBeNull) values.push(value === undefined ? null : true);
  }
}

function encodedBy(encode: (value: unknown) => unknown, value: unknown): unknown {
  return value === undefined || value === null ? null : encode(value);
}

type FinalTransition = Pick<ToolCallTransition, "id" | "from"> & {
  readonly set: ToolCallPatch;
  readonly audit: readonly ToolCallAudit[];
  /** True if the call starts to execute: refused if it was cancelled. */
  readonly starts: boolean;
};

/** The rows of a change, each once: a statement cannot write a row twice. */
type FinalRows = {
  readonly stepEnd: OwnerChange["stepEnd"];
  readonly transitions: readonly FinalTransition[];
  readonly messages: NonNullable<OwnerChange["messages"]>;
  readonly toolCalls: readonly NewToolCall[];
  readonly stepStart: OwnerChange["stepStart"];
  readonly knownFiles: NonNullable<OwnerChange["knownFiles"]>;
  /** True if a call starts to execute: refused after an interrupt. */
  readonly starts: boolean;
};

/** Null if the parts of the change contradict each other, or write a step twice. */
function finalRows({
  stepEnd,
  stepStart,
  messages = [],
  toolCalls = [],
  transitions = [],
  knownFiles = [],
}: OwnerChange): FinalRows | null {
  if (stepEnd !== undefined && stepEnd.step === stepStart?.step) return null;
  const added = new Map(toolCalls.map((call) => [call.id, call]));
  const moved = new Map<string, FinalTransition>();
  for (const { id, from, set, audit } of transitions) {
    const call = added.get(id);
    const before = moved.get(id);
    const state = call?.state ?? before?.set.state ?? from;
    if (state !== from) return null;
    if (call !== undefined) added.set(id, { ...call, ...set, auditTrail: [...call.auditTrail, audit] });
    else {
      const starts = before?.starts === true || set.state === "EXECUTING";
      moved.set(id, { id, from, ...before, set: { ...before?.set, ...set }, audit: [...(before?.audit ?? []), audit], starts });
    }
  }
  const starts = transitions.some(({ set }) => set.state === "EXECUTING");
  return { stepEnd, stepStart, messages, toolCalls: [...added.values()], transitions: [...moved.values()], knownFiles, starts };
}
