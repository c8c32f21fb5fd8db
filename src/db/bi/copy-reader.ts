import { access } from "node:fs/promises";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { messageOf } from "../../lib/text.ts";
import { CopyRefused } from "../copies/folder-copy.ts";
import { openEmbeddedDatabase } from "../initialised.ts";
import { migrate, MIGRATION_TIMES, readMigrations } from "../migrate.ts";
import { grantsOf, installViews, inTransaction, type OperatorConnection } from "./install.ts";
import { READER_SETTINGS } from "./readers.ts";
import { readingStatement, StatementRefused, type ReadingStatement } from "./statement.ts";
import { identifier, literal } from "./view.ts";

/** The rows of a statement, each value in PostgreSQL's own text. */
export type Answer = {
  readonly columns: readonly { readonly name: string; readonly isNumber: boolean }[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Why there are more rows than these; null if there are not. */
  readonly cut: string | null;
};

export type CopyReader = {
  /** The tenants of the database, if the given one is not among them; null if it is. */
  readonly otherTenants: readonly string[] | null;
  /** Runs one reading statement with the rights of an analyst. Rejects with StatementRefused. */
  answer(statement: string): Promise<Answer>;
  close(): Promise<void>;
};

const MOST_ROWS = 10_000;
/** The most characters of an answer. */
const MOST_CHARACTERS = 64 * 1024 ** 2;
const ROWS_AT_ONCE = 500;
/** The characters of a fetch, nearly. The embedded database takes ever longer for larger ones. */
const CHARACTERS_AT_ONCE = 1024 ** 2;

const ROLE = "analyst";

/** PostgreSQL's types of numbers: int8, int2, int4, oid, float4, float8, money and numeric. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 790, 1700]);

type Scope = { readonly tenant: string; readonly readsContent: boolean };

/** Opens a copy of an embedded database as an analyst of one tenant. The copy is changed: it gets the views and their reader. */
export async function openCopy(folder: string, scope: Scope): Promise<CopyReader> {
  // An empty folder would become a database.
  const client = await access(join(folder, "PG_VERSION"))
    .then(() => openEmbeddedDatabase(folder))
    .catch((error: unknown) => {
      throw new CopyRefused(
        `the copy of the database does not open (${messageOf(error)}): run this command in the checkout of the version that made the database; if its server does not start either, restore a backup`,
      );
    });
  try {
    const otherTenants = await prepare(client, scope);
    return {
      otherTenants,
      answer: async (statement) => answer(client, readingStatement(statement)),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function prepare(client: PGlite, { tenant, readsContent }: Scope): Promise<readonly string[] | null> {
  const connection: OperatorConnection = {
    script: async (text) => void (await client.exec(text)),
    query: async <Row>(text: string, values: readonly unknown[] = []) => (await client.query<Row>(text, [...values])).rows,
  };
  const run = { times: MIGRATION_TIMES, tell: () => {}, migrated: () => {}, signal: new AbortController().signal };
  await migrate(connection, await readMigrations(), run);
  const tenants = (await connection.query<{ tenant: string }>("SELECT tenant FROM tenant_log ORDER BY tenant")).map(
    (row) => row.tenant,
  );
  const [{ database } = { database: "" }] = await connection.query<{ database: string }>("SELECT current_database() AS database");
  await inTransaction(connection, async () => {
    await installViews(connection);
    // The user of an embedded session is a superuser, and set_config could make the reader one again.
    await connection.script(`CREATE ROLE ${ROLE} NOLOGIN NOINHERIT;
INSERT INTO bi.bi_reader (role, tenant, reads_content) VALUES (${literal(ROLE)}, ${literal(tenant)}, ${readsContent});
${grantsOf(ROLE, readsContent)}
REVOKE EXECUTE ON FUNCTION pg_catalog.set_config(text, text, boolean) FROM PUBLIC;
REVOKE TEMPORARY ON DATABASE ${identifier(database)} FROM PUBLIC;`);
  });
  for (const [name, value] of READER_SETTINGS) await connection.script(`SET ${name} = ${value};`);
  await connection.script(`SET cursor_tuple_fraction = 1; SET SESSION AUTHORIZATION ${ROLE};`);
  return tenants.includes(tenant) ? null : tenants;
}

async function answer(client: PGlite, statement: ReadingStatement): Promise<Answer> {
  await client.exec("BEGIN READ ONLY");
  try {
    return statement.kind === "plan" ? await plan(client, statement.text) : await rowsOf(client, statement.text);
  } finally {
    await client.exec("ROLLBACK");
  }
}

const CURSOR = "DECLARE answer NO SCROLL CURSOR FOR\n";

async function rowsOf(client: PGlite, text: string): Promise<Answer> {
  await told(text, CURSOR.length, () => client.query(CURSOR + text));
  const rows: (string | null)[][] = [];
  let columns: Answer["columns"] = [];
  let characters = 0;
  for (let count = 1; ;) {
    const page = await told(text, null, () => texts(client, `FETCH ${count} FROM answer`));
    columns = page.columns;
    for (const row of page.rows) {
      if (rows.length === MOST_ROWS) return { columns, rows, cut: `an answer has at most ${MOST_ROWS} rows` };
      characters += row.reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
      if (characters > MOST_CHARACTERS)
        return { columns, rows, cut: `an answer has at most ${MOST_CHARACTERS / 1024 ** 2} million characters` };
      rows.push([...row]);
    }
    if (page.rows.length < count) return { columns, rows, cut: null };
    const ofRow = characters / rows.length;
    count = Math.max(1, Math.min(ROWS_AT_ONCE, count * 4, Math.floor(CHARACTERS_AT_ONCE / Math.max(1, ofRow))));
  }
}

async function plan(client: PGlite, text: string): Promise<Answer> {
  return { ...(await told(text, 0, () => texts(client, text))), cut: null };
}

async function texts(client: PGlite, text: string): Promise<Omit<Answer, "cut">> {
  const asText = (value: string): string => value;
  const parsers = Object.fromEntries(Object.keys(client.parsers).map((type) => [type, asText]));
  const { fields, rows } = await client.query<(string | null)[]>(text, [], { rowMode: "array", parsers });
  return { columns: fields.map(({ name, dataTypeID }) => ({ name, isNumber: NUMBERS.has(dataTypeID) })), rows };
}

/** The parts of an error of the database, which are texts, and absent in other errors. */
function problemOf(error: unknown): { readonly code: string; readonly hint: string; readonly position: string } {
  const part = (name: string): string => {
    const value: unknown = error instanceof Error ? Reflect.get(error, name) : undefined;
    return typeof value === "string" ? value : "";
  };
  return { code: part("code"), hint: part("hint"), position: part("position") };
}

/** Runs a statement. Its error names the problem, its place in `text`, which begins at `offset` of the statement, and the remedy. */
async function told<Value>(text: string, offset: number | null, run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    const { code, hint, position } = problemOf(error);
    const at = offset === null || position === "" ? "" : placeIn(text, Number(position) - 1 - offset);
    const message = messageOf(error);
    // The analyst has written no DECLARE CURSOR.
    if (/DECLARE CURSOR/.test(message)) throw new StatementRefused(ONLY_READS, { cause: error });
    const advice = ADVICE.get(code) ?? REMEDIES.find(([form]) => form.test(message))?.[1] ?? hint;
    throw new StatementRefused(`${message}${at}${advice === "" ? "" : `: ${advice}`}`, { cause: error });
  }
}

const ONLY_READS = "give one statement that only reads, without INSERT, UPDATE, DELETE or MERGE, also in WITH";

/** By the message, where the code is one of many problems. */
const REMEDIES: readonly (readonly [form: RegExp, remedy: string])[] = [
  [/multiple commands/, "give one statement, and no text after its semicolon"],
  [/at or near "(insert|update|delete|merge)"/i, ONLY_READS],
];

const ADVICE: ReadonlyMap<string, string> = new Map([
  ["25006", "statements only read here"],
  ["42501", "the views of bi can be read, and with --content those of bi_content (docs/bi-columns.md)"],
  ["42P01", "docs/bi-columns.md lists the views and their columns"],
  ["42703", "docs/bi-columns.md lists the views and their columns"],
]);

/** Where a character of the text is, by line and column from 1. PostgreSQL counts characters, not units of UTF-16. */
function placeIn(text: string, at: number): string {
  if (!Number.isInteger(at) || at < 0) return "";
  const lines = Array.from(text).slice(0, at).join("").split("\n");
  return `, at line ${lines.length}, column ${Array.from(lines.at(-1) ?? "").length + 1}`;
}
