import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { auditsBehind, foldAudit } from "../src/agent/calls/audit/fold.ts";
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
const CALLS_A_TURN = 20;
const AGENTS = 1_000;

/** A call's beginning and end, with its step: the rows that the audit is made of, as wide as those of the other calls. */
const BEGIN = `WITH n AS (SELECT * FROM unnest($2::text[], $3::text[], $4::int[]) AS n(id, agent_id, tool)), steps AS (
    INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at) SELECT agent_id, $5, $1, $6, 'STARTED', 'model', now() FROM n
  ) INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, effective_input, is_error, explanation,
    verdict, stages, audit_trail, started_at, created_at, updated_at)
  SELECT id, $1, agent_id, $6, $5, 0, 'toolu_' || id, 'tool_' || tool, 'EXECUTING', 1, input, input, false,
    json_build_object('verdict', 'allow', 'decidedBy', 'rule', 'place', 'templates.assistant.permission.allow.3', 'reason', 'the rule allows it'), 'allow', '[]', '[]', now(), now(), now()
  FROM n, LATERAL (SELECT json_build_object('content', repeat(md5(id), 5)) AS input) i`;
const END = `WITH steps AS (
    UPDATE step s SET state = 'COMPLETED', input_tokens = 1000, output_tokens = 100, cost_usd = 0.01, completed_at = now() FROM unnest($2::text[]) n(agent_id)
    WHERE s.agent_id = n.agent_id AND s.step = $3 AND s.tenant = $1
  ) UPDATE tool_call SET state = 'COMPLETED', output = repeat(md5(id), 10), completed_at = now(), duration_ms = 1000, updated_at = now()
  FROM unnest($2::text[]) n(agent) WHERE agent_id = agent AND step = $3`;
const COUNT =
  "SELECT count(*) FILTER (WHERE state = 'COMPLETED')::int AS ended FROM audit_call WHERE tenant = $1 AND agent_id = ANY ($2)";

/**
 * The folding of 500 calls a second with eleven events each, beside the old calls of their tenant: its ms a second, and
 * its longest time until it had all. It pauses as a server's does.
 */
export async function auditFold(url: string): Promise<Figure[]> {
  const database = await openDatabase({ kind: "postgres", url, connections: 4 });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const log = new EventLog(database.commits);
    const agents = await Promise.all(Array.from({ length: AGENTS }, () => insertAgent(log, AUDIT.tenant)));
    await auditsBehind(database.sql);
    while (!(await foldAudit(database.sql, AUDIT.tenant)));
    let isWriting = true;
    const folds: number[] = [];
    const fold = async (): Promise<void> => {
      for (let isLast = false; !isLast;) {
        isLast = !isWriting;
        const began = performance.now();
        while (!(await foldAudit(database.sql, AUDIT.tenant)));
        folds.push(performance.now() - began);
        if (!isLast) await delay(AUDIT_TIMES.ownMs);
      }
    };
    await Promise.all([write(client, log, agents).then(() => (isWriting = false)), fold()]);
    const { rows } = await client.query<{ ended: number }>(COUNT, [AUDIT.tenant, agents.map(({ agentId }) => agentId)]);
    const calls = (SECONDS * 1_000 * CALLS_A_TICK) / TICK_MS;
    if (rows[0]?.ended !== calls) throw new Error(`${rows[0]?.ended} of ${calls} calls have ended in the audit`);
    return [
      {
        name: "audit fold",
        value: folds.reduce((sum, ms) => sum + ms, 0) / SECONDS,
        unit: "ms of folding a second",
        baseline: null,
        ratio: null,
      },
      { name: "audit fold, longest", value: Math.max(...folds), unit: "ms", baseline: null, ratio: null },
    ];
  } finally {
    await client.end();
    await database.close();
  }
}

/** Writes the calls at even times: rows first, then their events. Throws if it comes late. */
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
        turn(step(tick)),
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
    const last = step(ended) % CALLS_A_TURN === 0 ? done(step(ended)) : text(step(ended));
    await append(log, ending, [...Array.from({ length: 5 }, () => text(step(ended))), last]);
  }
  const late = performance.now() - began - (ticks + TICKS_A_CALL) * TICK_MS;
  if (late > 1_000)
    throw new Error(`the calls were written ${Math.round(late)} ms late: the machine is too slow for this figure`);
}

function turn(step: number): number {
  return Math.ceil(step / CALLS_A_TURN);
}

function done(step: number): EventDraft {
  return { at: new Date(), body: { kind: "DONE", turn: turn(step), step, reason: "COMPLETED", messageIds: null } };
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
