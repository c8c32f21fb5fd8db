import type { Sql, Statement } from "../../db/sql.ts";
import { IS_OVER } from "../approvals/delegate.ts";
import { IS_EXPIRED } from "../approvals/expire.ts";
import { IS_LOST } from "../calls/shells/rows.ts";

/** The kinds of things that were not done in time, each true if there are any: approvals that nobody decided, shells whose server is gone, delegations whose end nobody has said. */
type Overdue = { readonly approvals: boolean; readonly shells: boolean; readonly delegations: boolean };

/** One statement, since most looks find nothing. */
const OVERDUE: Statement<Overdue, [at: Date]> = {
  name: "find_overdue",
  text: `SELECT EXISTS (SELECT FROM approval p WHERE ${IS_EXPIRED}) AS approvals, EXISTS (SELECT FROM shell s WHERE ${IS_LOST}) AS shells,
    EXISTS (SELECT FROM delegation d WHERE ${IS_OVER}) AS delegations`,
};

/**
 * Looks for what is overdue at this time, by the server's clock; of shells, by the database's. An approval of a kind that only
 * newer servers know counts, too.
 */
export async function findOverdue(sql: Sql, at: Date): Promise<Overdue> {
  const [overdue] = await sql.query(OVERDUE, [at]);
  return overdue ?? { approvals: false, shells: false, delegations: false };
}
