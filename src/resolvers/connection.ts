import { exactTime } from "../lib/time.ts";
import { clientError } from "./context.ts";

/** The most entries of one page of a connection. */
export const MAX_PAGE = 100;
/** Entries of a page if the client does not say. */
export const DEFAULT_PAGE = 50;
/** The most rows that are counted: this number means "at least". */
export const MOST_COUNTED = 10_000;

export type PageArguments = {
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly before?: string | null | undefined;
};

/** A page of a list in Relay's form, with a function that counts the whole list. */
export type Connection<Row> = {
  readonly edges: { cursor: string; node: Row }[];
  readonly pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
  readonly count: () => Promise<number>;
};

export type PageQuery<Where, OrderBy> = { readonly where: Where; readonly orderBy: OrderBy[]; readonly take: number };

export type Part = { readonly after: SortKey | null; readonly before: SortKey | null; readonly isBackwards: boolean };

/** A list: its order, and functions that read and count its rows. `where` of a count is that of the whole list. */
export type List<Row, Where, OrderBy> = {
  readonly order: Order<Row>;
  readonly where: Where;
  readonly read: (query: PageQuery<Where, OrderBy>, part: Part) => Promise<Row[]>;
  readonly count: (query: { readonly where: Where; readonly take: number }) => Promise<number>;
};

/**
 * A page of a list, by our own keys (docs/adr/0019). A row that keeps its key and stays in the list appears once,
 * whatever else changes between two pages.
 */
export async function connection<Row extends object, Where extends object, OrderBy extends object>(
  args: PageArguments,
  list: List<Row, Where, OrderBy>,
): Promise<Connection<Row>> {
  checkPage(args);
  const { order } = list;
  const isBackwards = typeof args.last === "number";
  const size = args.last ?? args.first ?? DEFAULT_PAGE;
  const after = typeof args.after === "string" ? readPlace(order, args.after, "after") : null;
  const before = typeof args.before === "string" ? readPlace(order, args.before, "before") : null;
  const conditions = [
    ...(after === null ? [] : [beyond(order, after, false)]),
    ...(before === null ? [] : [beyond(order, before, true)]),
  ];
  const found = await list.read(
    { where: both<Where>(list.where, conditions), orderBy: orderBy(order, isBackwards) as OrderBy[], take: size + 1 },
    { after, before, isBackwards },
  );
  return { ...pageOfRows(args, order, found, size), count: () => list.count({ where: list.where, take: MOST_COUNTED }) };
}

/** The page of the read rows, which are one more than its size if more follow; reversed for `last`. */
export function pageOfRows<Row extends object>(
  args: PageArguments,
  order: Order<Row>,
  found: readonly Row[],
  size: number,
): Omit<Connection<Row>, "count"> {
  const isBackwards = typeof args.last === "number";
  const hasMore = found.length > size;
  const rows = isBackwards ? found.slice(0, size).toReversed() : found.slice(0, size);
  const edges = rows.map((node) => ({ cursor: placeOf(order, node), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: isBackwards ? typeof args.before === "string" : hasMore,
      hasPreviousPage: isBackwards ? hasMore : typeof args.after === "string",
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

function both<Where extends object>(where: Where, conditions: readonly Condition[]): Where {
  return conditions.length === 0 ? where : ({ AND: [where, ...conditions] } as Where);
}

/** Rejects invalid page sizes. */
export function checkPage({ first, last }: Pick<PageArguments, "first" | "last">, most = MAX_PAGE): void {
  for (const [name, size] of [
    ["first", first],
    ["last", last],
  ] as const) {
    if (size !== null && size !== undefined && (size < 1 || size > most))
      throw clientError("BAD_USER_INPUT", `\`${name}\` must be between 1 and ${most}, not ${size}`);
  }
  if (typeof first === "number" && typeof last === "number")
    throw clientError("BAD_USER_INPUT", "give `first` or `last`, not both");
}

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

type Condition = Readonly<Record<string, unknown>>;

/**
 * The opaque place of a row: its sort key. It stays valid when the row changes or disappears, since following rows are
 * found by comparing keys.
 */
function placeOf<Row extends object>({ name, columns }: Order<Row>, row: Row): string {
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
function beyond<Row>({ columns }: Order<Row>, key: SortKey, isBackwards: boolean): Condition {
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
function orderBy<Row>({ columns }: Order<Row>, isBackwards: boolean): readonly Condition[] {
  return columns.map(({ name, direction, nulls }) => {
    const sort = isBackwards ? (direction === "asc" ? "desc" : "asc") : direction;
    return { [name]: nulls === "last" ? { sort, nulls: isBackwards ? "first" : "last" } : sort };
  });
}

/** A half-open span of time, without `to`. */
export type TimeRange = { readonly from?: Date | null | undefined; readonly to?: Date | null | undefined };

export function within(range: TimeRange | null | undefined): { gte?: Date; lt?: Date } {
  return { ...(range?.from ? { gte: range.from } : {}), ...(range?.to ? { lt: range.to } : {}) };
}
