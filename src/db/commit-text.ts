import { columnName } from "./column-name.ts";
import {
  AGENT_PATCH,
  KNOWN_FILE,
  KNOWN_FILE_PATCH,
  MESSAGE,
  STEP,
  STEP_PATCH,
  TOOL_CALL,
  TOOL_CALL_PATCH,
  type Columns,
} from "./columns.ts";

/** The number of rows of a part: one is written with a parameter a column, several with an array a column. */
export type Count = "none" | "one" | "many";

/** The parts that a change has besides the agent's columns and the events. */
export type Shape = {
  readonly stepEnd: boolean;
  readonly message: boolean;
  readonly toolCalls: Count;
  readonly transitions: Count;
  readonly stepStart: boolean;
  /** True if the calls that end have read or written files. */
  readonly knownFiles: boolean;
};

const COUNTS: readonly Count[] = ["none", "one", "many"];

/** The shapes in which no file is known. Calls are made by an answer, which is a message and ends its step. */
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
 * The shapes in which calls end that have read or written files: alone, with the start of others, or with the results of their
 * step and the start of the next. What else they end with is rare, and the function's.
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

/** All shapes that have a statement. */
export const SHAPES: readonly Shape[] = [...WITHOUT_FILES, ...WITH_FILES];

/** The name of a shape, which its statement has. */
export function shapeName({ stepEnd, message, toolCalls, transitions, stepStart, knownFiles }: Shape): string {
  const changes = [`${toolCalls}_made`, `${transitions}_moved`];
  const parts = [stepEnd && "end", message && "message", ...changes, stepStart && "start", knownFiles && "files"];
  return ["commit", ...parts.filter((part) => part !== false)].join("_");
}

/**
 * The statement of a shape. Its parameters: nine that all have (tenant, agent, owner, epoch, the id of the write, and the
 * columns of the events), the agent's columns, those of each part, and how many rows the parts write.
 */
export function commitText({ stepEnd, message, toolCalls, transitions, stepStart, knownFiles }: Shape): string {
  const parameters = new Parameters(9);
  const held = agentText(parameters);
  const parts: readonly (readonly [name: string, text: string])[] = [
    ...(stepEnd ? [["ended", stepEndText(parameters)] as const] : []),
    ...(transitions === "none" ? [] : [["moved", transitionsText(transitions, parameters)] as const]),
    ...(message ? [["messages", insertText("message", MESSAGE, "one", parameters)] as const] : []),
    ...(toolCalls === "none" ? [] : [["calls", insertText("tool_call", TOOL_CALL, toolCalls, parameters)] as const]),
    ...(stepStart ? [["started", insertText("step", STEP, "one", parameters)] as const] : []),
    ...(knownFiles ? [["known", knownFilesText(parameters)] as const] : []),
  ];
  const written = parts.map(([name]) => `(SELECT count(*) FROM ${name})`).join(" + ") || "0";
  // A row that others hold for long keeps a connection for a moment only: the caller tries again without one.
  return `WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', '250ms', true)),
held AS (${held}),
${parts.map(([name, text]) => `${name} AS (${text} RETURNING 1),\n`).join("")}place AS (
  SELECT p.base_seq, p.base_position, held.signal FROM held, place_events($1, held.id, held.seq, ${parameters.next("bigint")}, ${written}) p),
told AS (INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
  SELECT $1, place.base_position + e.number, $2, place.base_seq + e.number, CASE WHEN e.number = 1 THEN $5::uuid END, e.channel, e.kind, e.payload::json, e.at
  FROM place, unnest($6::text[], $7::text[], $8::text[], $9::timestamptz[]) WITH ORDINALITY AS e(channel, kind, payload, at, number))
SELECT base_seq, base_position, signal FROM place`;
}

/** The parameters of a statement, in the order in which they are named. */
class Parameters {
  #last: number;

  constructor(before: number) {
    this.#last = before;
  }

  next(type: string): string {
    this.#last += 1;
    return `$${this.#last}::${type}`;
  }

  /** One for each column. */
  of(columns: Columns, suffix: "" | "[]" = ""): readonly string[] {
    return Object.values(columns).map((column) => this.next(`${column.replace("?", "")}${suffix}`));
  }
}

