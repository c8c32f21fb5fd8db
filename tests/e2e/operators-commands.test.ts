import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parseCursor, formatCursor, resolveCursor } from "../../src/events/cursor.ts";
import { EventLog } from "../../src/events/log.ts";
import { testDatabase } from "../support/database.ts";
import { chunk, everything, insertAgent, readAll } from "../support/log.ts";
import { runFile } from "../support/process.ts";

/** A database with events of long ago, and what an operator's commands are told of it. */
async function old() {
  const folder = await mkdtemp(join(tmpdir(), "triplane-operator-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const config = join(folder, "triplane.config.ts");
  await writeFile(
    config,
    `export default {
      models: { scripted: { provider: "scripted", script: { replies: [{ when: {}, say: ["x"] }] } } },
      templates: { assistant: { model: "scripted", systemPrompt: "x" } },
      retention: { eventsDays: 30 },
    };
    // The configuration holds the event loop: a command ends all the same.
    setInterval(() => {}, 60_000);`,
  );
  const { sql, url } = await testDatabase();
  const log = new EventLog(sql);
  const agent = await insertAgent(log, "one");
  const events = Array.from({ length: 7 }, () => ({ ...chunk("x"), at: new Date("2020-01-01T00:00:00Z") }));
  await log.append("one", [{ ...agent, events: [...events, chunk("new")] }]);
  const env = { DATABASE_URL: url, TRIPLANE_CONFIG: config, TRIPLANE_DATA_DIR: folder };
  return { sql, log, env };
}

it("npm run retention says what would go, a line a tenant, and removes nothing", async () => {
  const { log, env } = await old();
  const command = runFile("scripts/retention.ts", [], env);
  expect(await command.exited, command.output()).toBe(0);
  const line = command
    .output()
    .split("\n")
    .find((text) => text.startsWith("{"));
  expect(JSON.parse(line ?? "")).toEqual({ tenant: "one", floor: 0, newFloor: 7, events: 7, deltas: 0 });
  expect(await readAll(log, everything("one"))).toHaveLength(8);
});

it("npm run restored refuses cursors of before, and says so", async () => {
  const { log, env } = await old();
  const before = parseCursor(formatCursor(await log.head("one"), 8));
  const command = runFile("scripts/restored.ts", [], env);
  expect(await command.exited, command.output()).toBe(0);
  expect(command.output()).toContain("the log of tenant one begins epoch");
  expect(before.ok && resolveCursor(before.value, await log.head("one"))).toMatchObject({ refusal: { code: "CURSOR_RESTORED" } });
});

it("npm run restored sets a delivery back that was beyond the end of its log, and leaves others where they are", async () => {
  const { sql, env } = await old();
  const insert = "INSERT INTO consumer (name, tenant, position) VALUES ('beyond', 'one', 20), ('behind', 'one', 3)";
  await sql.query({ name: "consumers", text: insert }, []);
  const command = runFile("scripts/restored.ts", [], env);
  expect(await command.exited, command.output()).toBe(0);
  const places = "SELECT name, position::int AS position FROM consumer ORDER BY name";
  expect(await sql.query({ name: "places", text: places }, [])).toEqual([
    { name: "behind", position: 3 },
    { name: "beyond", position: 8 },
  ]);
});

it("npm run restored on a database without a log does nothing, says so, and ends with 1", async () => {
  const folder = await mkdtemp(join(tmpdir(), "triplane-operator-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const command = runFile("scripts/restored.ts", [], { TRIPLANE_DATA_DIR: folder });
  expect(await command.exited).toBe(1);
  expect(command.output()).toContain("has no log, and nothing was done");
});

it("npm run restored on a folder without a database makes none there", async () => {
  const folder = await mkdtemp(join(tmpdir(), "triplane-empty-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const command = runFile("scripts/restored.ts", [], { TRIPLANE_DATA_DIR: folder });
  expect(await command.exited, command.output()).toBe(1);
  expect(command.output()).toContain("nothing was done");
  expect(await readdir(folder)).toEqual([]);
});

it("the bootstrap tells its program once to end when who started it is gone", async () => {
  const program = runFile("tests/support/orphan.ts");
  expect(await program.says(/signals: \d+/)).toBe("signals: 1");
});
