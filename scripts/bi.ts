import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { readEnvironment } from "../src/config/environment.ts";
import { dropViews, installViews, inTransaction, type OperatorConnection } from "../src/db/bi/install.ts";
import { columnsPage, ViewsRefused } from "../src/db/bi/view.ts";
import { VIEWS } from "../src/db/bi/views.ts";
import { grantReader, listReaders, revokeReader, showsSamples } from "../src/db/bi/readers.ts";
import { command } from "./command.ts";

const USAGE = "npm run bi -- install | drop | grant NAME --tenant TENANT [--content] | revoke NAME | list | columns";

/** The parameters of DATABASE_URL that say how a server is reached, and not how the owner of the tables signs in. */
const SHARED_PARAMETERS: ReadonlySet<string> = new Set(["sslmode", "sslrootcert", "uselibpqcompat"]);

/** `npm run bi`: the SQL views for analysts and the logins that read them, on the PostgreSQL of DATABASE_URL. Migrates nothing. */
await command(async () => {
  const { positionals, values } = parsed();
  const [verb, name] = positionals;
  if (values.help) return console.log(USAGE);
  if (verb === "columns") return writeFile(new URL("../docs/bi-columns.md", import.meta.url), columnsPage(VIEWS));
  const { database } = readEnvironment(process.env);
  if (database.kind === "embedded")
    throw new ViewsRefused(
      "the embedded database has no logins, so there is nothing to connect to: ask it with `npm run sql`, or set DATABASE_URL to a PostgreSQL",
    );
  const client = new pg.Client({ connectionString: database.url, application_name: "triplane 0 command" });
  await client.connect();
  try {
    const connection: OperatorConnection = {
      script: async (text) => void (await client.query(text)),
      query: async <Row>(text: string, given: readonly unknown[] = []) =>
        (await client.query<Row & pg.QueryResultRow>(text, [...given])).rows,
    };
    const { host, port, database: of = "" } = client;
    await run(connection, { host, port, name: of, url: database.url }, verb, name, values);
  } finally {
    await client.end();
  }
});

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        tenant: { type: "string" },
        content: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new ViewsRefused(`${error instanceof Error ? error.message : String(error)}; usage: ${USAGE}`);
  }
}

/** The place of the views, by the connection of this command. */
type Place = { readonly host: string; readonly port: number; readonly name: string; readonly url: string };

/** The URL by which a reader connects to the place. The host is a folder for a socket. */
function readerUrl({ host, port, name, url }: Place, role: string, password: string): string {
  const isSocket = host.startsWith("/");
  const shared = [...new URL(url).searchParams].filter(([parameter]) => SHARED_PARAMETERS.has(parameter));
  const parameters = new URLSearchParams([
    ...(isSocket
      ? [
          ["host", host],
          ["port", String(port)],
        ]
      : []),
    ...shared,
  ]).toString();
  const address = isSocket ? "" : `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return `postgresql://${role}:${password}@${address}/${encodeURIComponent(name)}${parameters === "" ? "" : `?${parameters}`}`;
}

async function run(
  connection: OperatorConnection,
  place: Place,
  verb: string | undefined,
  role: string | undefined,
  { tenant, content }: { readonly tenant?: string; readonly content: boolean },
): Promise<void> {
  switch (verb) {
    case "install":
      await inTransaction(connection, () => installViews(connection));
      return console.log("The views are installed as this version has them.");
    case "drop":
      await dropViews(connection);
      return console.log("The views are dropped; `npm run bi -- install` makes them again, with what readers may.");
    case "list":
      for (const reader of await listReaders(connection)) console.log(JSON.stringify(reader));
      return;
    case "grant": {
      if (role === undefined || tenant === undefined) break;
      const [server] = await connection.query<{ version: number }>(
        "SELECT current_setting('server_version_num')::int AS version",
      );
      if (server !== undefined && showsSamples(server.version))
        console.error(
          "This version of PostgreSQL shows samples of columns of other tenants to a hostile reader (CVE-2025-8713): update it to 15.14, 16.10, 17.6 or later.",
        );
      const [known] = await connection.query("SELECT FROM tenant_log WHERE tenant = $1", [tenant]);
      if (known === undefined)
        console.error(
          `No row is of the tenant ${tenant} yet. If the name is wrong: npm run bi -- revoke ${role}, and grant it again.`,
        );
      const password = await grantReader(connection, { role, tenant, readsContent: content });
      return console.log(`role ${role}, password ${password} (shown once)\n${readerUrl(place, role, password)}`);
    }
    case "revoke": {
      if (role === undefined) break;
      const isRevoked = await revokeReader(connection, role);
      if (!isRevoked) throw new ViewsRefused(`there is no reader ${role} of this database`);
      return console.log(`the reader ${role} is gone`);
    }
    default:
  }
  throw new ViewsRefused(`usage: ${USAGE}`);
}
