import { randomUUID } from "node:crypto";
import fc from "fast-check";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { joinCommits, eventsOnly, type Commit } from "../../src/agent/loop/commits/commit.ts";
import { claim, LEASE_TIMES } from "../../src/agent/loop/lease.ts";
import { parked } from "../../src/agent/loop/commits/turns.ts";
import { readView, type AgentView } from "../../src/agent/loop/view.ts";
import { SHAPES, shapeName } from "../../src/db/commit/commit-text.ts";
import type { Database } from "../../src/db/database.ts";
import type { OwnerChange } from "../../src/db/commit/change.ts";
import { encodeChange } from "../../src/db/commit/parts.ts";
import { composeCommit } from "../../src/db/commit/composed-commit.ts";
import type { Sql } from "../../src/db/sql.ts";
import { sqlState } from "../../src/db/storage-error.ts";
import { columns, encodePart } from "../../src/events/write.ts";
import { EventLog } from "../../src/events/log.ts";
import { messageOf } from "../../src/lib/text.ts";
import type { PossibleCommit } from "../support/asking-commits.ts";
import { possibleCommits } from "../support/commits.ts";
import { testDatabase } from "../support/database.ts";
import { heldAgent } from "../support/held-agent.ts";
import { everything, readAll } from "../support/log.ts";
import { playedModel } from "../support/models.ts";
import { commit, committed, compose, OWNER, owned, partOf, possible, withPendingCall } from "../support/owned-agent.ts";
import { testServices } from "../support/services.ts";

const TABLES = ["agent", "message", "step", "tool_call", "approval", "known_file", "event"];

/** The commits of turns in which every call reads or writes files. */
const WITH_FILES =
  /^(turn started|step started|answered with [13] calls, tool_use|call started|call (completed|failed) with files)$/;

/** The choices of a random run: how many of the possible commits go together, which, whether they are of an older view. */
const RUN = fc.array(
  fc.record({ choices: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 3 }), arrives: fc.nat(5), isStale: fc.nat(7) }),
  { minLength: 5, maxLength: 40 },
);

/** The start of all calls of the view, as one commit. */
function starts(view: AgentView): Commit {
  const each = possibleCommits(view).filter(({ name }) => name === "call started");
  return joinCommits(...each.map(({ make }) => make()));
}

/** Begins `work` while another transaction has the agent's row, and has written others of its rows; lets both end. */
async function meanwhile<Result>(
  { url, sql }: Database & { readonly url: string },
  { id }: AgentView,
  write: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query("BEGIN");
  await other.query("SELECT FROM agent WHERE id = $1 FOR NO KEY UPDATE", [id]);
  await other.query(`${write} WHERE agent_id = $1`, [id]);
  const working = work();
  const waits =
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'WITH held%' AND datname = current_database()";
  while ((await sql.query({ name: "waits", text: waits }, [])).length === 0);
  await other.query("COMMIT");
  return working;
}

/** The rows of every table that commits write, in one order, without what no two writes share. */
async function rowsOf(sql: Sql): Promise<Record<string, unknown>> {
  const rows = await Promise.all(
    TABLES.map(async (table): Promise<[string, unknown]> => {
      const text = `SELECT coalesce(json_agg(r ORDER BY r::text), '[]') AS rows FROM (
        SELECT to_jsonb(t) - '{runnable_at,lease_until,append_id}'::text[] AS r FROM ${table} t) r`;
      return [table, (await sql.query<{ rows: unknown }>({ name: `all_${table}`, text }, []))[0]?.rows];
    }),
  );
  return Object.fromEntries(rows);
}

/** The answer of a log to a commit, in words that two logs share. */
async function answerOf(log: EventLog, ...commit: Parameters<EventLog["commitHeld"]>): Promise<string> {
  try {
    const answer = await log.commitHeld(...commit);
    return answer.outcome === "CONFLICT" ? answer.message : answer.outcome;
  } catch (error) {
    return sqlState(error) ?? messageOf(error);
  }
}

/**
 * Makes random commits, of those that `isWanted` names, of one database by both ways: composed, and in a second database by the
 * function. Fails where they differ. Answers the statements that were composed, and what was refused, in words.
 */
