-- Raises the limits of one period of a budget, as p_raise (BudgetRaise, src/db/commit/budget-accounts.ts) says: for commit_change.
-- The other agents that wait on it are looked at again.
--
-- Locks: the period: after the rows of the agent, before the tenant's log.
-- Errors: TP002 it was raised by another meanwhile.
CREATE OR REPLACE FUNCTION raise_budget(p_tenant text, p_raise json)
RETURNS void
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_raise record;
BEGIN
  SELECT * INTO v_raise FROM json_to_record(p_raise) AS r("budgetId" text, ref text, "startsAt" timestamptz, "endsAt" timestamptz, "fromMillionths" bigint, "fromTokens" bigint, "toMillionths" bigint, "toTokens" bigint, "raisedBy" text);
  -- The first step of a period may be refused: then it has no row yet.
  INSERT INTO budget_period AS p (tenant, budget_id, ref, starts_at, ends_at, raised_millionths, raised_tokens, raised_by, used_at)
  VALUES (p_tenant, v_raise."budgetId", v_raise.ref, v_raise."startsAt", v_raise."endsAt", v_raise."toMillionths", v_raise."toTokens", v_raise."raisedBy", policy_time())
  ON CONFLICT (tenant, budget_id, ref, starts_at) DO UPDATE SET raised_millionths = EXCLUDED.raised_millionths, raised_tokens = EXCLUDED.raised_tokens, raised_by = EXCLUDED.raised_by, has_warned = false, used_at = EXCLUDED.used_at
  WHERE p.raised_millionths IS NOT DISTINCT FROM v_raise."fromMillionths" AND p.raised_tokens IS NOT DISTINCT FROM v_raise."fromTokens";
  IF NOT FOUND THEN
    RAISE EXCEPTION 'budget % was raised by another', v_raise."budgetId" USING ERRCODE = 'TP002';
  END IF;
  PERFORM look_again_at_budget(p_tenant, v_raise."budgetId", v_raise.ref);
END
$function$;
