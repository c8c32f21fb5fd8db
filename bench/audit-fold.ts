import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { foldAudit } from "../src/agent/calls/audit/fold.ts";
import { openDatabase } from "../src/db/database.ts";
import type { EventDraft } from "../src/events/event.ts";
import { EventLog } from "../src/events/log.ts";
import { AUDIT_TIMES } from "../src/sweeps/sweeps.ts";
import { insertAgent, type RowAgent } from "../tests/support/log.ts";
import { AUDIT } from "./audit-rows.ts";
import type { Figure } from "./figure.ts";

const SECONDS = 60;
const TICK_MS = 100;
/** 500 calls begin each second, and as many end: each takes a second. An agent has one at a time. */
const CALLS_A_TICK = 50;
const TICKS_A_CALL = 10;
const AGENTS = 1_000;

/** A call's beginning and end, with its step: the rows that the audit is made of, as wide as those of the other calls. */
const BEGIN = `WITH n AS (SELECT * FROM unnest($2::text[], $3::text[], $4::int[]) AS n(id, agent_id, tool)), steps AS (
    INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at) SELECT agent_id, $5, $1, 1, 'STARTED', 'model', now() FROM n
  ) INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, effective_input, is_error, explanation,
    verdict, stages, audit_trail, started_at, created_at, updated_at)
  SELECT id, $1, agent_id, 1, $5, 0, 'toolu_' || id, 'tool_' || tool, 'EXECUTING', 1, input, input, false,
    json_build_object('verdict', 'allow', 'decidedBy', 'rule', 'place', 'templates.assistant.permission.allow.3', 'reason', 'the rule allows it'), 'allow', '[]', '[]', now(), now(), now()
  FROM n, LATERAL (SELECT json_build_object('content', repeat(md5(id), 5)) AS input) i`;
const END = `WITH steps AS (
    UPDATE step s SET state = 'COMPLETED', input_tokens = 1000, output_tokens = 100, cost_usd = 0.01, completed_at = now() FROM unnest($2::text[]) n(agent_id)
    WHERE s.agent_id = n.agent_id AND s.step = $3 AND s.tenant = $1
  ) UPDATE tool_call SET state = 'COMPLETED', output = repeat(md5(id), 10), completed_at = now(), duration_ms = 1000, updated_at = now()
  FROM unnest($2::text[]) n(agent) WHERE agent_id = agent AND step = $3`;
const BEHIND = "SELECT count(*)::int AS open FROM audit_call WHERE tenant = $1 AND state = 'EXECUTING' AND agent_id = ANY ($2)";

/**
 * The folding of a tenant with 500 calls a second and eleven events a call, beside its old calls: its ms a second, and how
 * long after its commit a call is in the audit, at most. The server folds so often.
 */
export async function auditFold(url: string): Promise<Figure[]> {
  const database = await openDatabase({ kind: "postgres", url, connections: 4 });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const log = new EventLog(database.commits);
    const agents = await Promise.all(Array.from({ length: AGENTS }, () => insertAgent(log, AUDIT.tenant)));
    while (!(await foldAudit(database.sql, AUDIT.tenant)));
    const writing = write(client, log, agents);
    let [folding, longest] = [0, 0];
    let hasEnded = false;
    void writing.finally(() => (hasEnded = true));
    for (let last = false; !last;) {
      last = hasEnded;
      const began = performance.now();
      while (!(await foldAudit(database.sql, AUDIT.tenant)));
      const took = performance.now() - began;
      folding += took;
      longest = Math.max(longest, took);
      if (!last) await delay(AUDIT_TIMES.ownMs);
    }
    await writing;
    const { rows } = await client.query<{ open: number }>(BEHIND, [AUDIT.tenant, agents.map(({ agentId }) => agentId)]);
    if (rows[0]?.open !== 0) throw new Error(`${rows[0]?.open} ended calls are open in the audit`);
    return [
      { name: "audit fold", value: folding / SECONDS, unit: "ms of folding a second", baseline: null, ratio: null },
      { name: "audit fold, longest", value: longest, unit: "ms", baseline: null, ratio: null },
    ];
  } finally {
    await client.end();
    await database.close();
  }
}

/** Writes the calls at even times, whether those before are written or not; rows first, then their events. */
async function write(client: pg.Client, log: EventLog, agents: readonly RowAgent[]): Promise<void> {
  const step = (tick: number): number => Math.floor((tick * CALLS_A_TICK) / AGENTS) + 1;
  const ofTick = (tick: number): readonly RowAgent[] => {
    const first = (tick * CALLS_A_TICK) % AGENTS;
    return agents.slice(first, first + CALLS_A_TICK);
  };
  const ticks = (SECONDS * 1_000) / TICK_MS;
  const began = performance.now();
  for (let tick = 0; tick < ticks + TICKS_A_CALL; tick += 1) {
    const early = began + tick * TICK_MS - performance.now();
    if (early > 0) await delay(early);
    if (tick < ticks) {
      const beginning = ofTick(tick);
      await client.query(BEGIN, [
        AUDIT.tenant,
        beginning.map(() => randomUUID()),
        beginning.map(({ agentId }) => agentId),
        beginning.map((_agent, index) => index % 20),
        step(tick),
      ]);
      await append(
        log,
        beginning,
        Array.from({ length: 5 }, () => text(step(tick))),
      );
    }
    const ended = tick - TICKS_A_CALL;
    if (ended < 0) continue;
    const ending = ofTick(ended);
    await client.query(END, [AUDIT.tenant, ending.map(({ agentId }) => agentId), step(ended)]);
    await append(
      log,
      ending,
      Array.from({ length: 6 }, () => text(step(ended))),
    );
  }
  const late = performance.now() - began - (ticks + TICKS_A_CALL) * TICK_MS;
  if (late > 1_000)
    throw new Error(`the calls were written ${Math.round(late)} ms late: the machine is too slow for this figure`);
}

function text(step: number): EventDraft {
  return { at: new Date(), body: { kind: "TEXT_CHUNK", step, block: 0, delta: "a few words of text ".repeat(10) } };
}

async function append(log: EventLog, agents: readonly RowAgent[], events: readonly EventDraft[]): Promise<void> {
  await log.append(
    AUDIT.tenant,
    agents.map((agent) => ({ ...agent, events })),
  );
}
