import { storableJson } from "../../lib/json.ts";
import { joinAccounts } from "./budget-accounts.ts";
import type { KnownFileRow, NoticeRow, OutsideChange, OwnerChange, ScheduleMove, ToolCallTransition } from "./change.ts";
import type { TenantChange } from "./tenant-change.ts";

const NAMES = new Map<string, string>();

export function columnName(field: string): string {
  let name = NAMES.get(field);
  if (name === undefined) {
    name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    NAMES.set(field, name);
  }
  return name;
}

/**
 * The keys of a part that are column names, written in snake_case: those of its rows, of `row` or `set` in it, of `set` in each
 * transition, or none.
 */
export type PartKeys = "rows" | "row in it" | "set in it" | "set in each" | "none";

export type Part = { readonly sql: "json" | "int" | "text" | "boolean"; readonly keys: PartKeys };

/** `join` merges the part of two consecutive changes. `isComposed`: true if a composed commit supports it. */
type OwnerPart<Value> = Part & {
  readonly join: (one: Value, other: Value) => Value;
  readonly isComposed: (value: Value) => boolean;
};

type PartsOf<Change> = keyof { [Name in keyof Change as Change[Name] extends undefined ? never : Name]: never };

const json = (keys: PartKeys): Part => ({ sql: "json", keys });

const last = <Value>(_one: Value, other: Value): Value => other;
const lists = <Row>(one: readonly Row[], other: readonly Row[]): readonly Row[] => [...one, ...other];
const always = (): boolean => true;
const never = (): boolean => false;
const none = (rows: readonly object[] | readonly string[]): boolean => rows.length === 0;

export type OwnerValues = { [Name in PartsOf<OwnerChange>]: NonNullable<OwnerChange[Name]> };

export const OWNER_PARTS: { readonly [Name in keyof OwnerValues]: OwnerPart<OwnerValues[Name]> } = {
  expectSignal: { sql: "int", keys: "none", join: last, isComposed: always },
  agent: {
    ...json("rows"),
    join: (one, other) => ({ ...one, ...other }),
    // The beginning of a turn: people's messages join.
    isComposed: ({ turn }) => turn === undefined,
  },
  joins: { ...json("rows"), join: lists, isComposed: none },
  messages: { ...json("rows"), join: lists, isComposed: (rows) => rows.every(({ shape }) => shape === undefined) },
  stepEnd: {
    ...json("rows"),
    join: () => {
      throw new Error("a change ends one step at most");
    },
    isComposed: always,
  },
  stepStart: { ...json("rows"), join: last, isComposed: always },
  toolCalls: { ...json("rows"), join: lists, isComposed: always },
  transitions: { ...json("set in each"), join: lists, isComposed: areOwn },
  approvals: { ...json("rows"), join: lists, isComposed: none },
  approvalTransitions: { ...json("rows"), join: lists, isComposed: none },
  waits: { ...json("rows"), join: lists, isComposed: none },
  interruptEnd: { ...json("none"), join: last, isComposed: ({ seen }) => seen === null },
  toldNote: { sql: "text", keys: "none", join: last, isComposed: never },
  returns: { sql: "boolean", keys: "none", join: last, isComposed: never },
  todos: { ...json("rows"), join: last, isComposed: never },
  todosBy: { sql: "text", keys: "none", join: last, isComposed: never },
  images: { ...json("none"), join: lists, isComposed: none },
  knownFiles: { ...json("rows"), join: knownAfter, isComposed: always },
  fileChanges: { ...json("rows"), join: lists, isComposed: none },
  shellStart: { ...json("row in it"), join: last, isComposed: never },
  notices: { ...json("rows"), join: noticesAfter, isComposed: none },
  noticesTold: {
    ...json("none"),
    join: (one, other) => ({ step: other.step, ids: [...one.ids, ...other.ids] }),
    isComposed: never,
  },
  noticesDropped: { ...json("none"), join: lists, isComposed: none },
  manual: { ...json("rows"), join: last, isComposed: never },
  requestParts: { ...json("none"), join: lists, isComposed: none },
  agentManual: { ...json("rows"), join: last, isComposed: never },
  templateVersion: { ...json("none"), join: last, isComposed: never },
  watch: { sql: "boolean", keys: "none", join: last, isComposed: never },
  schedulesMoved: { ...json("set in each"), join: lists, isComposed: none },
  versionData: { ...json("rows"), join: last, isComposed: never },
  memory: { ...json("none"), join: last, isComposed: never },
  budgets: { ...json("none"), join: joinAccounts, isComposed: never },
  compactions: { ...json("rows"), join: lists, isComposed: none },
  compactionMoved: {
    ...json("set in it"),
    join: () => {
      throw new Error("a change moves one compaction at most");
    },
    isComposed: never,
  },
};

export const OUTSIDE_PARTS: { readonly [Name in Exclude<PartsOf<OutsideChange>, PartsOf<OwnerChange>>]: Part } = {
  idempotencyKey: json("rows"),
  createAgent: json("rows"),
  treeLimit: json("none"),
  fork: json("none"),
  wake: { sql: "boolean", keys: "none" },
  interrupt: json("none"),
  retry: json("none"),
  cancel: json("none"),
  withdraw: json("none"),
  queueLimit: json("none"),
  rename: json("none"),
  archive: json("none"),
  received: json("rows"),
  shellEnd: json("rows"),
  childAwaited: json("none"),
  waitSettled: json("none"),
  filesFound: json("none"),
  schedulesMade: json("rows"),
  mostSchedules: { sql: "int", keys: "none" },
  scheduleEnded: json("none"),
  decision: json("rows"),
  expectDecisions: { sql: "int", keys: "none" },
  expectAsking: json("none"),
  keepRule: json("rows"),
  budgetRaise: json("none"),
};

