import { administrator } from "./database.ts";

/** Adds ended calls of an agent by hand, with their rows of the audit, as if they had been folded up to the end of the log. Outputs have about so many characters. */
export async function generateCalls(url: string, agentId: string, calls: number, characters = 10): Promise<void> {
  const client = await administrator(url);
  const run = (text: string, values: readonly unknown[]) => client.query(text, [...values]);
  await run(
    `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, effective_input, output, is_error, verdict, stages, audit_trail, started_at, completed_at, duration_ms, created_at, updated_at)
     SELECT lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000', a.tenant, a.id, 1, n, 0, 'p' || n, 'tool_' || n % 7, 'COMPLETED', 1, '{"n": 1}', '{"n": 1}', rpad('output ' || n, $3::int, '=1+1 ü"'), false, 'allow', '[]', '[]', t, t, n % 1000, t, t
     FROM agent a, generate_series(1, $2::int) n, LATERAL (SELECT timestamptz '2026-01-01T00:00:00Z' + make_interval(secs => n / 4) AS t) t WHERE a.id = $1`,
    [agentId, calls, characters],
  );
  await run(
    `INSERT INTO audit_call (id, tenant, agent_id, step, name, state, verdict, has_run, duration_ms, created_at, template_id, created_by, deciders)
     SELECT t.id, t.tenant, t.agent_id, t.step, t.name, t.state, t.verdict, true, t.duration_ms, t.created_at, a.template_id, a.created_by, NULL
     FROM tool_call t JOIN agent a ON a.id = t.agent_id WHERE a.id = $1`,
    [agentId],
  );
  await run("UPDATE audit_fold SET whole_at = position WHERE whole_at IS NULL", []);
  await run("ANALYZE", []);
}
