import type { Sql, Statement } from "../../db/sql.ts";

/** The messages that a compaction covers: their ordinals, the ids of the first and the last, and the SHA-256 of all, in hex. */
export type CoveredMessages = {
  readonly from: number;
  readonly to: number;
  readonly fromId: string | null;
  readonly toId: string | null;
  readonly contentHash: string;
};

const READ: Statement<Omit<CoveredMessages, "from" | "to">, [agentId: string, from: number, to: number]> = {
  name: "read_covered_messages",
  text: `SELECT (SELECT id FROM message WHERE agent_id = $1 AND ordinal = $2) AS "fromId", (SELECT id FROM message WHERE agent_id = $1 AND ordinal = $3) AS "toId",
      encode(sha256(convert_to(coalesce(string_agg(m.kind || ' ' || coalesce(m.content::text, ''), E'\\n' ORDER BY m.ordinal), ''), 'UTF8')), 'hex') AS "contentHash"
    FROM message m WHERE m.agent_id = $1 AND m.ordinal BETWEEN $2 AND $3`,
};

export async function readCovered(sql: Sql, agentId: string, from: number, to: number): Promise<CoveredMessages> {
  const [read] = await sql.query(READ, [agentId, from, to]);
  if (read === undefined) throw new Error(`the messages of agent ${agentId} could not be read`);
  return { ...read, from, to };
}
