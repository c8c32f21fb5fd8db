import { storableJson } from "../lib/json.ts";
import { storable } from "../lib/text.ts";
import type { OwnerChange } from "./change.ts";
import {
  AGENT_PATCH,
  KNOWN_FILE,
  MESSAGE,
  STEP,
  STEP_PATCH,
  TOOL_CALL,
  TOOL_CALL_PATCH,
  type Column,
  type Columns,
} from "./columns.ts";
import { commitText, SHAPES, shapeName, type Count, type Shape } from "./commit-text.ts";
import { finalRows, type FinalRows } from "./final-rows.ts";
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
    givenIn(AGENT_PATCH, agent),
    ...rowValues(AGENT_PATCH, agent),
    encoded("timestamptz", agent.lastActivityAt),
    expectSignal ?? null,
    starts,
    ...(stepEnd === undefined ? [] : [givenIn(STEP_PATCH, stepEnd), ...rowValues(STEP_PATCH, stepEnd), stepEnd.step]),
    ...transitionValues(rows, shape),
    ...messages.flatMap((message) => rowValues(MESSAGE, message)),
    ...tableValues(TOOL_CALL, toolCalls, shape.toolCalls),
    ...(stepStart === undefined ? [] : rowValues(STEP, stepStart)),
    ...tableValues(KNOWN_FILE, knownFiles, knownFiles.length > 0 ? "many" : "none"),
    written + Number(stepEnd !== undefined) + Number(stepStart !== undefined),
  ];
}

function transitionValues({ transitions }: FinalRows, shape: Shape): readonly unknown[] {
  const before = transitions.map(({ id, from, audit, starts, set }) => [
    id,
    from,
    storableJson(audit),
    starts,
    givenIn(TOOL_CALL_PATCH, set),
  ]);
  const sets = transitions.map(({ set }) => set);
  return [...inColumns(before, shape.transitions), ...tableValues(TOOL_CALL_PATCH, sets, shape.transitions)];
}

/** The values of rows, a parameter a column if there is one row, and an array a column if there are many. */
function tableValues<Field extends string>(
  columns: Columns<Field>,
  rows: readonly { readonly [Name in NoInfer<Field>]?: unknown }[],
  count: Count,
): readonly unknown[] {
  return inColumns(
    rows.map((row) => rowValues(columns, row)),
    count,
  );
}

function inColumns(rows: readonly (readonly unknown[])[], count: Count): readonly unknown[] {
  const [first = []] = rows;
  return count === "many" ? first.map((_value, column) => rows.map((row) => row[column])) : first;
}

/** The values of one row, by its columns. */
function rowValues<Field extends string>(
  columns: Columns<Field>,
  row: { readonly [Name in NoInfer<Field>]?: unknown },
): readonly unknown[] {
  return fieldsOf(columns).map((field) => encoded(columns[field], row[field]));
}

/** The bits of the columns that a patch sets. */
function givenIn<Field extends string>(columns: Columns<Field>, patch: { readonly [Name in NoInfer<Field>]?: unknown }): number {
  return fieldsOf(columns).reduce((bits, field, index) => (patch[field] === undefined ? bits : bits | (2 ** index)), 0);
}

function fieldsOf<Field extends string>(columns: Columns<Field>): readonly Field[] {
  return Object.keys(columns) as Field[];
}

/** A value as the driver sends it: in texts, what PostgreSQL cannot store is replaced. */
function encoded(column: Column, value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (column.startsWith("json")) return storableJson(value);
  if (value instanceof Date) return value.toISOString();
  return typeof value === "string" ? storable(value) : value;
}
