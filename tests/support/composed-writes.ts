import { AGENT_PATCH, MESSAGE, STEP, STEP_END, TOOL_CALL, TOOL_CALL_PATCH, type Columns } from "../../src/db/commit/columns.ts";
import { mayBeNull, ownColumns, SHAPES, shapeName, type Count } from "../../src/db/commit/commit-text.ts";
import { columnName } from "../../src/db/commit/parts.ts";
import type { Statement } from "../../src/db/sql.ts";
import { namesIn, type SeenWrite } from "./seen-write.ts";

type Row = Readonly<Record<string, unknown>>;

const SHAPES_BY_NAME = new Map(SHAPES.map((shape) => [shapeName(shape), shape]));

/** True if the statement is a composed commit of an owner. */
export function isComposed({ name }: Statement): boolean {
  return SHAPES_BY_NAME.has(name);
}

/** The write that a composed commit is about to make; null for other statements. Calls that it adds in a later state went there. */
export function composedWriteOf(statement: Statement, values: readonly unknown[]): SeenWrite | null {
  const shape = SHAPES_BY_NAME.get(statement.name);
  if (shape === undefined) return null;
  const [, agentId, , , , , kinds, , , ...rest] = values;
  const left = [...rest];
  const row = (columns: Columns): Row =>
    Object.fromEntries(ownColumns(columns).map(([field]) => [columnName(field), left.shift()]));
  /** The columns that a patch sets; of several patches, the arrays of all columns that may be null. */
  const patch = (columns: Columns): Row =>
    Object.fromEntries(
      ownColumns(columns).flatMap(([field, column]) => {
        const value = left.shift();
        const isSet = mayBeNull(column) ? left.shift() : value;
        return isSet === null ? [] : [[columnName(field), value]];
      }),
    );
  /** The rows of so many columns, each a value or an array. */
  const rows = (columns: Columns, count: Count, read: (columns: Columns) => Row): readonly Row[] => {
    if (count === "none") return [];
    if (count === "one") return [read(columns)];
    const arrays = Object.entries(read(columns)) as [string, readonly unknown[]][];
    return (arrays[0]?.[1] ?? []).map((_first, place) => Object.fromEntries(arrays.map(([column, all]) => [column, all[place]])));
  };
  const agent = patch(AGENT_PATCH);
  left.shift();
  const [signal] = left.splice(0, 2);
  const stepEnd = shape.stepEnd ? row(STEP_END) : undefined;
  if (shape.stepEnd) left.shift();
  const moves = shape.transitions === "none" ? [] : [left.splice(0, 4)[0]].flat();
  const sets = rows(TOOL_CALL_PATCH, shape.transitions, patch);
  if (shape.message) row(MESSAGE);
  const toolCalls = rows(TOOL_CALL, shape.toolCalls, row);
  const stepStart = shape.stepStart ? row(STEP) : undefined;
  const moved = moves.map((id, place) => ({ id: String(id), set: { state: String(sets[place]?.["state"]) } }));
  const madeAndMoved = toolCalls.filter(({ state }) => state !== "PENDING");
  return {
    agentIds: [String(agentId)],
    isFenced: true,
    kinds: namesIn(kinds),
    change: {
      agent,
      ...(signal === null ? {} : { expectSignal: Number(signal) }),
      ...(stepEnd === undefined ? {} : { stepEnd: { state: String(stepEnd["state"]) } }),
      ...(stepStart === undefined ? {} : { stepStart }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      transitions: [...moved, ...madeAndMoved.map(({ id, state }) => ({ id: String(id), set: { state: String(state) } }))],
    },
  };
}
