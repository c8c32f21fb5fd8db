import type { Sql, Statement } from "../db/sql.ts";
import { HOUR_MS } from "../lib/time.ts";
import { CHUNK, type Removal } from "./removal.ts";

type Looked = { readonly tenant: string; readonly digest: string; readonly looked: number; readonly removed: number };

/** Removes rows `r` that no row names. One that was taken within the last day stays: the commit that takes it may not be seen yet. */
function removal(table: string, named: string): Statement<Looked, [afterTenant: string, afterDigest: string]> {
  return {
    name: `remove_${table}`,
    text: `WITH looked AS (SELECT tenant, digest FROM ${table} WHERE (tenant, digest) > ($1, $2) ORDER BY tenant, digest LIMIT ${CHUNK}),
      gone AS (DELETE FROM ${table} r USING looked l WHERE r.tenant = l.tenant AND r.digest = l.digest AND r.taken_at < policy_time() - interval '1 day'
        AND (SELECT 1 FROM ${named} LIMIT 1) IS NULL RETURNING 1)
    SELECT tenant, digest, (count(*) OVER ())::int AS looked, (SELECT count(*)::int FROM gone) AS removed FROM looked ORDER BY tenant DESC, digest DESC LIMIT 1`,
  };
}

const REMOVALS = [
  removal(
    "template_version",
    "agent a WHERE a.tenant = r.tenant AND a.template_version IS NOT NULL AND a.template_version ->> 'digest' = r.digest",
  ),
  // An agent that is given another manual leaves its former one.
  removal("manual", "agent_manual a WHERE a.tenant = r.tenant AND a.digest = r.digest"),
  // An agent keeps the parts of all its requests.
  removal("request_part", "agent_request_part a WHERE a.tenant = r.tenant AND a.digest = r.digest"),
];

/** Versions of templates with which no agent's latest turn began, manuals that no agent has, and parts of requests without an agent. */
export const LEFT_VERSIONS: Removal = {
  rows: "versions of templates, manuals and parts of requests",
  everyMs: HOUR_MS,
  remove: async (sql, mayRemove) => {
    let removed = 0;
    for (const removes of REMOVALS) removed += await removeLeft(sql, removes, mayRemove);
    return removed;
  },
};

async function removeLeft(sql: Sql, statement: (typeof REMOVALS)[number], mayRemove: () => boolean): Promise<number> {
  let removed = 0;
  let [tenant, digest] = ["", ""];
  while (mayRemove()) {
    const [last] = await sql.query(statement, [tenant, digest]);
    removed += last?.removed ?? 0;
    if (last === undefined || last.looked < CHUNK) break;
    ({ tenant, digest } = last);
  }
  return removed;
}
