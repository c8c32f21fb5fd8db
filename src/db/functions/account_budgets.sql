-- Accounts for the model calls of one agent on its budgets, as p_accounts (BudgetAccounts, src/db/commit/budget-accounts.ts) says: for commit_change.
--
-- settled: the end of a step. Its real cost replaces its holds. A step of unknown cost costs at least as much as was held (isLost).
-- charges: model calls without a hold of their own, on the periods that they name.
-- holds:   a step that starts. Refused if the expected cost does not fit by now, or if another step has warned meanwhile.
--
-- Locks: the periods of all these budgets, by id: after the rows of the agent, before the tenant's log.
-- Errors: TP002 a budget does not allow the step, or has warned by now.
CREATE OR REPLACE FUNCTION account_budgets(p_tenant text, p_agent text, p_accounts json)
RETURNS void
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_settled record;
  v_step int := (p_accounts -> 'holds' ->> 'step')::int;
BEGIN
  SELECT * INTO v_settled FROM json_to_record(p_accounts -> 'settled') AS s(step int, millionths bigint, tokens bigint, "isEstimated" boolean, "isLost" boolean);

  INSERT INTO budget_period (tenant, budget_id, ref, starts_at, ends_at, used_at)
  SELECT DISTINCT ON (h."budgetId", h.ref, h."startsAt") p_tenant, h."budgetId", h.ref, h."startsAt", h."endsAt", policy_time()
  FROM (SELECT * FROM json_to_recordset(p_accounts -> 'holds' -> 'periods') AS p("budgetId" text, ref text, "startsAt" timestamptz, "endsAt" timestamptz)
        UNION ALL SELECT p.* FROM json_to_recordset(p_accounts -> 'charges') AS c(periods json), json_to_recordset(c.periods) AS p("budgetId" text, ref text, "startsAt" timestamptz, "endsAt" timestamptz)) h
  ORDER BY h."budgetId", h.ref, h."startsAt" ON CONFLICT DO NOTHING;

  PERFORM FROM budget_period p
  WHERE p.tenant = p_tenant AND (p.budget_id, p.ref, p.starts_at) IN (
    SELECT h.budget_id, h.ref, h.starts_at FROM budget_hold h WHERE h.agent_id = p_agent AND h.step = v_settled.step
    UNION ALL SELECT h."budgetId", h.ref, h."startsAt" FROM json_to_recordset(p_accounts -> 'holds' -> 'periods') AS h("budgetId" text, ref text, "startsAt" timestamptz)
    UNION ALL SELECT h."budgetId", h.ref, h."startsAt" FROM json_to_recordset(p_accounts -> 'charges') AS c(periods json), json_to_recordset(c.periods) AS h("budgetId" text, ref text, "startsAt" timestamptz))
  ORDER BY p.budget_id, p.ref, p.starts_at FOR NO KEY UPDATE;

  IF v_settled.step IS NOT NULL THEN
    UPDATE budget_period p SET
      held_millionths = p.held_millionths - h.millionths, held_tokens = p.held_tokens - h.tokens,
      spent_millionths = p.spent_millionths + c.millionths, spent_tokens = p.spent_tokens + c.tokens,
      estimated_millionths = p.estimated_millionths + CASE WHEN v_settled."isEstimated" OR v_settled."isLost" THEN c.millionths ELSE 0 END,
      is_unpriced = p.is_unpriced OR v_settled.millionths IS NULL AND c.tokens > 0, used_at = policy_time()
    FROM budget_hold h, LATERAL (SELECT
        CASE WHEN v_settled."isLost" THEN greatest(h.millionths, coalesce(v_settled.millionths, 0)) ELSE coalesce(v_settled.millionths, 0) END AS millionths,
        CASE WHEN v_settled."isLost" THEN greatest(h.tokens, v_settled.tokens) ELSE v_settled.tokens END AS tokens) c
    WHERE h.agent_id = p_agent AND h.step = v_settled.step AND p.tenant = h.tenant AND p.budget_id = h.budget_id AND p.ref = h.ref AND p.starts_at = h.starts_at;
    DELETE FROM budget_hold WHERE agent_id = p_agent AND step = v_settled.step;
  END IF;

  UPDATE budget_period p SET
    spent_millionths = p.spent_millionths + c.millionths, spent_tokens = p.spent_tokens + c.tokens,
    estimated_millionths = p.estimated_millionths + c.estimated, is_unpriced = p.is_unpriced OR c.unpriced, used_at = policy_time()
  FROM (SELECT h."budgetId", h.ref, h."startsAt", sum(coalesce(c.millionths, 0))::bigint AS millionths, sum(c.tokens)::bigint AS tokens,
          sum(CASE WHEN c."isEstimated" THEN coalesce(c.millionths, 0) ELSE 0 END)::bigint AS estimated, bool_or(c.millionths IS NULL) AS unpriced
        FROM json_to_recordset(p_accounts -> 'charges') AS c(periods json, millionths bigint, tokens bigint, "isEstimated" boolean),
          json_to_recordset(c.periods) AS h("budgetId" text, ref text, "startsAt" timestamptz) GROUP BY 1, 2, 3) c
  WHERE p.tenant = p_tenant AND p.budget_id = c."budgetId" AND p.ref = c.ref AND p.starts_at = c."startsAt";

  IF v_step IS NULL THEN
    RETURN;
  END IF;
  -- All of them are locked: what is read here is what stands when the step starts.
  IF EXISTS (
    SELECT FROM json_to_recordset(p_accounts -> 'holds' -> 'periods') AS h("budgetId" text, ref text, "startsAt" timestamptz, millionths bigint, tokens bigint, "mostMillionths" bigint, "mostTokens" bigint, warns boolean)
    JOIN budget_period p ON p.tenant = p_tenant AND p.budget_id = h."budgetId" AND p.ref = h.ref AND p.starts_at = h."startsAt"
    WHERE h.millionths > 0 AND p.spent_millionths + p.held_millionths + h.millionths > h."mostMillionths" OR h.tokens > 0 AND p.spent_tokens + p.held_tokens + h.tokens > h."mostTokens" OR h.warns AND p.has_warned
  ) THEN
    RAISE EXCEPTION 'the budgets of agent % have changed since step % was admitted', p_agent, v_step USING ERRCODE = 'TP002';
  END IF;
  INSERT INTO budget_hold (agent_id, step, tenant, budget_id, ref, starts_at, millionths, tokens)
  SELECT p_agent, v_step, p_tenant, h."budgetId", h.ref, h."startsAt", h.millionths, h.tokens
  FROM json_to_recordset(p_accounts -> 'holds' -> 'periods') AS h("budgetId" text, ref text, "startsAt" timestamptz, millionths bigint, tokens bigint);
  UPDATE budget_period p SET held_millionths = p.held_millionths + h.millionths, held_tokens = p.held_tokens + h.tokens, has_warned = p.has_warned OR h.warns, used_at = policy_time()
  FROM json_to_recordset(p_accounts -> 'holds' -> 'periods') AS h("budgetId" text, ref text, "startsAt" timestamptz, millionths bigint, tokens bigint, warns boolean)
  WHERE p.tenant = p_tenant AND p.budget_id = h."budgetId" AND p.ref = h.ref AND p.starts_at = h."startsAt";
END
$function$;
