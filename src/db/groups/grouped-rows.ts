/** SQL over a row `c`. A value that may be null is of a group of its own. */
export type Dimension = { readonly sql: string; readonly isNullable: boolean };

/** A request for groups of rows. */
export type Grouping<Dimension extends string, Measure extends string> = {
  readonly by: readonly Dimension[];
  /** The edges of the buckets in ms since 1970, ascending; null for groups without buckets. */
  readonly edges: readonly number[] | null;
  readonly order: { readonly measure: Measure; readonly direction: "asc" | "desc" };
  readonly most: number;
  readonly hasTotal: boolean;
};

/** The rows that are grouped, and their figures, as SQL. */
export type GroupedSource<Name extends string, Measure extends string> = {
  /** Common table expressions before all others. */
  readonly open: readonly string[];
  /** A table with one row if the source can be read, and none otherwise. */
  readonly isKnown: string;
  /** Selects that together have each row once. */
  readonly found: readonly string[];
  /** Joined to the rows for the dimensions. A row may become several. */
  readonly join: string;
  /** The columns of `c` that figures and `examples` need. */
  readonly columns: readonly string[];
  readonly time: string;
  readonly dimensions: Readonly<Record<Name, Dimension>>;
  /** A condition on aggregates: groups that do not fit it are left out. */
  readonly having: string;
  /** Aggregates over `columns`, and their names in order. */
  readonly figures: string;
  readonly names: readonly string[];
  /** True if `figures` over the figures of parts are the figures of the whole. Each select is then read once. */
  readonly areAdditive: boolean;
  /** The SQL by which a figure is sent, over its name. */
  readonly sent: (name: string) => string;
  /** Further aggregates of a group `t`, for `actorKind`. */
  readonly examples: string;
  /** The kind of the actor that a group `t` has in common; `NULL` for other dimensions. `value` is the actor's id. */
  readonly actorKind: (dimension: Name, value: string) => string;
  /** The SQL by which groups are sorted, over the names of the figures. */
  readonly measures: Readonly<Record<Measure, string>>;
};

/** The value of a dimension that a group has in common, and the actor's kind if it is an actor. */
export type GroupValue = { readonly value: string | null; readonly actorKind: string | null };

export type Group<Name extends string, Figures> = {
  readonly key: ReadonlyMap<Name, GroupValue>;
  readonly figures: Figures;
  /** The figures of each bucket, those without rows included; null without buckets. */
  readonly series: readonly Figures[] | null;
};

export type Groups<Name extends string, Figures> = {
  readonly groups: readonly Group<Name, Figures>[];
  readonly groupCount: number;
  /** Null if it was not requested. */
  readonly total: Figures | null;
};

/** Of sources that have rows only: figures are those of all rows, and are sent as they are. */
export const OF_ROWS = { areAdditive: false, sent: (name: string): string => name } as const;

export type GroupedRow<FiguresRow> = FiguresRow & {
  readonly kind: "group" | "point" | "total" | null;
  readonly place: number;
  readonly bucket: number;
  readonly groups: number;
  readonly key: readonly string[];
  readonly kinds: readonly (string | null)[];
};

type Values = { readonly values: readonly unknown[]; add(value: unknown): string };

/** The groups of the rows that `groupedSql` found; null if the source cannot be read. */
export function groupsOf<Name extends string, Measure extends string, FiguresRow, Figures>(
  rows: readonly GroupedRow<FiguresRow>[],
  source: GroupedSource<Name, Measure>,
  grouping: Grouping<Name, Measure>,
  read: { readonly figuresOf: (row: FiguresRow) => Figures; readonly nothing: Figures },
): Groups<Name, Figures> | null {
  if (rows.length === 0) return null;
  const points = Map.groupBy(
    rows.filter(({ kind }) => kind === "point"),
    ({ place }) => place,
  );
  const found = rows.filter(({ kind }) => kind === "group").toSorted((one, other) => one.place - other.place);
  const total = rows.find(({ kind }) => kind === "total");
  return {
    groups: found.map((row): Group<Name, Figures> => {
      const series = new Map((points.get(row.place) ?? []).map((point) => [point.bucket, read.figuresOf(point)]));
      return {
        key: keyOf(source, grouping, row),
        figures: read.figuresOf(row),
        series: grouping.edges?.slice(1).map((_edge, bucket) => series.get(bucket) ?? read.nothing) ?? null,
      };
    }),
    groupCount: found[0]?.groups ?? 0,
    total: grouping.hasTotal ? (total === undefined ? read.nothing : read.figuresOf(total)) : null,
  };
}