async function writeBothWays(
  isWanted: (commit: PossibleCommit) => boolean,
): Promise<{ readonly used: ReadonlySet<string>; readonly refusals: ReadonlySet<string> }> {
  const [one, other] = [await testDatabase(), await testDatabase()];
  const used = new Set<string>();
  const composing: Sql = {
    ...one.sql,
    query: (statement, values) => {
      if (SHAPES.some((shape) => shapeName(shape) === statement.name)) used.add(statement.name);
      return one.sql.query(statement, values);
    },
  };
  const services = testServices(composing, playedModel());
  // All that is written of the one database is written of the other, where the function makes every commit.
  const twin = new EventLog({ ...other.sql, keepsPrepared: false });
  const { log } = services;
  const [begin, command] = [log.begin.bind(log), log.commit.bind(log)];
  log.begin = async (tenant) => void (await Promise.all([begin(tenant), twin.begin(tenant)]));
  log.commit = async (...values) => (await Promise.all([command(...values), twin.commit(...values)]))[0];
  const refusals = new Set<string>();
  await fc.assert(
    fc.asyncProperty(RUN, async (run) => {
      const { agentId, send } = await heldAgent(services);
      const claimed = async (): Promise<AgentView> => {
        await send("go");
        for (const sql of [one.sql, other.sql]) await claim(sql, OWNER, [agentId], LEASE_TIMES, "RUN_OUT");
        return readView(one.sql, agentId);
      };
      let view = await claimed();
      let before = view;
      const commitBoth = async (of: AgentView, made: Commit): Promise<void> => {
        const part = partOf({ ...of, leaseEpoch: view.leaseEpoch }, made);
        const [outcome, expected] = await Promise.all([log, twin].map((each) => answerOf(each, view.tenant, part, made.change)));
        expect(outcome).toBe(expected);
        if (outcome !== undefined && outcome !== "COMMITTED") refusals.add(outcome.replaceAll(/[0-9a-f-]{36}/g, "…"));
        before = view;
        view = await readView(one.sql, agentId);
      };
      for (const { choices, arrives, isStale } of run) {
        if (arrives === 0 || (view.state === "READY" && view.waiting.length === 0)) {
          await commitBoth(view, parked(view));
          view = await claimed();
        }
        const base = isStale === 0 ? before : view;
        await commitBoth(base, joined(base, choices, isWanted));
      }
      expect(await rowsOf(one.sql)).toEqual(await rowsOf(other.sql));
    }),
    { numRuns: 20 },
  );
  return { used, refusals };
}

