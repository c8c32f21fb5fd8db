import { randomUUID } from "node:crypto";

import { foldAudit } from "../../src/agent/calls/audit/fold.ts";
import type { Sql } from "../../src/db/sql.ts";
import { foldAll } from "./audit.ts";

/** A step as it was committed. Times are seconds after BEGIN. */
export type TrueStep = {
  readonly agent: string;
  readonly step: number;
  readonly turn: number;
  readonly model: string;
  readonly from: number;
  state: "STARTED" | "COMPLETED" | "ABORTED";
  to: number | null;
  tokens: number | null;
  cost: number | null;
  firstTokenMs: number | null;
  errorType: string | null;
};

export type TrueTurn = {
  readonly agent: string;
  readonly turn: number;
  messages: readonly TrueMessage[];
  calls: number;
  reason: string | null;
  to: number | null;
  readonly questions: { readonly from: number; to: number | null }[];
};

type TrueMessage = { readonly id: string; readonly by: string };

export type TrueAgent = {
  readonly id: string;
  readonly tenant: string;
  readonly template: string;
  readonly creator: string;
  readonly root: string;
  turn: number;
  step: number;
  isWorking: boolean;
  isRetried: boolean;
  ordinal: number;
  waiting: TrueMessage[];
};

export type Deed =
  | {
      readonly what: "message" | "retry" | "fork" | "text" | "call" | "close" | "done";
      readonly agent: number;
      readonly which: number;
    }
  | { readonly what: "step" | "answer"; readonly agent: number; readonly which: number }
  | { readonly what: "fold"; readonly servers: number; readonly isCut: boolean }
  | { readonly what: "retention" };

export const BEGIN = Date.UTC(2026, 0, 1);
export const MODELS = ["large", "small"] as const;
const REASONS = ["COMPLETED", "INTERRUPTED", "ERROR"] as const;
export const at = (seconds: number): Date => new Date(BEGIN + seconds * 1_000);
const when = (seconds: number): string => `'${at(seconds).toISOString()}'`;

/** Turns of agents of two tenants, committed as the log's functions do it: rows with their events in one statement. */
export class TurnOffice {
  readonly sql: Sql;
  readonly agents: TrueAgent[] = [];
  readonly steps: TrueStep[] = [];
  readonly turns: TrueTurn[] = [];
  #now = 0;
  #seq = 0;

  constructor(sql: Sql) {
    this.sql = sql;
  }

