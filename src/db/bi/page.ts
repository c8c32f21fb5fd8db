import { VIEWS } from "./views.ts";

/** The page of all columns, from the same texts as the comments in the database. */
export function columnsPage(): string {
  const parts = VIEWS.map(({ schema, name, meaning, columns }) => {
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
