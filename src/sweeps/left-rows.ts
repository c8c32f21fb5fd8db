import type { Sql, Statement } from "../db/sql.ts";
import { CHUNK } from "./removal.ts";

type Looked = { readonly tenant: string; readonly digest: string; readonly looked: number; readonly removed: number };

/** Removes rows of one table that tenants keep by their digest. */
export type LeftRows = {
  readonly statement: Statement<Looked, [afterTenant: string, afterDigest: string]>;
  /** The most rows that the statement removes. */
  readonly most: number;
};

/**
 * Rows `r` that no row of `named` names. One that was taken within the last day stays: the commit that takes it may not
 * be seen yet. A row that a commit takes at this moment is locked, and stays as well.
 */
export function leftRows(table: string, named: string, most: number = CHUNK): LeftRows {
  return {
    most,
    statement: {
      name: `remove_${table}`,
      text: `WITH looked AS (SELECT tenant, digest FROM ${table} WHERE (tenant, digest) > ($1, $2) ORDER BY tenant, digest LIMIT ${CHUNK}),
      old AS (SELECT r.tenant, r.digest FROM looked l JOIN ${table} r ON r.tenant = l.tenant AND r.digest = l.digest
        WHERE r.taken_at < policy_time() - interval '1 day' AND (SELECT 1 FROM ${named} LIMIT 1) IS NULL ORDER BY r.tenant, r.digest LIMIT ${most} FOR UPDATE OF r SKIP LOCKED),
      gone AS (DELETE FROM ${table} r USING old o WHERE r.tenant = o.tenant AND r.digest = o.digest RETURNING 1)
    SELECT tenant, digest, (count(*) OVER ())::int AS looked, (SELECT count(*)::int FROM gone) AS removed FROM looked ORDER BY tenant DESC, digest DESC LIMIT 1`,
    },
  };
}

/** Goes through the table, and returns the number of removed rows. */
export async function removeLeft(sql: Sql, { statement, most }: LeftRows, mayRemove: () => boolean): Promise<number> {
  let removed = 0;
  let [tenant, digest] = ["", ""];
  while (mayRemove()) {
    const [last] = await sql.query(statement, [tenant, digest]);
    removed += last?.removed ?? 0;
    if (last?.removed === most) continue;
    if (last === undefined || last.looked < CHUNK) break;
    ({ tenant, digest } = last);
  }
  return removed;
}
