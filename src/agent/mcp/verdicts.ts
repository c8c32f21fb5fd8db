import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Sql, Statement } from "../../db/sql.ts";
import { withoutSecrets, type McpServer } from "./server.ts";

/** The generation of the protocol that a server was found to speak, and when. */
export type Verdict = { readonly era: "modern" | "legacy"; readonly at: number };

/** The stored verdict on one server, for its settings of today. */
export type StoredVerdict = {
  read(): Promise<Verdict | null>;
  write(verdict: Verdict): Promise<void>;
  forget(): Promise<void>;
};

/** The tenant of the rows of common servers. */
const EVERYBODY = "";

const READ: Statement<{ era: string; foundAt: Date }, [tenant: string, server: string, settings: string]> = {
  name: "read_mcp_verdict",
  text: `SELECT era, found_at AS "foundAt" FROM mcp_verdict WHERE tenant = $1 AND server = $2 AND settings = $3`,
};

/** Removes the rows of servers that are gone, too: their verdicts are old. */
const WRITE: Statement<object, [tenant: string, server: string, settings: string, era: string, foundAt: Date, oldest: Date]> = {
  name: "write_mcp_verdict",
  text: `WITH old AS (DELETE FROM mcp_verdict WHERE found_at < $6 AND (tenant, server) <> ($1, $2))
    INSERT INTO mcp_verdict (tenant, server, settings, era, found_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (tenant, server) DO UPDATE SET settings = excluded.settings, era = excluded.era, found_at = excluded.found_at`,
};

const FORGET: Statement<object, [tenant: string, server: string]> = {
  name: "forget_mcp_verdict",
  text: "DELETE FROM mcp_verdict WHERE tenant = $1 AND server = $2",
};

/**
 * The row with the verdict on a server. `validMs` is the age at which rows are removed. While the database is
 * away, reads answer null and writes have no effect.
 */
export function storedVerdict(sql: Pick<Sql, "query">, server: McpServer, tenant: string | null, validMs: number): StoredVerdict {
  const key = [tenant ?? EVERYBODY, server.name] as const;
  const settings = settingsDigest(server);
  return {
    read: async () => {
      const [row] = await sql.query(READ, [...key, settings]).catch(() => []);
      if (row === undefined || (row.era !== "modern" && row.era !== "legacy")) return null;
      return { era: row.era, at: row.foundAt.getTime() };
    },
    write: async ({ era, at }) => {
      await sql.query(WRITE, [...key, settings, era, new Date(at), new Date(at - validMs)]).catch(() => []);
    },
    forget: async () => {
      await sql.query(FORGET, [...key]).catch(() => []);
    },
  };
}

/** The SHA-256 of the program or address of a server, in hex. Values that may be secrets are left out of it. */
export function settingsDigest(server: McpServer): string {
  const { way } = server;
  const settled = way.kind === "stdio" ? { command: way.command, args: way.args } : { kind: way.kind, url: way.url };
  return createHash("sha256")
    .update(withoutSecrets(server, canonicalize(settled) ?? ""))
    .digest("hex");
}