function keyOf<Name extends string, Measure extends string>(
  { dimensions }: GroupedSource<Name, Measure>,
  { by }: Grouping<Name, Measure>,
  { key, kinds }: Pick<GroupedRow<unknown>, "key" | "kinds">,
): ReadonlyMap<Name, GroupValue> {
  return new Map(
    by.map((dimension, index) => {
      const stored = key[index] ?? "";
      const value = !dimensions[dimension].isNullable ? stored : stored === "" ? null : stored.slice(1);
      return [dimension, { value, actorKind: kinds[index] ?? null }];
    }),
  );
}

/**
 * Selects groups, their points by bucket, and the total, in one snapshot. A null is the empty text, and `=` begins each
 * value that may be null, since joins find equal texts only.
 */
export function groupedSql<Name extends string, Measure extends string>(
  source: GroupedSource<Name, Measure>,
  { by, edges, order, most, hasTotal }: Grouping<Name, Measure>,
  parameters: Values,
): string {
  const { open, isKnown, found, join, columns, dimensions, having, figures, names, examples, actorKind, measures } = source;
  const { areAdditive, sent } = source;
  const keys = by.map((_dimension, index) => `d${index}`);
  const keyed = by.map((dimension, index) => {
    const { sql, isNullable } = dimensions[dimension];
    return `${isNullable ? `coalesce('=' || ${sql}, '')` : sql} AS d${index}`;
  });
  const kinds = by.map((dimension, index) =>
    actorKind(dimension, dimensions[dimension].isNullable ? `substr(t.d${index}, 2)` : `t.d${index}`),
  );
  const sort = order.direction === "asc" ? "ASC" : "DESC";
  const places = [`${measures[order.measure]} ${sort} NULLS LAST`, ...keys.map((key) => `${key} COLLATE "C"`)];
  const same = ["true", ...keys.map((key) => `t.${key} = c.${key}`)].join(" AND ");
  const bucket = bucketSql(source.time, edges, parameters);
  const groupedFrom = (rows: string): string =>
    `SELECT ${[...columns, `${bucket} AS bucket`, ...keyed].join(", ")} FROM ${rows} c ${join}`;
  const each = [...keys, "bucket"].join(", ");
  const read = areAdditive
    ? [
        `grouped AS MATERIALIZED (${found.map((rows) => `SELECT ${each}, ${figures} FROM (${groupedFrom(`(${rows})`)}) r GROUP BY ${each}`).join(" UNION ALL ")})`,
      ]
    : [`found AS NOT MATERIALIZED (${found.join(" UNION ALL ")})`, `grouped AS NOT MATERIALIZED (${groupedFrom("found")})`];
  const series =
    edges === null
      ? ""
      : ` UNION ALL SELECT 'point', t.place, c.bucket, 0, '{}', '{}', ${figures} FROM grouped c JOIN (SELECT ${["place", ...keys].join(", ")} FROM top) t ON ${same} GROUP BY t.place, c.bucket`;
  const total = hasTotal
    ? ` UNION ALL SELECT 'total', 0, 0, 0, '{}', '{}', ${figures} FROM ${areAdditive ? "grouped" : "found"}`
    : "";
  const parts = [
    ...open,
    ...read,
    `groups AS MATERIALIZED (SELECT ${[...keys, examples, figures].join(", ")} FROM grouped ${keys.length === 0 ? "" : `GROUP BY ${keys.join(", ")} HAVING ${having}`})`,
    `top AS MATERIALIZED (SELECT g.*, (row_number() OVER (ORDER BY ${places.join(", ")}))::int AS place FROM groups g ORDER BY place LIMIT ${parameters.add(most)})`,
  ];
  return `WITH ${parts.join(", ")}
    SELECT ${["kind", "place", "bucket", "groups", "key", "kinds"].map((name) => `r.${name}`).join(", ")}, ${names.map((name) => `${sent(`r.${name}`)} AS ${name}`).join(", ")} FROM ${isKnown} LEFT JOIN LATERAL (
      SELECT 'group' AS kind, t.place, 0 AS bucket, (SELECT count(*) FROM groups)::int AS groups, ARRAY[${keys.join(", ")}]::text[] AS key, ARRAY[${kinds.join(", ")}]::text[] AS kinds, ${names.join(", ")} FROM top t${series}${total}
    ) r ON true`;
}

/** The number of a row's bucket, from 0. The rows' range leaves out those before the first and after the last. */
function bucketSql(time: string, edges: readonly number[] | null, parameters: Values): string {
  const inner = edges?.slice(1, -1) ?? [];
  if (inner.length === 0) return "0";
  return `width_bucket(${time}, ${parameters.add(inner.map((edge) => new Date(edge)))}::timestamptz[])`;
}