/** The lease is compared as a row, which no index has: the planner finds the agent by its id alone. */
function agentText(parameters: Parameters): string {
  const set = patchText(AGENT_PATCH, "a", parameters.next("int"), parameters.of(AGENT_PATCH));
  const activity = `greatest(a.last_activity_at, ${parameters.next("timestamptz")})`;
  const signal = parameters.next("int");
  return `UPDATE agent a SET ${set}, last_activity_at = ${activity} FROM patience
  WHERE a.id = $2 AND (a.tenant, a.lease_owner, a.lease_epoch) IS NOT DISTINCT FROM ($1, $3, $4::int)
    AND a.signal IS NOT DISTINCT FROM coalesce(${signal}, a.signal) AND (a.interrupt_at IS NULL OR NOT ${parameters.next("boolean")})
  RETURNING a.id, a.seq, a.signal`;
}

function stepEndText(parameters: Parameters): string {
  return `UPDATE step s SET ${patchText(STEP_PATCH, "s", parameters.next("int"), parameters.of(STEP_PATCH))} FROM held
  WHERE s.agent_id = $2 AND s.step = ${parameters.next("int")} AND s.state = 'STARTED'`;
}

function transitionsText(count: "one" | "many", parameters: Parameters): string {
  const suffix = count === "one" ? "" : "[]";
  const [id, from, audit, starts, given] = [
    parameters.next(`text${suffix}`),
    parameters.next(`tool_call_state${suffix}`),
    parameters.next(`jsonb${suffix}`),
    parameters.next(`boolean${suffix}`),
    parameters.next(`int${suffix}`),
  ];
  const ofCall = (value: string): string => (count === "one" ? value : `(${value})[array_position(${id}, t.id)]`);
  const values = parameters.of(TOOL_CALL_PATCH, suffix).map(ofCall);
  return `UPDATE tool_call t SET ${patchText(TOOL_CALL_PATCH, "t", ofCall(given), values)}, audit_trail = t.audit_trail || ${ofCall(audit)}
  FROM held WHERE t.id ${count === "one" ? `= ${id}` : `= ANY (${id})`} AND t.agent_id IS NOT DISTINCT FROM held.id AND t.state = ${ofCall(from)}
    AND (NOT ${ofCall(starts)} OR t.cancel_requested IS NULL)`;
}

/** Rows of arrays by subscripts: `unnest` of so many arrays takes ten times as long. */
function insertText(table: string, columns: Columns, count: "one" | "many", parameters: Parameters): string {
  const into = `INSERT INTO ${table} (${namesOf(columns).join(", ")}) SELECT`;
  if (count === "one") return `${into} ${parameters.of(columns).join(", ")} FROM held`;
  const arrays = parameters.of(columns, "[]");
  const values = arrays.map((array) => `(${array})[n.row]`);
  return `${into} ${values.join(", ")} FROM held, generate_subscripts(${arrays[0] ?? ""}, 1) AS n(row)`;
}

/** Files that are known already are known anew. */
function knownFilesText(parameters: Parameters): string {
  const names = namesOf(KNOWN_FILE_PATCH);
  const set = names.map((name) => `${name} = EXCLUDED.${name}`).join(", ");
  return `${insertText("known_file", KNOWN_FILE, "many", parameters)}
  ON CONFLICT (agent_id, path) DO UPDATE SET ${set}, change = NULL, change_told_at = NULL,
    is_whole = EXCLUDED.is_whole OR known_file.is_whole AND known_file.digest = EXCLUDED.digest`;
}

/** The assignments of the columns that a patch has: of those that may be null, the ones whose bits are in `given`. */
function patchText(columns: Columns, table: string, given: string, values: readonly string[]): string {
  const set = Object.entries(columns).map(([field, column], index) => {
    const [name, value] = [columnName(field), values[index] ?? ""];
    const old = `${table}.${name}`;
    return column.endsWith("?")
      ? `${name} = CASE WHEN ${given} & ${2 ** index} <> 0 THEN ${value} ELSE ${old} END`
      : `${name} = coalesce(${value}, ${old})`;
  });
  return set.join(", ");
}

function namesOf(columns: Columns): readonly string[] {
  return Object.keys(columns).map(columnName);
}
