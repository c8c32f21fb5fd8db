import { randomUUID } from "node:crypto";
import { openDatabase } from "../src/db/database.ts";
import { readEnvironment } from "../src/environment.ts";

/**
 * `npm run restored`: gives every log a new epoch, after a backup was restored or commits were lost in a failover, so that
 * cursors of before are refused. No server may run.
 */
const database = await openDatabase(readEnvironment(process.env).database);
try {
  const logs = await database.sql.query<{ tenant: string; epoch: string }>(
    { name: "restored", text: "UPDATE tenant_log SET epoch = left(md5(epoch || $1), 8) RETURNING tenant, epoch" },
    [randomUUID()],
  );
  for (const { tenant, epoch } of logs) console.log(`the log of tenant ${tenant} begins epoch ${epoch}`);
  console.log(`${logs.length} logs: cursors of before are refused with CURSOR_RESTORED`);
} finally {
  await database.close();
}
