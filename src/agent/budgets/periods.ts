import type { Sql, Statement } from "../../db/sql.ts";
import { zoneInSql } from "../../lib/time.ts";
import type { PeriodState, Standing } from "./admission.ts";
import type { Link } from "./chain.ts";

/** Days and months are those of the database's time, in the zone of the budget. */
const BOUNDS = `SELECT CASE WHEN l."window" = 'NONE' THEN 'epoch'::timestamptz ELSE b.first AT TIME ZONE l."timeZone" END AS starts_at,
      CASE WHEN l."window" <> 'NONE' THEN (b.first + CASE l."window" WHEN 'DAY' THEN interval '1 day' ELSE interval '1 month' END) AT TIME ZONE l."timeZone" END AS ends_at
    FROM (SELECT date_trunc(CASE l."window" WHEN 'MONTH' THEN 'month' ELSE 'day' END, policy_time() AT TIME ZONE l."timeZone") AS first) b`;

const READ: Statement<{ period: PeriodState }, [tenant: string, links: string]> = {
  name: "read_budget_periods",
  text: `SELECT json_build_object('budgetId', l."budgetId", 'ref', l.ref, 'startsAt', w.starts_at, 'endsAt', w.ends_at, 'spentMillionths', coalesce(p.spent_millionths, 0), 'spentTokens', coalesce(p.spent_tokens, 0),
      'estimatedMillionths', coalesce(p.estimated_millionths, 0), 'heldMillionths', coalesce(p.held_millionths, 0), 'heldTokens', coalesce(p.held_tokens, 0), 'isUnpriced', coalesce(p.is_unpriced, false), 'hasWarned', coalesce(p.has_warned, false),
      'raisedMillionths', p.raised_millionths, 'raisedTokens', p.raised_tokens) AS period
    FROM json_to_recordset($2::json) AS l(place int, "budgetId" text, ref text, "window" text, "timeZone" text) CROSS JOIN LATERAL (${BOUNDS}) w
      LEFT JOIN budget_period p ON p.tenant = $1 AND p.budget_id = l."budgetId" AND p.ref = l.ref AND p.starts_at = w.starts_at ORDER BY l.place`,
};

/** The budgets of a chain as they stand, in its order. */
export async function readStandings(sql: Sql, tenant: string, chain: readonly Link[]): Promise<readonly Standing[]> {
  if (chain.length === 0) return [];
  const links = chain.map(({ budget: { id: budgetId, window, timeZone }, ref }, place) => ({
    place,
    budgetId,
    ref,
    window,
    timeZone: zoneInSql(timeZone),
  }));
  const rows = await sql.query(READ, [tenant, JSON.stringify(links)]);
  return rows.flatMap(({ period }, index) => {
    const link = chain[index];
    return link === undefined ? [] : [{ ...link, period: { ...period, ...inUtc(period) } }];
  });
}

function inUtc({ startsAt, endsAt }: PeriodState): Pick<PeriodState, "startsAt" | "endsAt"> {
  return { startsAt: new Date(startsAt).toISOString(), endsAt: endsAt === null ? null : new Date(endsAt).toISOString() };
}