describe("commits of owners by composed statements", () => {
  it(
    "leave row by row what `commit_change` leaves, and are refused where it refuses (invariants 3 to 7)",
    { timeout: 120_000 },
    async () => {
      const { used, refusals } = await writeBothWays(() => true);
      expect(used.size).toBeGreaterThan(5);
      expect(refusals.size).toBeGreaterThan(2);
    },
  );

  it(
    "leave the files that calls have read or written as `commit_change` leaves them (invariant 3)",
    { timeout: 120_000 },
    async () => {
      const { used } = await writeBothWays(({ name }) => WITH_FILES.test(name));
      expect([...used].filter((name) => name.endsWith("_files")).length).toBeGreaterThan(2);
    },
  );

  it("have a bounded number of shapes: each is a plan that a connection keeps", () => {
    expect(new Set(SHAPES.map(shapeName)).size).toBe(SHAPES.length);
    expect(SHAPES.length).toBeLessThanOrEqual(40);
    // PostgreSQL cuts longer names, and would take two of one beginning for one statement.
    for (const shape of SHAPES) expect(shapeName(shape).length).toBeLessThan(64);
  });

  it("are refused if the lease is another's, or the agent was signalled, interrupted or its call cancelled, and change nothing", async () => {
    const database = await testDatabase();
    const agent = await withPendingCall(await owned(database));
    const { sql, view } = agent;
    const start = possible(view, "call started");
    const [call] = view.calls;
    const before = await rowsOf(sql);
    const stranger = { ...agent, view: { ...view, leaseEpoch: view.leaseEpoch + 1 } };
    expect(await commit(stranger, start)).toMatchObject({ outcome: "FENCED" });
    const unsignalled = { ...start, change: { ...start.change, expectSignal: view.signal + 1 } };
    expect(await commit(agent, unsignalled)).toMatchObject({ outcome: "CONFLICT" });
    expect(await rowsOf(sql)).toEqual(before);
    for (const [table, column, value] of [
      ["agent", "interrupt_at", "2026-01-01"],
      ["tool_call", "cancel_requested", "{}"],
    ] as const) {
      const of = `WHERE ${table === "agent" ? "id" : "agent_id"} = $1`;
      await sql.query({ name: `set_${column}`, text: `UPDATE ${table} SET ${column} = '${value}' ${of}` }, [view.id]);
      expect(await commit(agent, start)).toMatchObject({
        outcome: "CONFLICT",
        view: { calls: [{ id: call?.id, state: "PENDING" }] },
      });
      await sql.query({ name: `unset_${column}`, text: `UPDATE ${table} SET ${column} = NULL ${of}` }, [view.id]);
    }
    expect(await rowsOf(sql)).toEqual(before);
    expect(await commit(agent, start)).toMatchObject({ outcome: "COMMITTED", view: { calls: [{ state: "EXECUTING" }] } });
  });

  it("are refused if the step that they end has ended, and change nothing", async () => {
    const agent = await owned(await testDatabase());
    const turn = await commit(agent, possible(agent.view, "turn started"));
    const { view } = await commit({ ...agent, view: turn.view }, possible(turn.view, "step started"));
    const [broken, answer] = [possible(view, "step aborted"), possible(view, "answered with 1 calls, tool_use")];
    expect(await commit({ ...agent, view }, broken)).toMatchObject({
      outcome: "COMMITTED",
      view: { lastStep: { state: "ABORTED" } },
    });
    const before = await rowsOf(agent.sql);
    expect((await commit({ ...agent, view }, answer)).outcome).toBe("CONFLICT");
    expect(await rowsOf(agent.sql)).toEqual(before);
  });

  it("write a call once that goes through several states, and count on where an agent's removed events ended", async () => {
    const { sql, log, view } = await withPendingCall(await owned(await testDatabase()));
    await sql.query({ name: "gone", text: "DELETE FROM event" }, []);
    await sql.query({ name: "kept", text: "UPDATE agent SET seq = 50" }, []);
    await sql.query({ name: "floor", text: "UPDATE tenant_log SET floor = 70" }, []);
    const started = possible(view, "call started");
    const ended = possible(started.after(view), "call completed");
    expect((await commit({ sql, log, view }, joinCommits(started, ended))).outcome).toBe("COMMITTED");
    const [call] = await sql.query({ name: "trail", text: "SELECT audit_trail AS trail FROM tool_call" }, []);
    expect(call).toMatchObject({ trail: [{ state: "PENDING" }, { state: "EXECUTING" }, { state: "COMPLETED" }] });
    const [first] = await readAll(log, everything("one"));
    expect(first).toMatchObject({ seq: 51, position: 71 });
  });

  it("see what others committed while they waited for the agent's row (invariant 14)", async () => {
    const database = await testDatabase();
    const agent = await withPendingCall(await owned(database));
    const starting = await meanwhile(database, agent.view, "UPDATE tool_call SET cancel_requested = '{}'", () =>
      commit(agent, possible(agent.view, "call started")),
    );
    expect(starting).toMatchObject({ outcome: "CONFLICT", view: { calls: [{ state: "PENDING" }] } });
  });

  it.each([
    ["the end of a step", "UPDATE step SET model = model", 0],
    ["a call", "UPDATE tool_call SET name = name", 1],
    ["several calls", "UPDATE tool_call SET name = name", 3],
  ])("write the newest versions of rows that others wrote while they waited: %s (invariant 3)", async (_name, write, calls) => {
    const database = await testDatabase();
    const agent = await owned(database);
    const names = ["turn started", "step started", ...(calls === 0 ? [] : [`answered with ${calls} calls, tool_use`])];
    const { view } = await committed(agent, names);
    const made = calls === 0 ? possible(view, "answered with 1 calls, tool_use") : starts(view);
    const places = await meanwhile(database, view, write, () => compose(agent.sql, view, made));
    expect(places).toHaveLength(1);
    expect(await readView(agent.sql, view.id)).toMatchObject({
      calls: Array.from({ length: Math.max(1, calls) }, () => ({ state: calls === 0 ? "PENDING" : "EXECUTING" })),
    });
  });

  it("are refused if one row of several is not in the state that they start from", async () => {
    const agent = await owned(await testDatabase());
    const { sql, view } = await committed(agent, ["turn started", "step started", "answered with 3 calls, tool_use"]);
    const cancel = "UPDATE tool_call SET cancel_requested = '{}' WHERE agent_id = $1 AND ordinal = 1";
    await sql.query({ name: "cancel", text: cancel }, [view.id]);
    await expect(compose(sql, view, starts(view))).rejects.toMatchObject({ code: "TP005" });
    expect((await readView(sql, view.id)).calls.map(({ state }) => state)).toEqual(["PENDING", "PENDING", "PENDING"]);
  });

  it.each<[string, (change: OwnerChange) => OwnerChange, column: string, value: string]>([
    [
      "an agent's end of work",
      (change) => ({ ...change, agent: { ...change.agent, doneReason: "ERROR" } }),
      "done_reason FROM agent",
      "ERROR",
    ],
    [
      "an agent's last activity",
      (change) => ({ ...change, agent: { ...change.agent, lastActivityAt: new Date("2999-01-01T00:00:00.000Z") } }),
      "last_activity_at::text FROM agent",
      "2999-01-01 00:00:00+00",
    ],
    [
      "a call's verdict",
      ({ transitions, ...change }) => ({
        ...change,
        transitions: transitions?.map((each) => ({ ...each, set: { ...each.set, verdict: "deny" } })) ?? [],
      }),
      "verdict FROM tool_call",
      "deny",
    ],
    [
      "who wrote a message",
      ({ messages, ...change }) => ({ ...change, messages: messages?.map((each) => ({ ...each, createdBy: "ann" })) ?? [] }),
      "created_by FROM message",
      "ann",
    ],
    [
      "the step of which one is a copy",
      ({ stepStart, ...change }) => ({
        ...change,
        ...(stepStart === undefined ? {} : { stepStart: { ...stepStart, copiedFrom: "other" } }),
      }),
      "copied_from FROM step",
      "other",
    ],
  ])("set every column that a change sets: %s (invariant 3)", async (_name, set, column, value) => {
    const agent = await committed(await withPendingCall(await owned(await testDatabase())), ["call started"]);
    const ended = possible(agent.view, "call completed");
    const made = joinCommits(ended, possible(ended.after(agent.view), "step started"));
    expect(composeCommit(made.change)).not.toBeNull();
    const change = set(made.change);
    expect(composeCommit(change)).not.toBeNull();
    expect((await commit(agent, { ...made, change })).outcome).toBe("COMMITTED");
    const rows = await agent.sql.query<Record<string, unknown>>({ name: "set", text: `SELECT ${column}` }, []);
    expect(rows.flatMap((row) => Object.values(row))).toContain(value);
  });

  it.each<[...string[]]>([
    ["answered with 1 calls, tool_use", "call started"],
    ["answered with 3 calls, tool_use", "call started", "call started", "call started"],
    ["answered with 1 calls, tool_use", "call refused"],
    ["call failed", "step started"],
    ["call completed with an earlier result", "step started"],
    ["call completed with files", "step started"],
    ["call completed", "call failed", "call completed", "step started"],
  ])("make the commits that turns of calls consist of: %s, %s (ADR 24)", async (...names) => {
    const calls = names.filter((name) => name.startsWith("call ")).length;
    const ran = [`answered with ${calls} calls, tool_use`, ...Array.from({ length: calls }, () => "call started")];
    const before = ["turn started", "step started", ...(names[0]?.startsWith("answered") === true ? [] : ran)];
    const { view } = await committed(await owned(await testDatabase()), before);
    let now = view;
    const made = names.map((name) => {
      const next = possible(now, name);
      now = next.after(now);
      return next;
    });
    expect(composeCommit(joinCommits(...made).change)).not.toBeNull();
  });

  it("that come after their own retry are stopped by the log (event_append)", async () => {
    const { sql, log, view } = await owned(await testDatabase());
    const made = eventsOnly({ kind: "TEXT_CHUNK", step: 1, block: 0, delta: "x" });
    const part = encodePart(partOf(view, made));
    const writeId = randomUUID();
    await sql.query({ name: "retry", text: "SELECT commit_change($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)" }, [
      view.tenant,
      writeId,
      true,
      OWNER,
      view.id,
      view.leaseEpoch,
      encodeChange(made.change),
      ...columns(part.events),
    ]);
    const before = await readAll(log, everything("one"));
    await expect(compose(sql, view, made, writeId)).rejects.toMatchObject({ code: "23505", constraint: "event_append" });
    expect(await readAll(log, everything("one"))).toEqual(before);
  });

  it("of several agents at once leave no gap in positions and seqs (invariant 2)", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agents = await Promise.all(Array.from({ length: 4 }, async () => withPendingCall(await owned({ sql } as Database))));
    const made = eventsOnly({ kind: "TEXT_CHUNK", step: 1, block: 0, delta: "x" });
    await Promise.all(
      agents.map(async ({ view }) => {
        for (let index = 0; index < 40; index += 1) {
          const part = partOf(view, made);
          if (index % 3 === 0) await log.append("one", [part]);
          else await log.commitHeld("one", part, { agent: { breakpoint: index % 2 === 0 ? "PRE_MODEL" : "STREAMING_MODEL" } });
        }
      }),
    );
    const events = await readAll(log, everything("one"));
    expect(events.map(({ position }) => position)).toEqual(events.map((_event, index) => index + 1));
    for (const { view } of agents) {
      const own = events.filter(({ agentId }) => agentId === view.id);
      expect(own.map(({ seq }) => seq)).toEqual(own.map((_event, index) => index + 1));
    }
  });
});

/** Several commits as one, each of the rows that the one before it leaves; fewer if a step would end twice. */
function joined(view: AgentView, choices: readonly number[], isWanted: (commit: PossibleCommit) => boolean): Commit {
  let now = view;
  const made: Commit[] = [];
  for (const choice of choices) {
    const all = possibleCommits(now).filter(isWanted);
    const next = all[choice % all.length]?.make();
    if (next === undefined || (next.change.stepEnd !== undefined && made.some(({ change }) => change.stepEnd !== undefined)))
      break;
    made.push(next);
    now = next.after(now);
  }
  return joinCommits(...made);
}
