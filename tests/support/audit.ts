import { auditsBehind, foldAudit } from "../../src/agent/calls/audit/fold.ts";
import type { Sql } from "../../src/db/sql.ts";

/** Makes the audit anew of the calls as they stand: after a test wrote rows of them by hand, without the events of a commit. */
export async function auditOfRows(sql: Sql): Promise<void> {
  await sql.query(
    {
      name: "forget_audit",
      text: "TRUNCATE audit_fold, audit_call, audit_count, audit_quarter, audit_turn_fold, audit_step, audit_turn",
    },
    [],
  );
  await foldAll(sql);
}

/** Brings the audits of all tenants to the ends of their logs. */
export async function foldAll(sql: Sql): Promise<void> {
  for (const tenant of await auditsBehind(sql)) while (!(await foldAudit(sql, tenant)));
}
