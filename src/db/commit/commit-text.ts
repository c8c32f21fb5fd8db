import {
  AGENT_PATCH,
  KNOWN_FILE,
  KNOWN_FILE_PATCH,
  MESSAGE,
  STEP_END,
  STEP,
  TOOL_CALL,
  TOOL_CALL_PATCH,
  type Column,
  type Columns,
} from "./columns.ts";
import { columnName } from "./parts.ts";

export type Count = "none" | "one" | "many";

export type Shape = {
  readonly stepEnd: boolean;
  readonly message: boolean;
  readonly toolCalls: Count;
  readonly transitions: Count;
  readonly stepStart: boolean;
  readonly knownFiles: boolean;
};

const COUNTS: readonly Count[] = ["none", "one", "many"];

/** The shapes without files. Calls come from an answer, which is a message and ends its step. */
const WITHOUT_FILES = [true, false].flatMap((stepEnd) =>
  [true, false].flatMap((message) =>
    COUNTS.filter((toolCalls) => toolCalls === "none" || (stepEnd && message)).flatMap((toolCalls) =>
      COUNTS.flatMap((transitions) =>
        [true, false].map((stepStart): Shape => ({ stepEnd, message, toolCalls, transitions, stepStart, knownFiles: false })),
      ),
    ),
  ),
);

/**
 * The shapes with calls that end and have read or written files: alone, with starting calls, or with their step's
 * results and the next step. Other combinations are rare and left to the function.
 */
const WITH_FILES = (["one", "many"] as const).flatMap((transitions) =>
  [true, false].map((isWholeStep): Shape => ({
    stepEnd: false,
    message: isWholeStep,
    toolCalls: "none",
    transitions,
    stepStart: isWholeStep,
    knownFiles: true,
  })),
);

export const SHAPES: readonly Shape[] = [...WITHOUT_FILES, ...WITH_FILES];

export function shapeName({ stepEnd, message, toolCalls, transitions, stepStart, knownFiles }: Shape): string {
  const [before, after] = [
    `${stepEnd ? "_end" : ""}${message ? "_message" : ""}`,
    `${stepStart ? "_start" : ""}${knownFiles ? "_files" : ""}`,
  ];
  return `commit${before}_${toolCalls}_made_${transitions}_moved${after}`;
}

const SHARED = new Map([
  ["tenant", "$1"],
  ["agentId", "$2"],
]);

/** The columns with different values a row, with their types, in parameter order. */
export function ownColumns<Field extends string>(columns: Columns<Field>): readonly (readonly [field: Field, column: Column])[] {
  return (Object.entries(columns) as [Field, Column][]).filter(([field]) => !SHARED.has(field));
}

/** In a patch, the value of such a column is followed by true if the patch sets it. */
export function mayBeNull(column: Column): boolean {
  return column.endsWith("?");
}

type Part = { readonly name: string; readonly count: "one" | "many"; readonly text: string };

/**
 * The statement of a shape. Its parameters: nine common ones (tenant, agent, owner, epoch, write id, event columns),
 * the agent's columns, those of each part, and the number of rows.
 */
export function commitText(shape: Shape): string {
  const { stepEnd, message, toolCalls, transitions, stepStart, knownFiles } = shape;
  const parameters = new Parameters(9);
  const held = agentText(parameters);
  const parts: Part[] = [];
  const add = (name: string, count: Part["count"], text: string): void => void parts.push({ name, count, text });
  if (stepEnd) add("ended", "one", stepEndText(parameters));
  if (transitions !== "none") add("moved", transitions, transitionsText(transitions, parameters));
  if (message) add("messages", "one", insertText("message", MESSAGE, "one", parameters));
  if (toolCalls !== "none") add("calls", toolCalls, insertText("tool_call", TOOL_CALL, toolCalls, parameters));
  if (stepStart) add("started", "one", insertText("step", STEP, "one", parameters));
  if (knownFiles) add("known", "many", knownFilesText(parameters));
  // A part with one row returns it, or null: then the sum is null, as if no row was written.
  const answers = parts.map(({ name, count }) => `(SELECT ${count === "one" ? "1" : "count(*)"} FROM ${name})`);
  const written = answers.length === 0 ? "0" : `coalesce(${answers.join(" + ")}, 0)`;
  return `WITH held AS (${held}),
${parts.map(({ name, text }) => `${name} AS (${text} RETURNING 1),\n`).join("")}place AS (
  SELECT p.base_seq, p.base_position, held.signal, held.ancestors FROM held, place_events($1, held.id, held.seq, ${parameters.next("bigint")}, ${written}) p),
told AS (INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
  SELECT $1, place.base_position + e.number, $2, place.base_seq + e.number, CASE WHEN e.number = 1 THEN $5::uuid END, e.channel, e.kind, e.payload, e.at
  FROM place, unnest($6::text[], $7::text[], $8::json[], $9::timestamptz[]) WITH ORDINALITY AS e(channel, kind, payload, at, number))
SELECT base_seq, base_position, signal, ancestors FROM place`;
}

