-- Servers of the version before may run beside it.

-- Written by `npm run migration` from src/db/functions/policy_time.sql: change it there.
-- The time by which something is removed, denied or ended: that of the database, whatever the clocks of servers say.
-- STABLE, so that an index is used for what is compared with it; the time at which the statement began.
-- Tests replace it in databases of their own.
CREATE OR REPLACE FUNCTION policy_time()
RETURNS timestamptz
LANGUAGE sql STABLE
AS $function$
  SELECT statement_timestamp()
$function$;
