import type { MigrationConnection } from "./connected-servers.ts";
import { DatabaseUnavailable } from "./storage-error.ts";

type PostgresServer = {
  readonly number: number;
  readonly version: string;
  readonly encoding: string;
  /** The settings that let PostgreSQL acknowledge writes that a crash may lose: "fsync", "synchronous_commit". */
  readonly lossy: readonly string[];
};

const SERVER = `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
  current_setting('server_encoding') AS encoding,
  ARRAY(SELECT name FROM unnest(ARRAY['fsync', 'synchronous_commit']) AS name WHERE current_setting(name) = 'off') AS lossy`;

/** The oldest major version of PostgreSQL that its own project maintains, and on which Triplane was tried (docs/adr/0033). */
const OLDEST_VERSION = 15;

/**
 * Throws DatabaseUnavailable if Triplane cannot work with this PostgreSQL or this database, before any change. Reports
 * warnings.
 */
export async function checkPostgres(connection: MigrationConnection, tell: (message: string) => void): Promise<void> {
  const [server] = await connection.query<PostgresServer>(SERVER);
  if (server === undefined) throw new Error("PostgreSQL says nothing of itself");
  refuseOld(server);
  checkEncoding(server, tell);
  if (server.lossy.length === 0) return;
  tell(
    `PostgreSQL's ${server.lossy.join(" and ")} ${server.lossy.length === 1 ? "is" : "are"} off: a crash of it loses what agents have done and people have seen. Set to "on" what should last`,
  );
}

function refuseOld({ number, version }: PostgresServer): void {
  if (number >= OLDEST_VERSION * 10_000) return;
  throw new DatabaseUnavailable(
    `the PostgreSQL of DATABASE_URL is version ${version}, and Triplane needs ${OLDEST_VERSION} or newer: upgrade it, or give the URL of a newer one`,
  );
}

const ENCODING_ADVICE = "CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8' makes one that has it";

/** SQL_ASCII keeps all bytes, but PostgreSQL takes each for a character (PostgreSQL, "Character Set Support"). */
function checkEncoding({ encoding }: PostgresServer, tell: (message: string) => void): void {
  switch (encoding) {
    case "UTF8":
      return;
    case "SQL_ASCII":
      return tell(
        `the database of DATABASE_URL has the encoding SQL_ASCII: what PostgreSQL shortens may end in half a character. Triplane should have UTF8: ${ENCODING_ADVICE}`,
      );
    default:
      throw new DatabaseUnavailable(
        `the database of DATABASE_URL has the encoding ${encoding}, which lacks characters that people and models write, and Triplane needs UTF8: ${ENCODING_ADVICE}`,
      );
  }
}