class Parameters {
  #last: number;

  constructor(before: number) {
    this.#last = before;
  }

  next(type: string): string {
    this.#last += 1;
    return `$${this.#last}::${type}`;
  }

  of(column: Column, count: "one" | "many"): string {
    return this.next(`${column.replace("?", "")}${count === "many" ? "[]" : ""}`);
  }
}

/**
 * The lease is compared as a row, which no index has: the planner finds the agent by its id alone. A row that stays
 * locked occupies a connection only briefly: the caller retries without one. `set_config` is volatile, so that
 * PostgreSQL calls it between finding and locking the row.
 */
function agentText(parameters: Parameters): string {
  const patch = patchText(AGENT_PATCH, "a", "one", parameters);
  const set = `${patch}, last_activity_at = greatest(a.last_activity_at, ${parameters.next("timestamptz")})`;
  const signal = parameters.next("int");
  return `UPDATE agent a SET ${set}
  WHERE a.id = $2 AND set_config('lock_timeout', '250ms', true) IS NOT NULL AND (a.tenant, a.lease_owner, a.lease_epoch) IS NOT DISTINCT FROM ($1, $3, $4::int)
    AND a.signal IS NOT DISTINCT FROM coalesce(${signal}, a.signal) AND (a.interrupt_at IS NULL OR NOT ${parameters.next("boolean")})
  RETURNING a.id, a.seq, a.signal, a.ancestors`;
}

function stepEndText(parameters: Parameters): string {
  const set = ownColumns(STEP_END).map(([field, column]) => `${columnName(field)} = ${parameters.of(column, "one")}`);
  return `UPDATE step s SET ${set.join(", ")}
  WHERE s.agent_id = (SELECT id FROM held) AND s.step = ${parameters.next("int")} AND s.state = 'STARTED'`;
}

/** The agent is compared as a truth value, which no index has: the planner finds the calls by their ids. */
function transitionsText(count: "one" | "many", parameters: Parameters): string {
  const [id, from, audit, starts] = [
    parameters.of("text", count),
    parameters.of("tool_call_state", count),
    parameters.of("jsonb", count),
    parameters.of("boolean", count),
  ];
  const ofCall = (value: string): string => (count === "one" ? value : `(${value})[array_position(${id}, t.id)]`);
  return `UPDATE tool_call t SET ${patchText(TOOL_CALL_PATCH, "t", count, parameters, ofCall)}, audit_trail = t.audit_trail || ${ofCall(audit)}
  WHERE t.id ${count === "one" ? `= ${id}` : `= ANY (${id})`} AND (t.agent_id = (SELECT id FROM held)) IS TRUE AND t.state = ${ofCall(from)}
    AND (NOT ${ofCall(starts)} OR t.cancel_requested IS NULL)`;
}

/** Rows from arrays by subscripts: `unnest` of so many arrays takes ten times as long. */
function insertText(table: string, columns: Columns, count: "one" | "many", parameters: Parameters): string {
  const own = ownColumns(columns);
  const values = own.map(([, column]) => parameters.of(column, count));
  const names = [...SHARED.keys(), ...own.map(([field]) => field)].map(columnName);
  const selected = count === "one" ? values : values.map((array) => `(${array})[n.row]`);
  const rows = count === "one" ? "" : `, generate_subscripts(${values[0] ?? ""}, 1) AS n(row)`;
  return `INSERT INTO ${table} (${names.join(", ")}) SELECT ${[...SHARED.values(), ...selected].join(", ")} FROM held${rows}`;
}

function knownFilesText(parameters: Parameters): string {
  const set = Object.keys(KNOWN_FILE_PATCH)
    .map(columnName)
    .map((name) => `${name} = EXCLUDED.${name}`);
  return `${insertText("known_file", KNOWN_FILE, "many", parameters)}
  ON CONFLICT (agent_id, path) DO UPDATE SET ${set.join(", ")}, change = NULL,
    is_whole = EXCLUDED.is_whole OR known_file.is_whole AND known_file.digest = EXCLUDED.digest`;
}

function patchText(
  columns: Columns,
  table: string,
  count: "one" | "many",
  parameters: Parameters,
  ofRow: (value: string) => string = (value) => value,
): string {
  const set = ownColumns(columns).map(([field, column]) => {
    const name = columnName(field);
    const [value, old] = [ofRow(parameters.of(column, count)), `${table}.${name}`];
    if (!mayBeNull(column)) return `${name} = coalesce(${value}, ${old})`;
    return `${name} = CASE WHEN ${ofRow(parameters.of("boolean", count))} THEN ${value} ELSE ${old} END`;
  });
  return set.join(", ");
}
