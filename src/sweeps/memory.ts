import type { Statement } from "../db/sql.ts";
import { HOUR_MS } from "../lib/time.ts";
import { CHUNK, removeAll, type Removal } from "./removal.ts";

const KEPT = "interval '30 days'";

type Removed = Statement<{ removed: number }, []>;

const REMOVE_VERSIONS: Removed = {
  name: "remove_memory_versions",
  text: `WITH gone AS (DELETE FROM memory_version WHERE (entry_id, version) IN
      (SELECT entry_id, version FROM memory_version WHERE replaced_at < policy_time() - ${KEPT} ORDER BY replaced_at LIMIT ${CHUNK}) RETURNING 1)
    SELECT count(*)::int AS removed FROM gone`,
};

/** An entry that is written anew meanwhile stays. */
const REMOVE_DELETED: Removed = {
  name: "remove_deleted_memory",
  text: `WITH gone AS (DELETE FROM memory_entry WHERE deleted_at < policy_time() - ${KEPT} AND id IN
      (SELECT id FROM memory_entry WHERE deleted_at < policy_time() - ${KEPT} ORDER BY deleted_at LIMIT ${CHUNK}) RETURNING 1)
    SELECT count(*)::int AS removed FROM gone`,
};

/** Former versions and deleted entries of memory whose time is over. */
export const OLD_MEMORY: Removal = {
  rows: "old versions of memory",
  everyMs: HOUR_MS,
  remove: async (sql, mayRemove) =>
    (await removeAll(sql, REMOVE_VERSIONS, mayRemove)) + (await removeAll(sql, REMOVE_DELETED, mayRemove)),
};
