import { LEASE_TIMES } from "../../src/agent/loop/lease.ts";
import type { Sql, Statement } from "../../src/db/sql.ts";
import { runServer } from "../run-server.ts";

/**
 * The faults of trial:neighbours. A renewal waits for every row, so that locked rows are everybody's. What is due longest is
 * claimed first, whosever it is, also if waits of its tenant are being ended.
 */
function forgetsOthers(sql: Sql): Sql {
  return {
    ...sql,
    query: async <Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> => {
      switch (statement.name) {
        case "renew_leases":
          return sql.query({ name: "renew_leases_of_all", text: statement.text.replace("SKIP LOCKED", "") }, values);
        case "claim_due":
          return sql.query({ name: "claim_without_turns", text: CLAIM }, values.slice(0, 1));
        case "nearest_due":
          return sql.query(statement, [values[0], []]);
        default:
          return sql.query(statement, values);
      }
    },
  };
}

const CLAIM = `WITH claimed AS (
    SELECT id FROM wait WHERE settled_at IS NULL AND due <= policy_time() AND kind = ANY ($1) ORDER BY due LIMIT 200 FOR NO KEY UPDATE SKIP LOCKED
  ) UPDATE wait w SET due = policy_time() + interval '5 s' FROM claimed c WHERE w.id = c.id
  RETURNING w.id, w.tenant, w.agent_id AS "agentId", w.call_id AS "callId", w.kind, w.ref`;

/** A server of trial:neighbours, with the leases of production. */
await runServer({ leaseTimes: LEASE_TIMES, ...(process.env["TRIAL_FAULT"] === "forgets others" ? { sql: forgetsOthers } : {}) });
