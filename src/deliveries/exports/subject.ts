import type { Parameters } from "../../agent/calls/audit/rows.ts";
import type { Column, View } from "../../db/bi/view.ts";
import { VIEWS } from "../../db/bi/views.ts";
import type { ExportFilter } from "./export.ts";

/** The conditions on a filter's rows, and the parameters of the statement so far. */
export type Chosen = { readonly filter: ExportFilter; readonly parameters: Parameters };

/** A time and the rest of a key: the rows after them come next. */
export type KeyPlace = { readonly at: string; readonly id: string };

/**
 * The rows of an export. Their columns are those of the SQL views, with the same names and meanings, and the texts those
 * of the view of texts.
 *
 * SQL of keys has a row for each row of the export, with these columns:
 * - `at`, the time or position of its order, and `place`, the rest of its key as a text;
 * - `agent_id`, and `unit`, the text by which an event names the row, or the rows that it makes final together;
 * - `size`, the bytes of its texts as far as they are known without them;
 * - columns of the subject, for `order` and `matches`.
 *
 * A key without a row is a place to continue from.
 */
export type Subject = {
  readonly view: View;
  /** Null if the rows have no texts. */
  readonly texts: View | null;
  /** SQL of the condition that a row of the view's tables is that of the key `k`. */
  readonly matches: string;
  /** SQL of the order of keys `k`. */
  readonly order: string;
  /** The most rows that one statement reads. */
  readonly mostRows: number;
  /** SQL of the next keys after a place, in order. Null for rows that only the log has. */
  readonly byTime: ((chosen: Chosen, place: KeyPlace) => string) | null;
  /** The kinds of events by which a row becomes final; null for each kind. */
  readonly kinds: readonly string[] | null;
  /** SQL of the unit that an event `e` makes final. */
  readonly unitOfEvent: string;
  /** SQL of further columns of `seen`, from an event `e`. */
  readonly factsOfEvent: string;
  /** SQL of the keys of the rows that the events of `seen` (unit, agent_id, at, time, and the facts) make final. */
  readonly bySeen: (chosen: Chosen) => string;
  /** SQL of the condition that a key `k` comes after another one at the same position; null if an event has one row. */
  readonly afterAtPosition: ((place: string, parameters: Parameters) => string) | null;
};

export function viewOf(schema: View["schema"], name: string): View {
  const found = VIEWS.find((view) => view.schema === schema && view.name === name);
  if (found === undefined) throw new Error(`there is no view ${schema}.${name}`);
  return found;
}

/** The view with some columns as exact numbers in JSON: counts and positions are below 2^53. */
export function withNumbers(view: View, names: readonly string[]): View {
  const columns = view.columns.map(([name, sql, meaning]): Column => [
    name,
    names.includes(name) ? `(${sql})::float8` : sql,
    meaning,
  ]);
  return { ...view, columns };
}

export function among(sql: string, values: readonly string[] | null, parameters: Parameters): readonly string[] {
  return values === null ? [] : [`${sql} = ANY (${parameters.add(values)}::text[])`];
}

/** The conditions on a time of a row. */
export function within(sql: string, { filter: { from, to }, parameters }: Chosen): readonly string[] {
  return [
    ...(from === null ? [] : [`${sql} >= ${parameters.add(from)}::timestamptz`]),
    ...(to === null ? [] : [`${sql} < ${parameters.add(to)}::timestamptz`]),
  ];
}

/** The conditions on the agent `a` of a row. */
export function ofAgents({ filter, parameters }: Chosen): readonly string[] {
  return [
    ...among("a.created_by", filter.visible, parameters),
    ...among("a.id", filter.agentIds, parameters),
    ...among("a.template_id", filter.templateIds, parameters),
    ...among("a.created_by", filter.createdBy, parameters),
  ];
}

export function all(terms: readonly string[]): string {
  return terms.length === 0 ? "true" : terms.join(" AND ");
}
