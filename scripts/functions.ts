import { readdir, readFile } from "node:fs/promises";

const FOLDER = new URL("../src/db/functions/", import.meta.url);

/** A SQL function as its source says it. */
export type FunctionSource = { readonly name: string; readonly text: string };

/** The sources of all SQL functions, by name. */
export async function readFunctions(): Promise<readonly FunctionSource[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".sql")).sort();
  return Promise.all(
    files.map(async (file) => ({ name: file.replace(/\.sql$/, ""), text: await readFile(new URL(file, FOLDER), "utf8") })),
  );
}

/** The line above the text of a function in a migration. */
export function functionMark(name: string): string {
  return `-- Written by \`npm run migration\` from src/db/functions/${name}.sql: change it there.`;
}

/** The definition of a function in the newest migration that has one; null if none does. */
export function newestText(name: string, migrations: readonly { readonly sql: string }[]): string | null {
  for (const { sql } of migrations.toReversed()) {
    const [, after] = sql.split(`${functionMark(name)}\n`, 2);
    if (after !== undefined) return `${after.split("$function$;\n", 1)[0]}$function$;\n`;
  }
  return null;
}
