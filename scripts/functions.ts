import { readdir, readFile } from "node:fs/promises";
import { AGENT_PATCH, COMPACTION_PATCH, KNOWN_FILE_PATCH, STEP_END, TOOL_CALL_PATCH } from "../src/db/commit/columns.ts";
import { columnName } from "../src/db/commit/parts.ts";

const FOLDER = new URL("../src/db/functions/", import.meta.url);

/** A SQL function as its source says it. */
export type FunctionSource = { readonly name: string; readonly text: string };

/** The lists of columns that a source names: `$(step_end)`, or `$(r.step_end)` for those of a row `r`. */
const LISTS = new Map(
  Object.entries({
    agent_patch: AGENT_PATCH,
    step_end: STEP_END,
    tool_call_patch: TOOL_CALL_PATCH,
    compaction_patch: COMPACTION_PATCH,
    known_file_patch: KNOWN_FILE_PATCH,
  }).map(([name, columns]): [string, readonly string[]] => [name, Object.keys(columns).map(columnName)]),
);

/** The sources of all SQL functions, by name, with the columns that they name written out. */
export async function readFunctions(): Promise<readonly FunctionSource[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".sql")).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, FOLDER), "utf8");
      return { name: file.replace(/\.sql$/, ""), text: writtenOut(text) };
    }),
  );
}

function writtenOut(text: string): string {
  return text.replaceAll(/\$\((\w+\.)?(\w+)\)/g, (_all, row: string | undefined, list: string) => {
    const columns = LISTS.get(list);
    if (columns === undefined) throw new Error(`src/db/commit/columns.ts has no columns of ${list}`);
    return columns.map((column) => `${row ?? ""}${column}`).join(", ");
  });
}

/** The line above the text of a function in a migration. */
export function functionMark(name: string): string {
  return `-- Written by \`npm run migration\` from src/db/functions/${name}.sql: change it there.`;
}

/** The definition of a function in the newest migration that has one; null if none does. */
export function newestDefinition(name: string, migrations: readonly { readonly sql: string }[]): string | null {
  for (const { sql } of migrations.toReversed()) {
    const [, after] = sql.split(`${functionMark(name)}\n`, 2);
    if (after !== undefined) return definitionOf(`${after.split("$function$;\n", 1)[0]}$function$;\n`);
  }
  return null;
}

/** The definition in a source: the comment above it is for readers, and needs no migration when it changes. */
export function definitionOf(text: string): string {
  return text.replace(/^(--.*\n)+/, "");
}
