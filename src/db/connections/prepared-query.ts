/// <reference path="./pg-utils.d.ts" />
import pg from "pg";
import { serialize } from "pg-protocol";
import { prepareValue } from "pg/lib/utils.js";
import type { Statement } from "../sql.ts";

type Column = { readonly name: string; readonly read: (text: string) => unknown };

type Prepared = { readonly text: string; readonly columns: readonly Column[] };

const PREPARED = new WeakMap<pg.Connection, Map<string, Prepared>>();

const DESCRIBE = serialize.describe({ type: "P" });
const EXECUTE = Buffer.concat([serialize.execute(), serialize.sync()]);

/** The time in which PostgreSQL must answer, in ms: a connection that died silently must not hold what waits for it. */
export const ANSWER_MS = 10_000;

/**
 * The statement's rows, on a connection that keeps it prepared. It is parsed and described once; then only its values
 * are sent, in one piece, and rows are returned (PostgreSQL, "Extended Query"). The driver's own query has it described
 * each time: a twentieth of a commit's time (docs/adr/0026). Rejects as the driver's own query does, with the caller's
 * stack. After a rejection for a missing answer, the connection must not be reused.
 *
 * The driver's own time limit (`query_timeout`) assigns a function to a property, which V8 promotes to an old object.
 * Everything it reaches, such as the rows, is kept until the whole heap is collected.
 */
export async function queryPrepared<Row>(
  client: Pick<pg.ClientBase, "query">,
  statement: Statement<Row>,
  values: readonly unknown[],
  answerMs = ANSWER_MS,
): Promise<Row[]> {
  const answer = Promise.withResolvers<readonly object[]>();
  const late = setTimeout(() => answer.reject(new Error("Query read timeout")), answerMs);
  try {
    client.query(
      new PreparedQuery(statement, values, (error, rows) => (error === null ? answer.resolve(rows) : answer.reject(error))),
    );
    return (await answer.promise) as Row[];
  } catch (error) {
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  } finally {
    clearTimeout(late);
  }
}

/** A query in the driver's custom form: it calls `submit`, and then a function for each message. */
class PreparedQuery implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  readonly #values: readonly unknown[];
  readonly #rows: object[] = [];
  #columns: readonly Column[] = [];
  #unreadable: Error | null = null;
  readonly callback: (error: Error | null, rows: readonly object[]) => void;

  constructor({ name, text }: Statement, values: readonly unknown[], callback: PreparedQuery["callback"]) {
    this.name = name;
    this.text = text;
    this.#values = values;
    this.callback = callback;
  }

  submit(connection: pg.Connection): Error | null {
    const prepared = preparedBy(connection).get(this.name);
    if (prepared !== undefined && prepared.text !== this.text)
      return new Error(`the statement ${this.name} of this connection has another text`);
    try {
      const bound = serialize.bind({ statement: this.name, values: [...this.#values], valueMapper: prepareValue });
      this.#columns = prepared?.columns ?? [];
      connection.stream.write(
        Buffer.concat(prepared === undefined ? [...this.#prepare(), bound, DESCRIBE, EXECUTE] : [bound, EXECUTE]),
      );
      return null;
    } catch (error) {
      return toError(error);
    }
  }

  /** PostgreSQL may know the name already, from a statement that was parsed and failed at its first run. */
  #prepare(): readonly Buffer[] {
    return [serialize.close({ type: "S", name: this.name }), serialize.parse({ name: this.name, text: this.text })];
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      read: pg.types.getTypeParser(dataTypeID, "text") as Column["read"],
    }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#unreadable !== null) return;
    try {
      this.#rows.push(rowOf(this.#columns, fields));
    } catch (error) {
      this.#unreadable = toError(error);
    }
  }

  handleCommandComplete(): void {}

  handleEmptyQuery(): void {}

  handleReadyForQuery(connection: pg.Connection): void {
    // A statement without a name lasts until the next one.
    if (this.name !== "") preparedBy(connection).set(this.name, { text: this.text, columns: this.#columns });
    this.callback(this.#unreadable, this.#rows);
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }
}

function rowOf(columns: readonly Column[], texts: readonly (string | null)[]): object {
  if (texts.length !== columns.length)
    throw new Error(`the statement answers ${texts.length} columns, and ${columns.length} when it was described`);
  const row: Record<string, unknown> = {};
  columns.forEach(({ name, read }, index) => {
    const text = texts[index] ?? null;
    row[name] = text === null ? null : read(text);
  });
  return row;
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function preparedBy(connection: pg.Connection): Map<string, Prepared> {
  const known = PREPARED.get(connection);
  if (known !== undefined) return known;
  const prepared = new Map<string, Prepared>();
  PREPARED.set(connection, prepared);
  return prepared;
}
