import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  AgentDocument,
  AgentsDocument,
  ApprovalGroupsDocument,
  ApprovalsDocument,
  CreateExportDocument,
  ForkAgentDocument,
  InterruptAgentDocument,
  RetryTurnDocument,
  StepsDocument,
  TurnsDocument,
  WithdrawMessageDocument,
  type CreateExportInput,
} from "../../generated/documents.ts";
import { applyErasure } from "../../../src/sweeps/erasure/erase.ts";
import { setPolicyTime } from "../../support/clock.ts";
import { NEIGHBOURS, tokenActor } from "../../support/actors.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { connect, type TestClient } from "../../support/client.ts";
import { administrator, testDatabase } from "../../support/database.ts";
import { exported, rowsOf } from "../../support/exports.ts";

const script = {
  replies: [
    { when: { user: "write" }, call: [{ tool: "fs_write", input: { path: "a.txt", content: "=1+1" } }] },
    { when: { user: "read" }, call: [{ tool: "fs_read", input: { path: "missing.txt" } }] },
    { when: { user: "fail" }, fail: "no model" },
    { when: {}, say: ["=Done."] },
  ],
};
const KINDS = ["DECISIONS", "MESSAGES", "STEPS", "TURNS"] as const;
type Kind = (typeof KINDS)[number];
const IDLE = "SELECT 1 FROM agent WHERE state = 'READY' AND lease_owner IS NULL AND runnable_at IS NULL";
type Row = Readonly<Record<string, unknown>>;

/** The names by which a row is known. */
const KEYS: Readonly<Record<Kind, readonly string[]>> = {
  DECISIONS: ["approval_id", "decided_by"],
  MESSAGES: ["message_id"],
  STEPS: ["agent_id", "step"],
  TURNS: ["agent_id", "turn"],
};
const keyOf = (kind: Kind, row: Row): string => KEYS[kind].map((name) => String(row[name])).join(" ");
const keysOf = (kind: Kind, rows: readonly Row[]): readonly string[] => rows.map((row) => keyOf(kind, row)).toSorted();
const rowIdOf = (relayId: string): string => Buffer.from(relayId, "base64").toString("utf8").split(":").slice(1).join(":");

async function exportedRows(app: TestApp, client: TestClient, input: Partial<CreateExportInput>) {
  const done = await exported(client, input);
  expect(done).toMatchObject({ state: "DONE", problem: null });
  return { asOf: done.asOf, rows: await rowsOf(app, done) };
}

/** Messages of forks up to the fork point, which are left out, and those of turns that were retried, which had ended before. */
type Known = { readonly copied: ReadonlySet<string>; readonly retried: ReadonlySet<string> };

/** The rows of each kind as the API has them, with the names of the views. */
async function rowsOfApi(client: TestClient, { copied, retried }: Known): Promise<Readonly<Record<Kind, readonly Row[]>>> {
  const { approvals } = await client.get(ApprovalsDocument, { first: 100 });
  const { steps } = await client.get(StepsDocument, { first: 100 });
  const { turns } = await client.get(TurnsDocument, { first: 100, filter: { isOpen: false } });
  const ended = new Set(turns.nodes.map(({ agentId, turn }) => `${agentId} ${turn}`));
  const { agents } = await client.get(AgentsDocument, { first: 100 });
  const messages: Row[] = [];
  for (const { id } of agents.nodes) {
    const { agent } = await client.get(AgentDocument, { id });
    for (const message of agent?.messages.nodes ?? [])
      if ((ended.has(`${id} ${message.turn}`) || retried.has(message.id)) && !copied.has(message.id))
        messages.push({ message_id: rowIdOf(message.id), kind: message.kind, turn: message.turn, step: message.step });
  }
  return {
    DECISIONS: approvals.nodes.flatMap(({ id, decisions }) =>
      decisions.map(({ decision, decidedBy, note }) => ({
        approval_id: rowIdOf(id),
        decision,
        decided_by: decidedBy.actorId,
        note,
      })),
    ),
    MESSAGES: messages,
    STEPS: steps.nodes
      .filter(({ agentId, turn }) => ended.has(`${agentId} ${turn}`))
      .map((step) => ({
        agent_id: rowIdOf(step.agentId),
        turn: step.turn,
        step: step.step,
        state: step.state,
        model: step.model,
        input_tokens: step.inputTokens,
        cost_usd: step.costUsd,
        started_at: step.startedAt,
        completed_at: step.completedAt,
        duration_ms: step.durationMs,
      })),
    TURNS: turns.nodes
      .filter(({ steps: count }) => count > 0)
      .map((turn) => ({
        agent_id: rowIdOf(turn.agentId),
        turn: turn.turn,
        steps: turn.steps,
        input_tokens: turn.inputTokens,
        unpriced_steps: turn.unpricedSteps,
        started_at: turn.startedAt,
      })),
  };
}