export const TENANT_PARTS: { readonly [Name in PartsOf<TenantChange>]: Part } = {
  idempotencyKey: json("rows"),
  storeAllowRule: json("rows"),
  mostAllowRules: { sql: "int", keys: "none" },
  revokeAllowRule: json("rows"),
  startDelegation: json("rows"),
  waits: json("rows"),
  endDelegation: json("rows"),
  configuration: json("rows"),
  acceptTool: json("rows"),
  memory: json("none"),
  setBudget: json("rows"),
  revokeBudget: json("rows"),
  createAccessToken: json("rows"),
  mostAccessTokens: { sql: "int", keys: "none" },
  revokeAccessToken: json("rows"),
  snooze: json("rows"),
  wakeApproval: json("rows"),
  createExport: json("rows"),
  mostExports: { sql: "int", keys: "none" },
  endExport: json("rows"),
  deleteAgent: json("rows"),
};

/** True if no start depends on others' commits, and no wait is settled. */
function areOwn(transitions: readonly ToolCallTransition[]): boolean {
  return transitions.every(({ by, from }) => by === undefined && from !== "WAITING");
}

function knownAfter(one: readonly KnownFileRow[], other: readonly KnownFileRow[]): readonly KnownFileRow[] {
  const known = new Map<string, KnownFileRow>();
  for (const file of [...one, ...other]) {
    const before = known.get(file.path);
    known.set(file.path, { ...file, isWhole: file.isWhole || (before?.isWhole === true && before.digest === file.digest) });
  }
  return [...known.values()];
}

function noticesAfter(one: readonly NoticeRow[], other: readonly NoticeRow[]): readonly NoticeRow[] {
  const thing = ({ source, ref, toldAtStep }: NoticeRow): string => JSON.stringify([source, ref, toldAtStep]);
  return [...new Map([...one, ...other].map((row) => [thing(row), row])).values()];
}

type BoundPart<Name> = {
  readonly name: Name;
  readonly addTo: (joined: Partial<OwnerValues>, change: Partial<OwnerValues>) => void;
  readonly isComposedIn: (change: Partial<OwnerValues>) => boolean;
};

function bound<Name extends keyof OwnerValues>(name: Name): BoundPart<Name> {
  const { join, isComposed } = OWNER_PARTS[name];
  return {
    name,
    addTo: (joined, change) => {
      const before: OwnerValues[Name] | undefined = joined[name];
      const after: OwnerValues[Name] | undefined = change[name];
      if (after !== undefined) joined[name] = before === undefined ? after : join(before, after);
    },
    isComposedIn: (change) => {
      const value: OwnerValues[Name] | undefined = change[name];
      return value === undefined || isComposed(value);
    },
  };
}

const BOUND = (Object.keys(OWNER_PARTS) as (keyof OwnerValues)[]).map(bound);

export function joinChanges(changes: readonly OwnerChange[]): OwnerChange {
  const joined: Partial<OwnerValues> = {};
  for (const change of changes) for (const { addTo } of BOUND) addTo(joined, change);
  return joined;
}

export function isComposable(change: OwnerChange): boolean {
  return BOUND.every(({ isComposedIn }) => isComposedIn(change));
}

const PARTS: ReadonlyMap<string, Part> = new Map(Object.entries({ ...OWNER_PARTS, ...OUTSIDE_PARTS, ...TENANT_PARTS }));

/**
 * The change in the form of the SQL functions `commit_change` and `commit_tenant_change`: columns in snake_case,
 * without empty parts. An empty list of todos is no empty part: it replaces the list.
 */
export function encodeChange(change: OwnerChange | OutsideChange | TenantChange): string {
  const parts: [string, unknown][] = Object.entries(change);
  return storableJson(
    Object.fromEntries(
      parts.filter(([name, part]) => name === "todos" || !isEmpty(part)).map(([name, part]) => [name, encoded(name, part)]),
    ),
  );
}

/** Each part would be a statement. */
function isEmpty(part: unknown): boolean {
  return typeof part === "object" && part !== null && Object.keys(part).length === 0;
}

function encoded(name: string, part: unknown): unknown {
  const keys = PARTS.get(name)?.keys;
  switch (keys) {
    case undefined:
      throw new Error(`a change has no part ${name}`);
    case "none":
      return part;
    case "rows":
      return Array.isArray(part) ? part.map((row: object) => toColumns(row)) : toColumns(part as object);
    case "row in it": {
      const start = part as NonNullable<OwnerChange["shellStart"]>;
      return { ...start, row: toColumns(start.row) };
    }
    case "set in it":
      return withColumns(part as NonNullable<OwnerChange["compactionMoved"]>);
    case "set in each":
      return (part as readonly SetInEach[]).map(withColumns);
  }
}

type SetInEach = ToolCallTransition | ScheduleMove;

function withColumns(each: SetInEach | NonNullable<OwnerChange["compactionMoved"]>): object {
  return { ...each, set: toColumns(each.set) };
}

function toColumns(row: object): object {
  const columns: [string, unknown][] = Object.entries(row);
  return Object.fromEntries(columns.map(([key, value]) => [columnName(key), value]));
}
