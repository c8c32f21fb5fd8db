import type { Sql, Statement } from "../db/sql.ts";
import { HOUR_MS } from "../lib/time.ts";
import { CHUNK, type Removal } from "./removal.ts";

type Looked = { readonly tenant: string; readonly digest: string; readonly looked: number; readonly removed: number };

/** Removes rows of one table that tenants keep by their digest. */
type LeftRows = {
  readonly statement: Statement<Looked, [afterTenant: string, afterDigest: string]>;
  /** The most rows that the statement removes. */
  readonly most: number;
};

/**
 * Rows `r` that no row of `named` names. One that was taken within the last day stays: the commit that takes it may not
 * be seen yet. A row that a commit takes at this moment is locked, and stays as well.
 */
function leftRows(table: string, named: string, most: number = CHUNK): LeftRows {
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
async function removeLeft(sql: Sql, { statement, most }: LeftRows, mayRemove: () => boolean): Promise<number> {
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

const TABLES = [
  leftRows(
    "template_version",
    "agent a WHERE a.tenant = r.tenant AND a.template_version IS NOT NULL AND a.template_version ->> 'digest' = r.digest",
  ),
  // An agent that is given another manual leaves its former one.
  leftRows("manual", "agent_manual a WHERE a.tenant = r.tenant AND a.digest = r.digest"),
  // An agent keeps the parts of all its requests.
  leftRows("request_part", "agent_request_part a WHERE a.tenant = r.tenant AND a.digest = r.digest"),
];

/** Versions of templates with which no agent's latest turn began, manuals that no agent has, and parts of requests without an agent. */
export const LEFT_VERSIONS: Removal = {
  rows: "versions of templates, manuals and parts of requests",
  everyMs: HOUR_MS,
  remove: async (sql, mayRemove) => {
    let removed = 0;
    for (const rows of TABLES) removed += await removeLeft(sql, rows, mayRemove);
    return removed;
  },
};

/** The images of one statement: they may have 3.75 MB each. */
const IMAGES = 50;

const LEFT = leftRows("image", "agent_image a WHERE a.tenant = r.tenant AND a.digest = r.digest", IMAGES);

/** Images that no message and no result shows: those were erased, or deleted with their agents. */
export const LEFT_IMAGES: Removal = {
  rows: "images of erased messages and calls",
  everyMs: HOUR_MS,
  remove: (sql, mayRemove) => removeLeft(sql, LEFT, mayRemove),
};
