/** A column of a view: its name, the SQL that makes it, and its meaning. */
export type Column = readonly [name: string, sql: string, meaning: string];

/** A view for analysts: `tables` is all after FROM, without the condition on the tenant, which `viewSql` adds. */
export type View = {
  readonly schema: "bi" | "bi_content";
  readonly name: string;
  readonly meaning: string;
  readonly tables: string;
  /** The table, by its name in `tables`, whose tenant each row has. */
  readonly of: string;
  readonly groupBy?: string;
  readonly columns: readonly Column[];
};

/** The column with the id of the API. */
export const relay = (type: string, id: string): Column => [
  "relay_id",
  `encode(convert_to('${type}:' || ${id}, 'UTF8'), 'base64')`,
  "Id of the same object in the API.",
];

/** The SQL that makes the view and the comments on it. The tenant is looked up once a query, not once a row. */
export function viewSql({ schema, name, meaning, tables, of, groupBy, columns }: View): string {
  const selected = columns.map(([column, sql]) => `${sql} AS ${column}`).join(",\n  ");
  const comments = columns.map(([column, , said]) => `COMMENT ON COLUMN ${schema}.${name}.${column} IS ${literal(said)};`);
  return [
    `CREATE VIEW ${schema}.${name} WITH (security_barrier) AS SELECT ${selected}`,
    `FROM ${tables} WHERE ${of}.tenant = (SELECT bi.tenant())${groupBy === undefined ? "" : ` GROUP BY ${groupBy}`};`,
    `COMMENT ON VIEW ${schema}.${name} IS ${literal(meaning)};`,
    ...comments,
  ].join("\n");
}

/** The page of all columns, from the same texts as the comments in the database. */
export function columnsPage(views: readonly View[]): string {
  const parts = views.map(({ schema, name, meaning, columns }) => {
    const rows = columns.map(([column, , said]) => `| \`${column}\` | ${said} |`);
    return [`## ${schema}.${name}`, "", meaning, "", "| column | meaning |", "|---|---|", ...rows, ""].join("\n");
  });
  return [
    "# Columns of the SQL views",
    "",
    "Made by `npm run bi -- columns`. [The guide](bi.md) says how to query them.",
    "",
    ...parts,
  ].join("\n");
}

/** A command for the SQL views is refused. The message says why, and how it is done. */
export class ViewsRefused extends Error {
  override readonly name = "ViewsRefused";
}

/** A text as a literal of SQL, whatever `standard_conforming_strings` says. */
export function literal(text: string): string {
  return text.includes("\\") ? `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'` : `'${text.replaceAll("'", "''")}'`;
}

/** A name as an identifier of SQL. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
