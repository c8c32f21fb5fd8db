import { systemClock } from "../../src/lib/time.ts";
import { setImmediate as immediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { GiveUp, type Consumer, ConsumerOffsets } from "../../src/deliveries/consumer.ts";
import { Consumers, registerConsumers } from "../../src/deliveries/consumers.ts";
import type { Sql } from "../../src/db/sql.ts";
import type { ConsumerTimes } from "../../src/deliveries/delivery.ts";
import { EventLog } from "../../src/events/log.ts";
import type { Logger } from "../../src/telemetry/log.ts";
import { testDatabase } from "../support/database.ts";
import { everything, insertAgent } from "../support/log.ts";

/** A lease that no busy machine lets run out: another server would deliver the same events again. */
const TIMES: ConsumerTimes = { leaseMs: 60_000, sweepMs: 50, firstRetryMs: 5, lastRetryMs: 20 };

/** A log with an agent, and servers that deliver from it. */
async function world() {
  const { sql } = await testDatabase();
  let reads = 0;
  const log = new EventLog({
    ...sql,
    query: (statement, values) => {
      if (statement.name === "read_tenant") reads += 1;
      return sql.query(statement, values);
    },
  });
  await log.begin("acme");
  const agent = await insertAgent(log, "acme");
  const errors: string[] = [];
  const warnings: string[] = [];
  const logger: Logger = {
    tell: (event, message) => void (event === "delivery_given_up" && errors.push(message)),
    warn: (message) => void warnings.push(message),
    error: (message) => void errors.push(message),
  };
  let servers = 0;
  return {
    sql,
    log,
    errors,
    warnings,
    /** Counts the first server's reads of the log. */
    reads: () => reads,
    append: (from: number, to: number, tenant = "acme", agentId = agent.agentId) =>
      log.append(tenant, [
        {
          agentId,
          createdBy: "anna",
          events: Array.from({ length: to - from + 1 }, (_, index) => ({
            at: new Date(),
            body: { kind: "STEP_COMPLETE", step: from + index, durationMs: 1, stopReason: "end_turn" } as const,
          })),
        },
      ]),
    serve: async (
      deliver: (step: number, signal: AbortSignal) => Promise<void>,
      options: Partial<Consumer> = {},
      times: ConsumerTimes = TIMES,
      by: Sql = sql,
    ) => {
      servers += 1;
      const consumer: Consumer = {
        name: "test",
        kinds: ["STEP_COMPLETE"],
        concurrency: 1,
        giveUpMs: 60_000,
        tenant: null,
        deliver: async ({ body }, signal) => deliver(body.kind === "STEP_COMPLETE" ? body.step : -1, signal),
        ...options,
      };
      // Each server has a log of its own, as processes have: it hears of its own commits only.
      const services = {
        serverId: `server ${servers}`,
        sql: by,
        log: servers === 1 ? log : new EventLog(sql),
        clock: systemClock,
        logger,
      };
      await registerConsumers(services, [consumer]);
      const consumers = new Consumers(services, [consumer], times);
      onTestFinished(() => consumers.close());
      return consumers;
    },
  };
}

/** The statements of the database, of which those of one name are counted. */
function counted(sql: Sql, name: string, seen: string[]): Sql["query"] {
  return (statement, values) => {
    if (statement.name === name) seen.push(name);
    return sql.query(statement, values);
  };
}

/** The places of the consumer `test`, by tenant. */
async function places(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql.query<{ tenant: string; position: number }>(
    { name: "places", text: "SELECT tenant, position::float8 AS position FROM consumer WHERE name = 'test' AND tenant <> ''" },
    [],
  );
  return Object.fromEntries(rows.map(({ tenant, position }) => [tenant, position]));
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe("delivery of events, at least once (DESIGN section 5, listeners and webhooks)", () => {
  it("begins with what comes after it was first known, in order, and goes on where it was after a restart", async () => {
    const { append, serve } = await world();
    const seen: number[] = [];
    const listen = async (step: number): Promise<void> => void seen.push(step);
    await append(1, 5);
    const first = await serve(listen);
    await append(6, 10);
    await expect.poll(() => seen).toEqual(numbers(6, 10));
    await first.close();
    await append(11, 12);
    await serve(listen);
    await append(13, 13);
    await expect.poll(() => seen).toEqual(numbers(6, 13));
  });

  it("a tenant that begins later is delivered from its first event", async () => {
    const { log, append, serve } = await world();
    const seen: number[] = [];
    const first = await serve(async (step) => void seen.push(step));
    await first.close();
    await log.begin("later");
    const agent = await insertAgent(log, "later");
    await append(1, 3, "later", agent.agentId);
    await serve(async (step) => void seen.push(step));
    await expect.poll(() => seen).toEqual([1, 2, 3]);
  });

  it("asks for nothing if there is nothing for it: its place moves on without a lease (issue 12, scale of the loop)", async () => {
    const { sql, log, append, serve, reads } = await world();
    const claims: string[] = [];
    const watching = { ...sql, query: counted(sql, "claim_consumer", claims) };
    await log.begin("other");
    const agent = await insertAgent(log, "other");
    const seen: number[] = [];
    const first = await serve(async (step) => void seen.push(step), { tenant: "acme", kinds: ["ERROR"] }, TIMES, watching);
    await append(1, 3);
    await append(1, 2, "other", agent.agentId);
    await expect.poll(() => places(sql)).toEqual({ acme: 3, other: 2 });
    expect(claims).toEqual([]);
    expect(reads()).toBe(0);
    await first.close();
    // What is for it is found by a look as well, if the server that committed it has died.
    await append(4, 4);
    await serve(async (step) => void seen.push(step), { tenant: "acme" }, TIMES, watching);
    await expect.poll(() => seen).toEqual([4]);
    await expect.poll(() => places(sql)).toEqual({ acme: 4, other: 2 });
    await append(3, 3, "other", agent.agentId);
    await expect.poll(() => places(sql)).toEqual({ acme: 4, other: 3 });
    expect(seen).toEqual([4]);
  });

  it("never passes over what is for it, and reads on to the end if it is far behind", async () => {
    const { sql, append, serve } = await world();
    const seen: number[] = [];
    const first = await serve(async () => {});
    await first.close();
    for (let from = 1; from < 5_000; from += 500) await append(from, from + 499);
    await sql.query({ name: "rare", text: "UPDATE event SET kind = 'ERROR' WHERE position NOT IN (1, 2001, 4000)" }, []);
    await serve(async (step) => void seen.push(step));
    await expect.poll(() => seen).toEqual([1, 2001, 4000]);
    await expect.poll(() => places(sql)).toEqual({ acme: 5_000 });
  });

  it("is found at the first look, however many places are behind logs that do not concern their consumer", async () => {
    const { sql, append } = await world();
    await append(1, 3);
    await sql.query(
      {
        name: "others",
        text: "INSERT INTO tenant_log (tenant, epoch, floor) SELECT 'other' || n, 'x', 1 FROM generate_series(1, 40) n",
      },
      [],
    );
    const consumers = Array.from({ length: 50 }, (_, index) => ({
      name: `webhook ${index}`,
      kinds: ["STEP_COMPLETE"] as const,
      tenant: index === 0 ? "acme" : "nobody",
    }));
    const { wanted, idle } = await new ConsumerOffsets(sql, "here", 30_000).behind(consumers);
    expect(wanted.map(({ name, tenant }) => [name, tenant])).toEqual([["webhook 0", "acme"]]);
    expect(idle).toHaveLength(500);
  });

  it("of a tenant that concerned it not before, it gets what comes from then on", async () => {
    const { sql, log, append, serve } = await world();
    const seen: number[] = [];
    const first = await serve(async () => {}, { tenant: "acme" });
    await log.begin("later");
    const agent = await insertAgent(log, "later");
    await append(1, 3, "later", agent.agentId);
    await expect.poll(() => places(sql)).toMatchObject({ later: 3 });
    await first.close();
    await serve(async (step) => void seen.push(step));
    await append(4, 4, "later", agent.agentId);
    await expect.poll(() => seen).toEqual([4]);
  });

  it("what fails is tried again, and holds later ones back; several at once do not", async () => {
    const { append, serve } = await world();
    const seen: number[] = [];
    let failures = 3;
    await serve(async (step) => {
      if (step === 2 && failures-- > 0) throw new Error("not now");
      seen.push(step);
    });
    await append(1, 4);
    await expect.poll(() => seen).toEqual([1, 2, 3, 4]);

    const wide = await world();
    const wideSeen: number[] = [];
    let isDown = true;
    await wide.serve(
      async (step) => {
        if (step === 1 && isDown) throw new Error("not now");
        wideSeen.push(step);
      },
      { concurrency: 4 },
    );
    await wide.append(1, 20);
    await expect.poll(() => wideSeen.length).toBe(19);
    isDown = false;
    await expect.poll(() => wideSeen.length).toBe(20);
  });

  it("an event that fails holds later ones back neither in its page nor after it", async () => {
    const { append, serve } = await world();
    const seen: number[] = [];
    const server = await serve(
      async (step) => {
        if (step === 1) throw new Error("never");
        seen.push(step);
      },
      { concurrency: 8 },
    );
    await append(1, 10);
    await expect.poll(() => seen.length).toBe(9);
    await append(11, 30);
    await expect.poll(() => seen.length).toBe(29);
    await server.close();
    // What was not delivered comes first when another goes on, and what came after it once more.
    const again: number[] = [];
    await serve(async (step) => void again.push(step), { concurrency: 8 });
    await expect.poll(() => again.length).toBe(30);
    expect(new Set(again)).toEqual(new Set(numbers(1, 30)));
  });

  it("an event that fails holds back nothing that another server commits meanwhile", async () => {
    const { append, serve, sql, reads } = await world();
    const seen: number[] = [];
    const failed = Promise.withResolvers<void>();
    await serve(
      async (step) => {
        if (step === 1) {
          failed.resolve();
          throw new Error("never");
        }
        seen.push(step);
      },
      { concurrency: 8 },
      { ...TIMES, firstRetryMs: 60_000, lastRetryMs: 60_000 },
    );
    await append(1, 1);
    await failed.promise;
    // The server has looked at the log once more, and found nothing.
    await expect.poll(reads).toBeGreaterThan(1);
    const [agent] = await sql.query<{ id: string }>({ name: "a", text: "SELECT id FROM agent" }, []);
    const body = { kind: "STEP_COMPLETE", step: 2, durationMs: 1, stopReason: "end_turn" } as const;
    await new EventLog(sql).append("acme", [{ agentId: agent?.id ?? "", createdBy: "anna", events: [{ at: new Date(), body }] }]);
    await expect.poll(() => seen).toEqual([2]);
  });

  it("as many events as are tried at once may fail, and others go on", async () => {
    const { append, serve } = await world();
    const seen: number[] = [];
    await serve(
      async (step) => {
        if (step <= 4) throw new Error("never");
        seen.push(step);
      },
      { concurrency: 2 },
    );
    await append(1, 10);
    await expect.poll(() => seen.toSorted((a, b) => a - b)).toEqual(numbers(5, 10));
  });

  it("a consumer that hears no signal holds the close up no more", async () => {
    const { append, serve, warnings } = await world();
    const { promise: isCalled, resolve } = Promise.withResolvers<void>();
    // The delivery asks for this time whenever it waits, and the sweep after it has looked.
    let waits = 0;
    const times: ConsumerTimes = {
      ...TIMES,
      get sweepMs() {
        waits += 1;
        if (waits > 100) throw new Error("the server is kept busy");
        return 60_000;
      },
    };
    const deliver = async () => {
      resolve();
      await new Promise<never>(() => {});
    };
    const server = await serve(deliver, {}, times);
    await expect.poll(() => waits).toBe(1);
    await append(1, 1);
    await isCalled;
    await expect.poll(() => waits).toBe(2);
    await append(2, 3);
    await expect.poll(() => waits).toBe(3);
    // What comes while nothing can be begun must not keep the server busy.
    await append(4, 4);
    await immediate();
    expect(waits).toBe(3);
    await server.close();
    expect(warnings).toEqual([]);
  });

  it("what is given up is logged and stands in the agent's log as an ERROR, and the rest goes on", async () => {
    const { append, serve, log, errors } = await world();
    const seen: number[] = [];
    await serve(
      async (step) => {
        if (step === 2) throw new GiveUp("never");
        if (step === 3) throw new Error("not now");
        if (step === 4) throw new Error("not reached", { cause: new Error("connect ECONNREFUSED 10.0.0.7:9") });
        seen.push(step);
      },
      { giveUpMs: 30 },
    );
    await append(1, 5);
    await expect.poll(() => seen).toEqual([1, 5]);
    expect(errors).toHaveLength(3);
    expect(errors[2]).toContain("not reached: connect ECONNREFUSED 10.0.0.7:9");
    const { events } = await log.read(everything("acme"), 0);
    expect(events.filter(({ body }) => body.kind === "ERROR").map(({ body }) => body)).toMatchObject([
      { severity: "ERROR", detail: "delivery_failed", message: expect.stringContaining("could not be delivered to test: never") },
      { severity: "ERROR", detail: "delivery_failed", message: expect.stringContaining("not now") },
      // The cause is the operator's to know.
      {
        severity: "ERROR",
        detail: "delivery_failed",
        message: expect.stringMatching(/could not be delivered to test: not reached$/),
      },
    ]);
  });

  it("one server delivers at a time; when it dies another goes on, and nothing is left out", async () => {
    const { append, serve } = await world();
    const seen: [string, number][] = [];
    let isDead = false;
    const first = await serve(async (step, signal) => {
      // A server that is gone delivers nothing and renews nothing: it hangs until the test ends it.
      if (isDead)
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true }));
      seen.push(["first", step]);
    });
    await append(1, 3);
    await expect.poll(() => seen).toHaveLength(3);
    isDead = true;
    await append(4, 6);
    await serve(async (step) => void seen.push(["second", step]));
    await append(7, 7);
    expect(seen).toHaveLength(3);
    await first.close();
    await expect.poll(() => seen.slice(3)).toEqual(numbers(4, 7).map((step) => ["second", step]));
  });

  it("one that comes back after more than a week in which agents went on begins anew, and says so; after less it goes on", async () => {
    const { append, serve, sql, warnings } = await world();
    const set = (text: string) => sql.query({ name: text.slice(0, 50), text }, []);
    const seen: number[] = [];
    const deliver = async (step: number): Promise<void> => void seen.push(step);
    await (await serve(deliver)).close();
    await append(1, 2);
    // Nothing was said since: a week without servers is no reason to leave anything out.
    await set("UPDATE consumer SET seen_at = now() - interval '6 days' WHERE tenant = ''");
    const still = await serve(deliver);
    await expect.poll(() => seen).toEqual([1, 2]);
    await still.close();

    await append(3, 4);
    await set("UPDATE consumer SET seen_at = now() - interval '30 days' WHERE tenant = ''");
    await serve(deliver);
    await append(5, 5);
    await expect.poll(() => seen).toEqual([1, 2, 5]);
    expect(warnings).toEqual([expect.stringContaining("test was not configured since")]);
  });

  it("what stopped with all servers is delivered however long that was: nothing was said meanwhile", async () => {
    const { append, serve, sql } = await world();
    const set = (text: string) => sql.query({ name: text.slice(0, 50), text }, []);
    await (await serve(async () => {})).close();
    await append(1, 2);
    await set("UPDATE event SET at = now() - interval '30 days'");
    await set("UPDATE consumer SET seen_at = now() - interval '30 days' WHERE tenant = ''");
    const seen: number[] = [];
    await serve(async (step) => void seen.push(step));
    await expect.poll(() => seen).toEqual([1, 2]);
  });

  it("what retention removed before it was delivered is passed over, and said", async () => {
    const { append, serve, sql, warnings } = await world();
    await (await serve(async () => {})).close();
    await append(1, 3);
    await sql.query({ name: "floor", text: "UPDATE tenant_log SET floor = 2" }, []);
    await sql.query({ name: "gone", text: "DELETE FROM event WHERE position <= 2" }, []);
    const seen: number[] = [];
    await serve(async (step) => void seen.push(step));
    await expect.poll(() => seen).toEqual([3]);
    expect(warnings).toEqual([expect.stringContaining("never gets the events of tenant acme after 0 and up to 2")]);
  });

  it("a lease from before the database's clock was set back holds nothing up", async () => {
    const { append, serve, sql } = await world();
    await (await serve(async () => {})).close();
    const lease = "UPDATE consumer SET lease_owner = 'dead', lease_until = now() + interval '1 hour' WHERE tenant = 'acme'";
    await sql.query({ name: "set back", text: lease }, []);
    await append(1, 1);
    const seen: number[] = [];
    await serve(async (step) => void seen.push(step));
    await expect.poll(() => seen).toEqual([1]);
  });

  it("one that is refused holds no other back, however many come after it", async () => {
    const { append, serve } = await world();
    const seen = new Set<number>();
    await serve(
      async (step) => {
        if (step === 1) throw new Error("refused");
        seen.add(step);
      },
      { concurrency: 8 },
      { ...TIMES, lastRetryMs: 60_000, firstRetryMs: 60_000 },
    );
    await append(1, 1);
    for (let first = 2; first < 1_602; first += 200) await append(first, first + 199);
    await expect.poll(() => seen.size).toBe(1_600);
  });

  it("no more are tried at once than the consumer takes, even if all come again", async () => {
    const { append, serve } = await world();
    let now = 0;
    let most = 0;
    let tries = 0;
    await serve(
      async () => {
        now += 1;
        tries += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setImmediate(resolve));
        now -= 1;
        throw new Error("refused");
      },
      { concurrency: 8 },
      { ...TIMES, firstRetryMs: 20 },
    );
    await append(1, 300);
    await expect.poll(() => tries).toBeGreaterThan(900);
    expect(most).toBe(8);
  });
});
