import { isTimeZone, zoneInSql } from "../lib/time.ts";
import type { Sql, Statement } from "./sql.ts";
import { sqlState } from "./storage-error.ts";

const CHECK_ZONE: Statement<object, [timeZone: string]> = {
  name: "check_time_zone",
  text: "SELECT policy_time() AT TIME ZONE $1",
};

/** True for the name of an IANA zone that the database knows as well: Node may know others. */
export async function isZoneOfDatabase(sql: Sql, timeZone: string): Promise<boolean> {
  if (!isTimeZone(timeZone)) return false;
  return sql.query(CHECK_ZONE, [zoneInSql(timeZone)]).then(
    () => true,
    (error: unknown) => {
      if (isInvalidZone(error)) return false;
      throw error;
    },
  );
}

/** invalid_parameter_value */
function isInvalidZone(error: unknown): boolean {
  return sqlState(error) === "22023";
}
