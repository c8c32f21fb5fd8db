import type { Sql, Statement } from "../../db/sql.ts";
import type { Tool } from "../tools/tool.ts";
import { readListedTool, type ListedTool } from "./listed-tool.ts";
import type { McpServer } from "./server.ts";

/** The definition of a tool that is accepted in a tenant. */
export type Pin = { readonly tool: string; readonly digest: string; readonly definition: string; readonly pinnedAt: Date };

type PinnedDigest = Omit<Pin, "definition">;

const READ: Statement<Pin, [tenant: string, server: string]> = {
  name: "read_tool_pins",
  text: `SELECT tool, digest, definition, pinned_at AS "pinnedAt" FROM tool_pin WHERE tenant = $1 AND server = $2`,
};
/** Without the definitions, which may be several MB: the gate compares digests at each call. */
const READ_DIGESTS: Statement<PinnedDigest, [tenant: string, server: string]> = {
  name: "read_pinned_digests",
  text: `SELECT tool, digest, pinned_at AS "pinnedAt" FROM tool_pin WHERE tenant = $1 AND server = $2`,
};
const PIN_FIRST: Statement<
  object,
  [tenant: string, server: string, tools: readonly string[], digests: readonly string[], definitions: readonly string[]]
> = {
  name: "pin_first_tools",
  text: `INSERT INTO tool_pin (tenant, server, tool, digest, definition, pinned_at)
    SELECT $1, $2, t.tool, t.digest, t.definition, now() FROM unnest($3::text[], $4::text[], $5::text[]) AS t(tool, digest, definition)
    WHERE NOT EXISTS (SELECT FROM tool_pin WHERE tenant = $1 AND server = $2) ON CONFLICT DO NOTHING`,
};

/** The definitions of a server's tools that a tenant accepted before. */
export async function knownTools(
  sql: Pick<Sql, "query">,
  { name, include, exclude }: McpServer,
  tenant: string,
): Promise<readonly ListedTool[]> {
  const known = await sql.query(READ, [tenant, name]);
  return known.flatMap(({ definition }) => {
    const tool = readListedTool(name, JSON.parse(definition));
    if (!tool.ok || exclude.includes(tool.value.ownName)) return [];
    return include === null || include.includes(tool.value.ownName) ? [tool.value] : [];
  });
}

type PinServices = { readonly sql: Pick<Sql, "query">; readonly tools: ReadonlyMap<string, Tool> };

/** The accepted definitions of a server's tools, by their names. */
export async function pinsOf(sql: Pick<Sql, "query">, tenant: string, server: string): Promise<ReadonlyMap<string, Pin>> {
  return byTool(await sql.query(READ, [tenant, server]));
}

function byTool<Each extends PinnedDigest>(pins: readonly Each[]): ReadonlyMap<string, Each> {
  return new Map(pins.map((pin) => [pin.tool, pin]));
}

/**
 * The reason why an MCP server's tool has another definition than its tenant accepted; null if it has the accepted one, and
 * for other tools. The definitions that a server's tools have at the first call of one of them count as accepted.
 */
export async function definitionChange({ sql, tools }: PinServices, tool: Tool, tenant: string): Promise<string | null> {
  const { server, definition } = tool;
  if (server === null || definition === null) return null;
  let pins = await sql.query(READ_DIGESTS, [tenant, server]);
  if (pins.length === 0) {
    const present = [...tools.values()].flatMap((each) =>
      each.server === server && each.definition !== null ? [{ name: each.name, ...each.definition }] : [],
    );
    const names = present.map(({ name }) => name);
    const digests = present.map(({ digest }) => digest);
    const texts = present.map(({ text }) => text);
    await sql.query(PIN_FIRST, [tenant, server, names, digests, texts]);
    pins = await sql.query(READ_DIGESTS, [tenant, server]);
  }
  return changeOf(tool.name, server, definition.digest, byTool(pins));
}

/** The same, for known pins. */
export function changeOf(name: string, server: string, digest: string, pins: ReadonlyMap<string, PinnedDigest>): string | null {
  if (pins.size === 0) return null;
  const pin = pins.get(name);
  if (pin?.digest === digest) return null;
  const what =
    pin === undefined
      ? `${name} has come since the tools of the MCP server ${server} were accepted`
      : `the definition of ${name} is another one than the accepted one of ${pin.pinnedAt.toISOString()}`;
  return `${what}, so allow rules do not hold until an administrator accepts it (acceptTool)`;
}
