import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { readEnvironment } from "../src/config/environment.ts";
import { askCopy, type CopyAnswer } from "../src/db/bi/ask-copy.ts";
import type { Answer } from "../src/db/bi/copy-reader.ts";
import { readingStatement, StatementRefused } from "../src/db/bi/statement.ts";
import { obtainCopy } from "../src/db/copies/obtain-copy.ts";
import { removeCopy } from "../src/db/copies/private-copies.ts";
import { csvLine } from "../src/lib/csv.ts";
import { textTable } from "../src/lib/text-table.ts";
import { command } from "./command.ts";

const USAGE =
  "npm run --silent sql -- [--tenant TENANT] [--content] [--csv] [--timeout SECONDS] 'SELECT …' (or the statement on stdin)";
const MOST_SECONDS = 60;
/** The exit code of an answer that was cut. */
const CUT = 3;

/** `npm run sql`: one reading statement about the views of `bi`, on a copy of the embedded database. Changes no data, also beside a running server. */
await command(async () => {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => stopping.abort(new StatementRefused("the statement was stopped")));
  // A reader such as `head` may take less than everything.
  process.stdout.on("error", () => {});
  const { positionals, values } = readArguments(process.argv.slice(2));
  if (values.help) return console.log(USAGE);
  const { database } = readEnvironment(process.env);
  if (database.kind === "postgres")
    throw new StatementRefused(
      "DATABASE_URL names a PostgreSQL: make a login with `npm run bi -- grant NAME --tenant TENANT`, and ask with psql, Metabase or Grafana (docs/bi.md)",
    );
  const [given, ...more] = positionals;
  if (more.length > 0) throw new StatementRefused(`give the statement as one argument, in quotes: ${USAGE}`);
  if (given === undefined && process.stdin.isTTY) throw new StatementRefused(`usage: ${USAGE}`);
  const { text: statement } = readingStatement(given ?? (await text(process.stdin)));
  const token = process.env["TRIPLANE_TOKEN"]?.trim() || null;
  const copy = await obtainCopy({ dataFolder: database.folder, tenant: values.tenant, token, signal: stopping.signal });
  try {
    const question = { folder: join(copy, "pglite"), tenant: values.tenant, readsContent: values.content, statement };
    print(await askCopy(question, { limitMs: values.seconds * 1_000, signal: stopping.signal }), values);
  } finally {
    await removeCopy(copy);
  }
});

type Values = {
  readonly tenant: string;
  readonly content: boolean;
  readonly csv: boolean;
  readonly seconds: number;
  readonly help: boolean;
};

function readArguments(args: readonly string[]): { readonly positionals: readonly string[]; readonly values: Values } {
  const { positionals, values } = parsed(args);
  const seconds = Number(values.timeout);
  if (!(seconds > 0 && seconds <= MOST_SECONDS))
    throw new StatementRefused(`--timeout ${values.timeout} must be a number of seconds, ${MOST_SECONDS} at most`);
  return { positionals, values: { ...values, seconds } };
}

function parsed(args: readonly string[]) {
  // A statement may begin with a comment, which is no option.
  const isComment = (text: string): boolean => /^--\s/.test(text);
  try {
    const { positionals, values } = parseArgs({
      args: args.filter((text) => !isComment(text)),
      allowPositionals: true,
      options: {
        help: { type: "boolean", default: false },
        tenant: { type: "string", default: "local" },
        content: { type: "boolean", default: false },
        csv: { type: "boolean", default: false },
        timeout: { type: "string", default: "5" },
      },
    });
    return { positionals: [...positionals, ...args.filter(isComment)], values };
  } catch (error) {
    throw new StatementRefused(`${error instanceof Error ? error.message : String(error)}\nusage: ${USAGE}`);
  }
}

function print({ answer, otherTenants }: CopyAnswer, { csv, tenant }: Values): void {
  if (csv) printCsv(answer);
  else for (const line of textTable(answer.columns, answer.rows)) process.stdout.write(`${line}\n`);
  if (otherTenants !== null)
    console.error(
      `No row is of the tenant ${tenant}. Tenants of this database: ${otherTenants.join(", ") || "none"} (--tenant).`,
    );
  if (answer.cut !== null) {
    console.error(`Cut after ${answer.rows.length} rows: ${answer.cut}. Ask for less, or group.`);
    process.exitCode = CUT;
  } else if (!csv) console.error(`${answer.rows.length} ${answer.rows.length === 1 ? "row" : "rows"}`);
}

function printCsv({ columns, rows }: Answer): void {
  process.stdout.write(csvLine(columns.map(({ name }) => ({ text: name, isNumber: false }))));
  for (const row of rows)
    process.stdout.write(
      csvLine(row.map((cell, at) => (cell === null ? null : { text: cell, isNumber: columns[at]?.isNumber === true }))),
    );
}
