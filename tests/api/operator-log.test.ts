import { randomUUID } from "node:crypto";
import { Registry } from "prom-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { openPools } from "../../src/db/connections/pool.ts";
import { readMigrations } from "../../src/db/migrate.ts";
import { observedBy } from "../../src/db/observer.ts";
import { plannedForValues } from "../../src/db/sql.ts";
import { Meters } from "../../src/telemetry/meters.ts";
import { AllowAlwaysDocument, RevokeAllowRuleDocument } from "../generated/documents.ts";
import type { LogEvent, LogFields, Logger } from "../../src/telemetry/log.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { administer, emptyDatabaseUrl } from "../support/database.ts";
import { loseLeases } from "../support/lost-leases.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { ask, office } from "../support/office.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { ownTool } from "../support/tools.ts";

type Line = { readonly event: LogEvent; readonly message: string; readonly fields: LogFields; readonly cause: unknown };

/** A logger, and what an operator was told by it. */
function told() {
  const lines: Line[] = [];
  const logger: Logger = {
    ...silentLogger,
    tell: (event, message, fields = {}, cause) => void lines.push({ event, message, fields, cause }),
  };
  return { logger, lines, of: (event: LogEvent) => lines.filter((line) => line.event === event) };
}

describe("an operator is told", () => {
  it("where own code threw: of a tool, a hook round it and a hook before it; the model reads the message alone", async () => {
    const { logger, of } = told();
    const broken = ownTool("broken", () => {
      throw new Error("out of tea");
    });
    const fine = ownTool("fine", () => ({ output: "fine", details: null }));
    const app = await startTestApp({
      model: playedModel(
        () => callsWith(["broken", {}]),
        () => callsWith(["fine", {}]),
        () => says("Done."),
      ),
      config: { tools: [broken, fine] },
      template: {
        permission: { mode: "auto" },
        hooks: {
          postToolUse: [
            ({ name }) => {
              if (name === "fine") throw new Error("hook bug");
            },
          ],
        },
      },
      overrides: { logger },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const lines = of("own_code_failed");
    expect(lines.map(({ cause }) => (cause as Error).message)).toEqual(["out of tea", "hook bug"]);
    for (const { message, fields, cause } of lines) {
      expect(message).toMatch(/^(templates\.\S+\.hooks\.\S+, for )?the call \S+ of (broken|fine),? threw$/);
      expect(fields).toMatchObject({ tenant: "local", agent: expect.any(String) });
      expect((cause as Error).stack).toContain("operator-log.test.ts");
    }
    const [call] = (await client.agent(agent.id)).toolCalls.nodes;
    expect(call?.output).toContain("out of tea");
    expect(call?.output).not.toContain("operator-log.test.ts");
  });

  it("where a mode of one's own or a model threw", async () => {
    const { logger, of } = told();
    async function* throws(): AsyncGenerator<never> {
      yield await Promise.reject(new TypeError("adapter bug"));
    }
    const app = await startTestApp({
      model: playedModel(() => callsWith(["fine", {}]), throws),
      config: {
        tools: [ownTool("fine", () => ({ output: "fine", details: null }))],
        permissionModes: {
          odd: () => {
            throw new Error("mode bug");
          },
        },
      },
      template: { permission: { mode: "odd" }, modelRetries: 0 },
      overrides: { logger },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const lines = of("own_code_failed");
    expect(lines.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^the mode odd, for the call \S+ of fine, threw$/),
      "the model test threw",
    ]);
    expect(lines.map(({ cause }) => (cause as Error).stack)).toEqual([
      expect.stringMatching(/mode bug[^]*operator-log\.test\.ts/),
      expect.stringMatching(/adapter bug[^]*operator-log\.test\.ts/),
    ]);
  });

  it("of a database that was migrated, and of statements that are slow", async () => {
    const { logger, of } = told();
    const meters = new Meters(new Registry());
    const url = await emptyDatabaseUrl();
    const next = Array.from({ length: 10 }, (_, index) => ({
      name: `9999010100000${index}_next`,
      sql: `-- Servers of the version before may run beside it.\nSELECT ${index}`,
    }));
    const migrations = [...(await readMigrations()), ...next];
    const database = await openDatabase({ kind: "postgres", url, connections: 1 }, observedBy(logger, meters), migrations);
    onTestFinished(() => database.close());
    expect(of("migrated")).toMatchObject([
      { message: expect.stringMatching(/^the database was migrated: .*, and \d+ before them$/) },
    ]);
    await database.sql.query({ name: "sleeps", text: "SELECT pg_sleep(1.1)" }, []);
    await expect(database.reads.query({ name: "wrong", text: "SELECT nothing" }, [])).rejects.toThrow();
    expect(of("slow_statement")).toMatchObject([{ fields: { statement: "sleeps", reason: "work" } }]);
    const full = { name: "full", text: "DO $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$" };
    for (let times = 0; times < 3; times += 1) await expect(database.sql.query(full, [])).rejects.toThrow();
    expect(of("no_room")).toMatchObject([
      {
        message: expect.stringContaining("its disk is full: make room there"),
        fields: { reason: "SQLSTATE 53100", statement: "full" },
      },
    ]);
    await database.reads.query(plannedForValues("planned", "SELECT pg_sleep(1.1)"), []);
    expect(of("slow_statement").at(-1)).toMatchObject({ fields: { statement: "planned", reason: "reads" } });
  });

  it("of a PostgreSQL that takes no more connections, whatever they are for", async () => {
    const { logger, of } = told();
    const url = new URL(await emptyDatabaseUrl());
    const role = `crowded_${randomUUID().replaceAll("-", "")}`;
    await administer(`CREATE ROLE ${role} LOGIN PASSWORD 'crowded' CONNECTION LIMIT 0`);
    onTestFinished(() => administer(`DROP ROLE ${role}`));
    Object.assign(url, { username: role, password: "crowded" });
    for (const purpose of ["commits", "work", "leases", "reads"] as const) {
      const observer = observedBy(logger, new Meters(new Registry()));
      const pools = openPools({ url: url.href, connections: 1, version: "1" }, observer);
      await expect(pools[purpose].query({ name: "nothing", text: "SELECT" }, [])).rejects.toThrow();
      await pools.end();
    }
    const line = { message: expect.stringContaining("raise max_connections"), fields: { reason: "SQLSTATE 53300" } };
    expect(of("no_room")).toMatchObject([line, line, line, line]);
  });

  it("of statements that failed, and of none that are meant to", async () => {
    const registry = new Registry();
    const { statementRan } = observedBy(silentLogger, new Meters(registry));
    const failed = async (): Promise<number | undefined> =>
      (await registry.getSingleMetric("triplane_statement_errors_total")?.get())?.values.find(
        ({ labels }) => labels["pool"] === "commits",
      )?.value;
    statementRan("commits", "append_events", 1, { error: Object.assign(new Error("fenced"), { code: "TP001" }) });
    expect(await failed()).toBe(0);
    statementRan("commits", "append_events", 1, { error: Object.assign(new Error("wrong"), { code: "42601" }) });
    expect(await failed()).toBe(1);
  });

  it("of a turn that ended with an error, and of an agent that was taken over; never what was said", async () => {
    const { logger, of, lines } = told();
    async function* fails(): AsyncGenerator<never> {
      yield await Promise.reject(new Error("the provider said: your secret text"));
    }
    async function* hangs(): AsyncGenerator<never> {
      yield await new Promise<never>(() => {});
    }
    const app = await startTestApp({
      model: playedModel(fails, hangs, () => says("Hello.")),
      overrides: { logger, leaseTimes: { ttlMs: 1_000, renewMs: 200, startMs: 700 } },
      expectsErrors: true,
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    expect(ofType(await client.turn(agent.id, "secret text"), "Done")).toMatchObject([{ reason: "ERROR" }]);
    expect(of("turn_failed")).toMatchObject([{ fields: { tenant: "local", reason: expect.stringContaining("MODEL") } }]);
    const { cursor } = await client.agent(agent.id);
    await client.send(agent.id, "secret text");
    await client.until(agent.id, "BREAKPOINT_CHANGED", cursor);
    await loseLeases(app);
    await client.until(agent.id, "AGENT_RESUMED", cursor);
    expect(of("takeover")).toMatchObject([
      { message: "an agent was taken over after its server broke off", fields: { reason: "CRASH" } },
    ]);
    expect(JSON.stringify(lines)).not.toContain("secret text");
  });

  it("of rules that people store and revoke, by whom", async () => {
    const { logger, of } = told();
    const { as } = await office({}, { overrides: { logger } });
    const { approvalId } = await ask(as("anna"), "write notes/a.txt");
    const { allowAlways } = await as("paul").get(AllowAlwaysDocument, { input: { approvalId, rule: null } });
    const { id = "", rule = "" } = allowAlways.allowRule ?? {};
    await as("paul").get(RevokeAllowRuleDocument, { input: { allowRuleId: id } });
    expect(of("rule_stored")).toMatchObject([{ fields: { tenant: "acme", rule, actor: "paul" } }]);
    expect(of("rule_revoked")).toMatchObject([{ fields: { tenant: "acme", rule, actor: "paul" } }]);
  });
});