  async open(): Promise<void> {
    await this.#run(
      "TRUNCATE audit_fold, audit_call, audit_count, audit_turn_fold, audit_step, audit_turn, event, tenant_log, agent CASCADE",
    );
    await this.#run("INSERT INTO tenant_log (tenant, epoch) VALUES ('one', 'e'), ('two', 'e')");
    for (const [index, tenant] of ["one", "one", "two", "one"].entries())
      await this.#newAgent(tenant, index, index === 3 ? (this.agents[0]?.id ?? null) : null);
  }

  /** What follows is done by a server whose clock is behind. */
  setBack(seconds: number): void {
    this.#now -= seconds;
  }

  async act(deed: Deed): Promise<void> {
    this.#now += 1;
    switch (deed.what) {
      case "fold":
        await Promise.all(
          Array.from({ length: deed.servers }, async () => {
            if (!deed.isCut) return foldAll(this.sql);
            for (const tenant of ["one", "two"]) await foldAudit(this.sql, tenant);
          }),
        );
        return;
      case "retention":
        await this.#run(
          "UPDATE tenant_log l SET floor = greatest(floor, (SELECT max(position) FROM event e WHERE e.tenant = l.tenant))",
        );
        await this.#run("DELETE FROM event e USING tenant_log l WHERE e.tenant = l.tenant AND e.position <= l.floor");
        return;
      default:
        return this.#actFor(this.#agent(deed.agent), deed.what, deed.which);
    }
  }

  async #actFor(agent: TrueAgent, what: Exclude<Deed["what"], "fold" | "retention">, which: number): Promise<void> {
    const turn = this.turns.find((own) => own.agent === agent.id && own.turn === agent.turn);
    const step = this.steps.find((own) => own.agent === agent.id && own.step === agent.step);
    switch (what) {
      case "message":
        return this.#message(agent, `person-${which % 3}`);
      case "step":
        if (!agent.isWorking) return this.#start(agent);
        if (step?.state === "STARTED" && step.turn === agent.turn) return;
        return this.#begin(agent, MODELS[which % 2] ?? "large");
      case "answer":
        if (step?.state !== "STARTED") return;
        return this.#answer(agent, step, which);
      case "call":
        if (turn === undefined || !agent.isWorking || step?.state !== "COMPLETED" || step.turn !== agent.turn) return;
        return this.#call(agent, turn, step.step, which);
      case "close":
        return this.#close(agent, turn);
      case "done":
        if (turn === undefined || !agent.isWorking || step?.state === "STARTED") return;
        return this.#end(agent, turn, REASONS[which % 3] ?? "ERROR");
      case "retry":
        if (agent.isWorking || agent.turn === 0 || turn === undefined) return;
        agent.isRetried = true;
        return this.#commit(agent, [`UPDATE agent SET retry_turn = turn WHERE id = '${agent.id}'`]);
      case "text":
        return this.#commit(agent, ["SELECT 1"]);
      case "fork":
        return this.#fork(agent);
    }
  }

  async #message(agent: TrueAgent, by: string): Promise<void> {
    const id = randomUUID();
    agent.waiting.push({ id, by });
    await this.#commit(agent, [
      `INSERT INTO message (id, tenant, agent_id, kind, content, bytes, created_by, created_by_kind, created_at)
        VALUES ('${id}', '${agent.tenant}', '${agent.id}', 'USER', '[]', 2, '${by}', 'USER', ${when(this.#now)})`,
    ]);
  }

  async #start(agent: TrueAgent): Promise<void> {
    const before = this.turns.find((own) => own.agent === agent.id && own.turn === agent.turn);
    const messages = [...(agent.isRetried ? (before?.messages ?? []) : []), ...agent.waiting];
    const next = agent.turn + 1;
    const joins = agent.waiting.map(
      ({ id }) => `UPDATE message SET turn = ${next}, ordinal = ${(agent.ordinal += 1)} WHERE id = '${id}'`,
    );
    const again = agent.isRetried
      ? [`UPDATE message SET turn = ${next} WHERE agent_id = '${agent.id}' AND turn = ${agent.turn}`]
      : [];
    Object.assign(agent, { turn: next, isWorking: true, isRetried: false, waiting: [] });
    this.turns.push({ agent: agent.id, turn: next, messages, calls: 0, reason: null, to: null, questions: [] });
    await this.#commit(agent, [
      ...joins,
      ...again,
      `UPDATE agent SET turn = ${next}, state = 'WORKING', retry_turn = NULL WHERE id = '${agent.id}'`,
    ]);
  }

  async #begin(agent: TrueAgent, model: string): Promise<void> {
    agent.step += 1;
    const { id, step, turn } = agent;
    this.steps.push({
      agent: id,
      step,
      turn,
      model,
      from: this.#now,
      state: "STARTED",
      to: null,
      tokens: null,
      cost: null,
      firstTokenMs: null,
      errorType: null,
    });
    await this.#commit(agent, [
      `INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at) VALUES ('${id}', ${step}, '${agent.tenant}', ${turn}, 'STARTED', '${model}', ${when(this.#now)})`,
    ]);
  }

  /** One in four breaks off without counts, most of them by a failure; one in four has no price. */
  async #answer(agent: TrueAgent, step: TrueStep, which: number): Promise<void> {
    const isBroken = which % 4 === 0;
    Object.assign(step, {
      state: isBroken ? "ABORTED" : "COMPLETED",
      to: this.#now,
      tokens: isBroken ? null : which % 100,
      cost: which % 4 < 2 ? null : (which % 100) / 8,
      firstTokenMs: isBroken ? null : which % 7,
      errorType: isBroken && which % 3 > 0 ? ["overloaded", "silent"][which % 2] : null,
    });
    await this.#commit(
      agent,
      [
        `UPDATE step SET state = '${step.state}', completed_at = ${when(this.#now)}, input_tokens = ${step.tokens}, output_tokens = ${step.tokens}, cache_read_tokens = ${step.tokens}, cache_write_tokens = ${step.tokens}, cost_usd = ${step.cost}, error_type = ${step.errorType === null ? "NULL" : `'${step.errorType}'`}
        WHERE agent_id = '${agent.id}' AND step = ${step.step}`,
      ],
      isBroken ? [] : [["STEP_COMPLETE", { step: step.step, durationMs: 1, firstTokenMs: step.firstTokenMs }]],
    );
  }

  async #call(agent: TrueAgent, turn: TrueTurn, step: number, which: number): Promise<void> {
    turn.calls += 1;
    turn.questions.push({ from: this.#now, to: null });
    const call = randomUUID();
    await this.#commit(agent, [
      `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, created_at, updated_at)
        VALUES ('${call}', '${agent.tenant}', '${agent.id}', ${turn.turn}, ${step}, ${turn.calls}, 'p', 'write', 'PENDING', 0, false, '[]', '[]', ${when(this.#now)}, ${when(this.#now)})`,
      // One in three is about money, and so about no call.
      `INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, reason, risk, requested_at)
        VALUES ('${randomUUID()}', '${agent.tenant}', '${agent.id}', ${which % 3 === 0 ? "NULL" : `'${call}'`}, '${which % 3 === 0 ? "BUDGET" : "TOOL_CALL"}', 'PENDING', '', '', ${when(this.#now)})`,
    ]);
  }

  async #close(agent: TrueAgent, turn: TrueTurn | undefined): Promise<void> {
    for (const question of turn?.questions ?? []) question.to ??= this.#now;
    await this.#commit(agent, [
      `UPDATE approval SET state = 'ALLOWED', closed_at = ${when(this.#now)} WHERE agent_id = '${agent.id}' AND closed_at IS NULL`,
    ]);
  }

  async #end(agent: TrueAgent, turn: TrueTurn, reason: string): Promise<void> {
    for (const question of turn.questions) question.to ??= this.#now;
    Object.assign(turn, { reason, to: this.#now });
    agent.isWorking = false;
    await this.#commit(
      agent,
      [
        `UPDATE agent SET state = 'READY', done_reason = '${reason}' WHERE id = '${agent.id}'`,
        `UPDATE approval SET state = 'SEALED', closed_at = ${when(this.#now)} WHERE agent_id = '${agent.id}' AND closed_at IS NULL`,
      ],
      [["DONE", { turn: turn.turn, step: agent.step, reason, messageIds: turn.messages.map(({ id }) => id) }]],
    );
  }

  async #fork({ id, tenant, turn, step }: TrueAgent): Promise<void> {
    const fork = await this.#newAgent(tenant, this.agents.length, null);
    Object.assign(fork, { turn, step });
    await this.#commit(fork, [
      `INSERT INTO step SELECT r.* FROM step s, LATERAL json_populate_record(s, json_build_object('agent_id', '${fork.id}', 'copied_from', coalesce(s.copied_from, s.agent_id))) r WHERE s.agent_id = '${id}'`,
      `UPDATE agent SET turn = ${turn}, step_count = ${step} WHERE id = '${fork.id}'`,
    ]);
  }

  #agent(which: number): TrueAgent {
    const agent = this.agents[which % this.agents.length];
    if (agent === undefined) throw new Error("the office is not open");
    return agent;
  }

  async #newAgent(tenant: string, index: number, root: string | null): Promise<TrueAgent> {
    const id = `agent-${index}-${randomUUID()}`;
    const agent: TrueAgent = {
      id,
      tenant,
      template: `template-${index % 2}`,
      creator: `creator-${index % 3}`,
      root: root ?? id,
      turn: 0,
      step: 0,
      isWorking: false,
      isRetried: false,
      ordinal: 0,
      waiting: [],
    };
    this.agents.push(agent);
    await this
      .#run(`INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at, root_id)
        VALUES ('${id}', '${tenant}', '${agent.template}', 'm', '/', '${agent.creator}', 'USER', now(), now(), ${root === null ? "NULL" : `'${root}'`})`);
    return agent;
  }

  async #run(text: string): Promise<void> {
    await this.sql.query({ name: "", text }, []);
  }

  async #commit(
    { id, tenant }: TrueAgent,
    changes: readonly string[],
    events: readonly (readonly [kind: string, payload: object])[] = [],
  ): Promise<void> {
    const parts = changes.map(
      (change, index) => `part${index} AS (${change}${change.startsWith("SELECT") ? "" : " RETURNING 1"})`,
    );
    const rows = [["STATE_CHANGED", {}] as const, ...events].map(
      ([kind, payload]) => `(${(this.#seq += 1)}, '${kind}', '${JSON.stringify(payload)}'::json)`,
    );
    await this.#run(`WITH ${parts.join(", ")} INSERT INTO event (tenant, position, agent_id, seq, channel, kind, payload, at)
      SELECT '${tenant}', greatest(l.floor, coalesce((SELECT max(position) FROM event WHERE tenant = '${tenant}'), 0)) + row_number() OVER (ORDER BY e.seq), '${id}', e.seq, 'PROGRESS', e.kind, e.payload, ${when(this.#now)}
      FROM tenant_log l CROSS JOIN (VALUES ${rows.join(", ")}) AS e(seq, kind, payload) WHERE l.tenant = '${tenant}'`);
  }
}
