-- Makes the open questions about a budget due: a server looks whether their steps fit by now. p_ref names the turn, agent, template or actor that spends; null for all of them.
--
-- Locks: waits of other agents, which it does not wait for. One that another commit holds is being settled, or is due again before long (src/agent/approvals/budgets/open-question.ts).
CREATE OR REPLACE FUNCTION look_again_at_budget(p_tenant text, p_budget text, p_ref text)
RETURNS void
LANGUAGE plpgsql VOLATILE
AS $function$
BEGIN
  WITH asking AS (
    SELECT w.id FROM approval p JOIN wait w ON w.ref = p.id AND w.kind = 'BUDGET' AND w.settled_at IS NULL
    WHERE p.tenant = p_tenant AND p.state = 'PENDING' AND p.kind = 'BUDGET' AND p.input ->> 'budgetId' = p_budget AND (p_ref IS NULL OR p.input ->> 'ref' = p_ref)
    ORDER BY w.id FOR NO KEY UPDATE OF w SKIP LOCKED
  ) UPDATE wait w SET due = policy_time() FROM asking a WHERE w.id = a.id;
END
$function$;