const DEEDS = ["say", "read", "write", "fail", "decide", "withdraw", "retry", "fork", "interrupt", "export"] as const;
const OF_RETRIES = ["fail", "write", "retry", "interrupt", "export"] as const;

describe("exports of decisions, messages, steps and turns", () => {
  it.each([
    { meanwhile: "whatever happens meanwhile", all: DEEDS, numRuns: 6 },
    { meanwhile: "also of turns that are retried", all: OF_RETRIES, numRuns: 3 },
  ])(
    "have the rows of the API, and consecutive ones each row once, $meanwhile",
    { timeout: 180_000 },
    async ({ all, numRuns }) => {
      const deed = fc.record({ agent: fc.nat(2), what: fc.constantFrom(...all) });
      await fc.assert(
        fc.asyncProperty(fc.array(deed, { minLength: 8, maxLength: 16 }), async (deeds) => {
          const app = await startTestApp({ script, template: { permission: { mode: "approval" } } });
          const client = connect(app.url);
          const agents = [(await client.createAgent()).id, (await client.createAgent()).id];
          const [copied, retried] = [new Set<string>(), new Set<string>()];
          const parts: Record<Kind, Row[]> = { DECISIONS: [], MESSAGES: [], STEPS: [], TURNS: [] };
          const since: Record<Kind, string | null> = { DECISIONS: null, MESSAGES: null, STEPS: null, TURNS: null };
          const withdrawn: string[] = [];
          /** Waits until the agent is idle or asks. */
          const still = (id: string) =>
            expect.poll(async () => (await client.agent(id)).state, { timeout: 10_000 }).not.toBe("WORKING");
          const send = async (id: string, text: string) => {
            await client.send(id, text);
            await still(id);
          };
          const exportAll = async () => {
            for (const what of KINDS) {
              const part = await exportedRows(app, client, { what, ...(since[what] === null ? {} : { since: since[what] }) });
              parts[what].push(...part.rows);
              since[what] = part.asOf;
            }
          };
          for (const { agent, what } of deeds) {
            const id = agents[agent % agents.length] ?? "";
            if (what === "say" || what === "read" || what === "write" || what === "fail") await send(id, what);
            else if (what === "retry") {
              const { turn, messages } = await client.agent(id);
              const { data } = await client.ask(RetryTurnDocument, { input: { agentId: id } });
              await still(id);
              if (data?.retryTurn.userErrors.length === 0)
                for (const message of messages.nodes) if (message.turn === turn) retried.add(message.id);
            } else if (what === "interrupt") {
              await client.get(InterruptAgentDocument, { input: { agentId: id, note: "stop" } });
              await still(id);
            } else if (what === "decide") {
              const [open] = (await client.agent(id)).pendingApprovals;
              if (open === undefined) continue;
              const decision = agent === 0 ? "DENY" : "ALLOW";
              const { id: approvalId, inputHash } = open;
              await client.decide({ approvalId, decision, inputHash, note: "=note" });
              await still(id);
            } else if (what === "withdraw") {
              if ((await client.agent(id)).state !== "PAUSED") continue;
              const messageId = await client.send(id, "never mind");
              const { withdrawMessage } = await client.get(WithdrawMessageDocument, { input: { messageId } });
              if (withdrawMessage.userErrors.length === 0) withdrawn.push(rowIdOf(messageId));
            } else if (what === "fork") {
              const { data } = await client.ask(ForkAgentDocument, { input: { agentId: id } });
              const fork = data?.forkAgent.agent?.id;
              if (fork === undefined) continue;
              agents.push(fork);
              for (const message of (await client.agent(fork)).messages.nodes) copied.add(message.id);
            } else await exportAll();
          }
          await exportAll();
          const api = await rowsOfApi(client, { copied, retried });
          for (const what of KINDS) {
            const { rows: whole } = await exportedRows(app, client, { what, withTexts: what === "DECISIONS" });
            const own = whole.filter((row) => !withdrawn.includes(String(row["message_id"])));
            expect(keysOf(what, own), what).toEqual(keysOf(what, api[what]));
            if (what === "MESSAGES") expect(whole.length - own.length).toBe(withdrawn.length);
            for (const row of api[what]) expect(own.find((other) => keyOf(what, other) === keyOf(what, row))).toMatchObject(row);
            expect(keysOf(what, parts[what]), `${what} in parts`).toEqual(keysOf(what, whole));
          }
        }),
        { numRuns },
      );
    },
  );

  it("continue within the rows of one turn, and are as of a position that lies behind", { timeout: 60_000 }, async () => {
    const { url } = await testDatabase();
    const rows = await administrator(url);
    const app = await startTestApp({ script, database: { kind: "postgres", url, connections: 3 } });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    const before = await exportedRows(app, client, { what: "MESSAGES" });
    await client.turn(id, "say");
    // 3,000 answers of some kilobytes, two of them huge, and as many steps.
    const agentId = rowIdOf(id);
    await rows.query(
      `INSERT INTO message (id, tenant, agent_id, kind, content, bytes, ordinal, turn, step, created_at)
          SELECT 'm' || lpad(n::text, 6, '0'), tenant, id, 'ASSISTANT', c, octet_length(c::text), 10 + n, 1, n, now()
          FROM agent, generate_series(2, 3001) n, LATERAL (SELECT json_build_array(json_build_object('type', 'text', 'text', '=1+1 ü' || repeat('x', CASE WHEN n IN (100, 2000) THEN 9000000 ELSE 2000 END))) AS c) c WHERE id = $1`,
      [agentId],
    );
    await rows.query(
      `INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at, completed_at)
          SELECT id, n, tenant, 1, 'COMPLETED', 'm', now(), now() FROM agent, generate_series(2, 3001) n WHERE id = $1`,
      [agentId],
    );
    // The turn is ended by an event with its last step.
    await rows.query(
      `UPDATE event SET payload = (payload::jsonb || '{"step": 3001}')::json WHERE kind = 'DONE' AND agent_id = $1`,
      [agentId],
    );
    const expected = ["m000002", "m003001"];
    for (const input of [{}, { since: before.asOf }]) {
      const done = await exported(client, { what: "MESSAGES", withTexts: true, ...input });
      expect(done).toMatchObject({ state: "DONE", rows: 3_002 });
      // Some 6 MB of common rows, and two rows that fill a part each.
      expect(done.parts).toBeGreaterThan(3);
      const ids = (await rowsOf(app, done)).map((row) => String(row["message_id"])).filter((own) => own.startsWith("m0"));
      expect(new Set(ids).size).toBe(3_000);
      expect([ids[0], ids.at(-1)]).toEqual(expected);
      const steps = await exportedRows(app, client, { what: "STEPS", ...input });
      expect(steps.rows.map(({ step }) => step)).toEqual(Array.from({ length: 3_001 }, (_none, index) => index + 1));
      expect((await exportedRows(app, client, { what: "TURNS", ...input })).rows).toMatchObject([{ turn: 1, steps: 3_001 }]);
    }
    for (const what of KINDS) expect((await exportedRows(app, client, { what, asOf: before.asOf })).rows).toEqual([]);
  });

  it("have texts for those with the right alone, none of steps and turns, and formulas as texts", async () => {
    const app = await startTestApp({
      script,
      config: { actors: [...(NEIGHBOURS.actors ?? []), tokenActor("ada", ["admin"]).actor] },
    });
    const [anna, ada] = [connect(app.url, "anna-token"), connect(app.url, "ada-token")];
    const { id } = await anna.createAgent();
    await anna.turn(id, "say");
    await connect(app.url, "ben-token").turn((await connect(app.url, "ben-token").createAgent()).id, "say");
    const refused = async (client: TestClient, what: Kind) =>
      (await client.get(CreateExportDocument, { input: { what, format: "CSV", withTexts: true } })).createExport.userErrors[0];
    for (const what of ["DECISIONS", "MESSAGES"] as const)
      expect(await refused(anna, what)).toMatchObject({ code: "FORBIDDEN", field: ["withTexts"] });
    for (const what of ["STEPS", "TURNS"] as const)
      expect(await refused(ada, what)).toMatchObject({ code: "INVALID", field: ["withTexts"] });
    const own = await exportedRows(app, anna, { what: "MESSAGES" });
    expect(own.rows.map(({ kind }) => kind)).toEqual(["USER", "ASSISTANT"]);
    expect(own.rows[0]).not.toHaveProperty("content");
    const all = await exportedRows(app, ada, { what: "MESSAGES", withTexts: true });
    expect(all.rows.map(({ content }) => JSON.parse(String(content)))).toContainEqual([{ type: "text", text: "=Done." }]);
    const filtered = await exportedRows(app, ada, {
      what: "TURNS",
      filter: { createdBy: ["anna"], created: { from: "2020-01-01T00:00:00Z" } },
    });
    expect(filtered.rows).toMatchObject([{ agent_id: rowIdOf(id), requested_by: "anna" }]);
    const { steps } = await ada.get(StepsDocument, {});
    const models = [steps.nodes[0]?.model ?? ""];
    expect(keysOf("STEPS", (await exportedRows(app, ada, { what: "STEPS", filter: { models } })).rows)).toHaveLength(2);
    expect((await exportedRows(app, ada, { what: "STEPS", filter: { models: ["other"] } })).rows).toEqual([]);
    for (const what of KINDS) {
      expect((await exportedRows(app, ada, { what, filter: { created: { to: "2020-01-01T00:00:00Z" } } })).rows).toEqual([]);
      const { createExport } = await ada.get(CreateExportDocument, {
        input: { what, format: "CSV", filter: { states: ["FAILED"] } },
      });
      expect(createExport.userErrors).toMatchObject([{ code: "INVALID", field: ["filter", "states"] }]);
    }
  });

  it("find turns by the model of their first step, also in a continued export", async () => {
    const app = await startTestApp({ script });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    const before = await exportedRows(app, client, { what: "TURNS" });
    await client.turn(id, "read");
    await client.turn(id, "say");
    // The second step of the first turn has another model, and so has the second turn.
    const text = "UPDATE step SET model = 'fallback' WHERE step > 1 RETURNING model";
    expect(await app.database.sql.query({ name: "fallback", text }, [])).toHaveLength(2);
    const { steps } = await client.get(StepsDocument, { filter: { agentIds: [id] } });
    const first = steps.nodes.find(({ step }) => step === 1)?.model ?? "";
    for (const since of [null, before.asOf])
      for (const [models, turns] of [
        [[first], [1]],
        [["fallback"], [2]],
        [
          [first, "fallback"],
          [1, 2],
        ],
        [["other"], []],
      ] as const) {
        const { rows } = await exportedRows(app, client, { what: "TURNS", filter: { models: [...models] }, since });
        expect(keysOf("TURNS", rows), models.join()).toEqual(turns.map((turn) => `${rowIdOf(id)} ${turn}`));
      }
  });

  it("show erased texts as removed, and keep their rows", async () => {
    const app = await startTestApp({ script, template: { permission: { mode: "approval" } } });
    const client = connect(app.url);
    const { sql } = app.database;
    const { id } = await client.createAgent();
    await client.send(id, "write");
    const asked = (await client.until(id, "PERMISSION_REQUIRED")).at(-1);
    if (asked?.__typename !== "PermissionRequired") throw new Error("nothing was asked");
    const { approvalId, inputHash } = asked.request;
    await client.decide({ approvalId, decision: "ALLOW", inputHash, note: "yes" });
    await client.until(id, "DONE");
    const texts = async (what: Kind, name: string) =>
      (await exportedRows(app, client, { what, withTexts: true })).rows.map((row) => [row[name], row["erased_at"] === null]);
    const figures = async () => (await client.get(ApprovalGroupsDocument, { by: ["TOOL", "DECIDER"] })).approvalGroups.groups;
    const before = await figures();
    expect(before).toHaveLength(1);
    expect(await texts("DECISIONS", "note")).toEqual([["yes", true]]);
    expect((await texts("MESSAGES", "content")).map(([content]) => typeof content)).toEqual(Array(4).fill("string"));
    await expect.poll(async () => (await sql.query({ name: "", text: IDLE }, [])).length).toBe(1);
    await setPolicyTime(sql, "statement_timestamp() + interval '2 hours'");
    const policy = { eventsMs: null, deltasMs: null, outputsMs: null, toolCallsMs: 1, messagesMs: 1, approvalsMs: 1 };
    await applyErasure(sql, { policy, consumers: [] }, new AbortController().signal);
    expect(await texts("DECISIONS", "note")).toEqual([[null, false]]);
    expect(await figures()).toEqual(before);
    expect(await texts("MESSAGES", "content")).toEqual(Array.from({ length: 4 }, () => [null, false]));
  });

  it("have the note of an interrupt that came after its turn once, with the next turn", async () => {
    const app = await startTestApp({ script });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    await client.turn(id, "say");
    const first = await exportedRows(app, client, { what: "MESSAGES" });
    // The turn ended while the interrupt was on its way.
    await app.database.sql.query({ name: "", text: "UPDATE agent SET interrupt_note = 'stop' WHERE id = $1" }, [rowIdOf(id)]);
    await client.turn(id, "say");
    const second = await exportedRows(app, client, { what: "MESSAGES", since: first.asOf });
    expect(second.rows.map(({ kind, turn }) => [kind, turn])).toEqual([
      ["USER", 2],
      ["USER", 2],
      ["ASSISTANT", 2],
    ]);
  });
});
