import { exactTime } from "../lib/time.ts";
import { clientError } from "./errors.ts";

/** A column of an order. Rows with null come last. */
export type SortColumn<Row> = {
  readonly name: keyof Row & string;
  readonly direction: "asc" | "desc";
  /** An integer is PostgreSQL's, of 32 bits. */
  readonly holds: "time" | "integer" | "number" | "text";
  readonly nulls: "never" | "last";
};

/** An order of rows; its last columns are unique. `name` distinguishes its places from those of other orders. */
export type Order<Row> = { readonly name: string; readonly columns: readonly SortColumn<Row>[] };

export type SortKey = readonly (string | number | null)[];

export type Condition = Readonly<Record<string, unknown>>;

/**
 * The opaque place of a row: its sort key. It stays valid when the row changes or disappears, since following rows are
 * found by comparing keys.
 */
export function placeOf<Row extends object>({ name, columns }: Order<Row>, row: Row): string {
  const key = columns.map((column) => {
    const value: unknown = row[column.name];
    return value instanceof Date ? value.toISOString() : value;
  });
  return Buffer.from(JSON.stringify([name, ...key])).toString("base64url");
}

/** The sort key of a place. Throws BAD_USER_INPUT if it belongs to another order. */
export function readPlace<Row>({ name, columns }: Order<Row>, place: string, argument: string): SortKey {
  const parts = parsed(place);
  const [order, ...key] = Array.isArray(parts) ? (parts as readonly unknown[]) : [];
  const isKey = order === name && key.length === columns.length && columns.every((column, index) => isValue(column, key[index]));
  if (!isKey) throw clientError("BAD_USER_INPUT", `\`${argument}\` must be a cursor of this connection, in the same order`);
  return key as SortKey;
}

function parsed(place: string): unknown {
  try {
    return JSON.parse(Buffer.from(place, "base64url").toString("utf8"));
  } catch {
    return null;
  }
}

function isValue<Row>({ holds, nulls }: SortColumn<Row>, value: unknown): boolean {
  if (value === null) return nulls === "last";
  switch (holds) {
    case "integer":
      return typeof value === "number" && (value | 0) === value;
    case "number":
      return Number.isFinite(value);
    case "time":
      return typeof value === "string" && exactTime(value) !== null;
    case "text":
      return typeof value === "string" && !value.includes("\0");
  }
}

/** The condition that a row comes after a key, or, backwards, before it. */
export function beyond<Row>({ columns }: Order<Row>, key: SortKey, isBackwards: boolean): Condition {
  const values = columns.map((column, index) => valueOf(column, key[index] ?? null));
  const [first] = columns;
  const terms = columns.flatMap((column, index): readonly Condition[] => {
    const further = furtherThan(column, values[index] ?? null, isBackwards);
    if (further === null) return [];
    const same = columns.slice(0, index).map(({ name }, place) => ({ [name]: values[place] ?? null }));
    return [{ AND: [...same, further] }];
  });
  // Repeated for the first column alone, so that an index finds the start.
  const start = first === undefined ? null : notBefore(first, values[0] ?? null, isBackwards);
  return { AND: [...(start === null ? [] : [start]), { OR: terms }] };
}

function valueOf<Row>({ holds }: SortColumn<Row>, value: string | number | null): Date | string | number | null {
  return holds === "time" && value !== null ? new Date(value) : value;
}

function furtherThan<Row>(
  { name, direction, nulls }: SortColumn<Row>,
  value: Date | string | number | null,
  isBackwards: boolean,
): Condition | null {
  if (value === null) return isBackwards ? { NOT: { [name]: null } } : null;
  const further = { [name]: (direction === "asc") === isBackwards ? { lt: value } : { gt: value } };
  return nulls === "last" && !isBackwards ? { OR: [further, { [name]: null }] } : further;
}

function notBefore<Row>(
  { name, direction, nulls }: SortColumn<Row>,
  value: Date | string | number | null,
  isBackwards: boolean,
): Condition | null {
  if (nulls === "last" || value === null) return null;
  return { [name]: (direction === "asc") === isBackwards ? { lte: value } : { gte: value } };
}

/** The order in Prisma's form, reversed if backwards. */
export function orderBy<Row>({ columns }: Order<Row>, isBackwards: boolean): readonly Condition[] {
  return columns.map(({ name, direction, nulls }) => {
    const sort = isBackwards ? (direction === "asc" ? "desc" : "asc") : direction;
    return { [name]: nulls === "last" ? { sort, nulls: isBackwards ? "first" : "last" } : sort };
  });
}
