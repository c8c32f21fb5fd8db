import { storableJson } from "../lib/json.ts";
import { storable } from "../lib/text.ts";
import type { OwnerChange } from "./change.ts";
import { AGENT_PATCH, KNOWN_FILE, MESSAGE, STEP, STEP_END, TOOL_CALL, TOOL_CALL_PATCH, type Columns } from "./columns.ts";
import { commitText, mayBeNull, ownColumns, SHAPES, shapeName, type Count, type Shape } from "./commit-text.ts";
import { finalRows, type FinalRows, type FinalTransition } from "./final-rows.ts";
import type { Statement } from "./sql.ts";

/** The place behind which a commit's events stand, and how often the agent had been signalled before. */
export type CommitPlace = { base_seq: number; base_position: string | number; signal: number };

/**
 * The statement of a change, and the values of the change. Before them stand those that every commit has: tenant, agent,
 * owner, epoch, the id of the write, and the columns of its events.
 */
export type ComposedCommit = { readonly statement: Statement<CommitPlace>; readonly values: readonly unknown[] };

const STATEMENTS = new Map(
  SHAPES.map((shape): [string, Statement<CommitPlace>] => {
    const name = shapeName(shape);
    return [name, { name, text: commitText(shape) }];
  }),
);

/** The encoding of the values of one column, made once: a commit asks for dozens. */
type Encoding<Field extends string> = { readonly field: Field; readonly isJson: boolean; readonly mayBeNull: boolean };

const ENCODINGS = {
  agentPatch: encodingsOf(AGENT_PATCH),
  stepEnd: encodingsOf(STEP_END),
  toolCallPatch: encodingsOf(TOOL_CALL_PATCH),
  message: encodingsOf(MESSAGE),
  toolCall: encodingsOf(TOOL_CALL),
  step: encodingsOf(STEP),
  knownFile: encodingsOf(KNOWN_FILE),
};

function encodingsOf<Field extends string>(columns: Columns<Field>): readonly Encoding<Field>[] {
  return ownColumns(columns).map(([field, column]) => ({
    field,
    isJson: column.startsWith("json"),
    mayBeNull: mayBeNull(column),
  }));
}

/**
 * The change of an owner as one SQL statement with typed parameters, which PostgreSQL plans once a connection; null if it
 * is a change that only the function `commit_change` makes, since what others have committed meanwhile counts: messages of
 * people that join, approvals, what a call starts by, notes, background shells, and the beginning of a turn.
 *
 * The statement locks as the function does: the agent's row, the rows that it changes, the tenant's log. Each part reads
 * from the one before it, so that PostgreSQL cannot take them in another order. It answers no row if the lease is another's
 * or the agent was signalled or interrupted, and fails with TP005 if a row is not in the state that the change starts from.
 * Nothing is written then, and `commit_change` says why.
 */
export function composeCommit(change: OwnerChange): ComposedCommit | null {
  const rows = isComposable(change) ? finalRows(change) : null;
  if (rows === null) return null;
  const shape = shapeOf(rows);
  const statement = STATEMENTS.get(shapeName(shape));
  return statement === undefined || rows.messages.length > 1 ? null : { statement, values: valuesOf(change, rows, shape) };
}

function isComposable(change: OwnerChange): boolean {
  const {
    agent,
    joins,
    approvals,
    hostRequests,
    approvalTransitions,
    todos,
    toldNote,
    toldHosts,
    shellStart,
    shellsTold,
    fileChanges,
    transitions,
  } = change;
  const own = [joins, approvals, hostRequests, approvalTransitions, shellsTold, fileChanges];
  const isOwn = own.every((rows) => rows === undefined || rows.length === 0);
  const parts = [todos, toldNote, toldHosts, shellStart, agent?.turn];
  const isWhole = parts.every((part) => part === undefined);
  return isOwn && isWhole && transitions?.some(({ by }) => by !== undefined) !== true;
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

/** In the order in which `commitText` names the parameters. */
function valuesOf({ agent = {}, expectSignal }: OwnerChange, rows: FinalRows, shape: Shape): readonly unknown[] {
  const { stepEnd, transitions, messages, toolCalls, stepStart, knownFiles, starts } = rows;
  const written = [transitions, messages, toolCalls, knownFiles].reduce((sum, { length }) => sum + length, 0);
  return [
    ...patchValues(ENCODINGS.agentPatch, agent),
    encoded(agent.lastActivityAt, false),
    expectSignal ?? null,
    starts,
    ...(stepEnd === undefined ? [] : [...rowValues(ENCODINGS.stepEnd, stepEnd), stepEnd.step]),
    ...inColumns(transitions.map(transitionValues), shape.transitions),
    ...messages.flatMap((message) => rowValues(ENCODINGS.message, message)),
    ...inColumns(
      toolCalls.map((call) => rowValues(ENCODINGS.toolCall, call)),
      shape.toolCalls,
    ),
    ...(stepStart === undefined ? [] : rowValues(ENCODINGS.step, stepStart)),
    ...inColumns(
      knownFiles.map((file) => rowValues(ENCODINGS.knownFile, file)),
      shape.knownFiles ? "many" : "none",
    ),
    written + Number(stepEnd !== undefined) + Number(stepStart !== undefined),
  ];
}

function transitionValues({ id, from, audit, starts, set }: FinalTransition): readonly unknown[] {
  return [id, from, storableJson(audit), starts, ...patchValues(ENCODINGS.toolCallPatch, set)];
}

/** The values of rows, a parameter a column if there is one row, and an array a column if there are many. */
function inColumns(rows: readonly (readonly unknown[])[], count: Count): readonly unknown[] {
  const [first = []] = rows;
  return count === "many" ? first.map((_value, column) => rows.map((row) => row[column])) : first;
}

/** The values of one row. */
function rowValues<Field extends string>(
  encodings: readonly Encoding<Field>[],
  row: { readonly [Name in NoInfer<Field>]?: unknown },
): unknown[] {
  return encodings.map(({ field, isJson }) => encoded(row[field], isJson));
}

/** The same of a patch: behind the value of a column that may be null stands true if the patch sets it, and null if it does not. */
function patchValues<Field extends string>(
  encodings: readonly Encoding<Field>[],
  patch: { readonly [Name in NoInfer<Field>]?: unknown },
): unknown[] {
  const values: unknown[] = [];
  for (const { field, isJson, mayBeNull } of encodings) {
    const value = patch[field];
    values.push(encoded(value, isJson));
    if (mayBeNull) values.push(value === undefined ? null : true);
  }
  return values;
}

/** A value as the driver sends it: in texts, what PostgreSQL cannot store is replaced. */
function encoded(value: unknown, isJson: boolean): unknown {
  if (value === undefined || value === null) return null;
  if (isJson) return storableJson(value);
  if (typeof value === "string") return storable(value);
  return value instanceof Date ? value.toISOString() : value;
}
