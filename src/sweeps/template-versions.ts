import { HOUR_MS } from "../lib/time.ts";
import { leftRows, removeLeft } from "./left-rows.ts";
import type { Removal } from "./removal.ts";

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
