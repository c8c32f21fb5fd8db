import { expect, it, onTestFinished } from "vitest";
import { NO_SKEW, type ClockSkew } from "../../src/db/database-clock.ts";
import { OLD_MEMORY } from "../../src/sweeps/memory.ts";
import { RemovalSweep } from "../../src/sweeps/removal.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { setPolicyTime } from "../support/clock.ts";
import { silentLogger } from "../support/silent-logger.ts";

it("former versions go 30 days after their replacement, deleted entries 30 days after their deletion; present texts stay", async () => {
  const { database, url } = await startTestApp({ template: { memory: {} } });
  const client = connect(url);
  const write = async (path: string, text: string, expectedVersion: number) =>
    client.post({
      query: `mutation { writeMemory(input: { templateId: "assistant", path: "${path}", text: "${text}", expectedVersion: ${expectedVersion} }) { entry { id } } }`,
    });
  for (const [path, text, version] of [
    ["/memories/kept", "one", 0],
    ["/memories/kept", "two", 1],
    ["/memories/gone", "three", 0],
  ] as const)
    await write(path, text, version);
  const { data } = await client.post<{ memory: { nodes: { id: string }[] } }>({
    query: '{ memory(templateId: "assistant") { nodes { id } } }',
  });
  await client.post({
    query: `mutation { deleteMemory(input: { entryId: "${data?.memory.nodes[0]?.id ?? ""}" }) { entry { path } } }`,
  });
  const state: { skew: ClockSkew } = { skew: NO_SKEW };
  const sweep = new RemovalSweep({ sql: database.sql, logger: silentLogger, clockSkew: () => state.skew }, OLD_MEMORY);
  onTestFinished(() => sweep.close());
  const rows = async () => {
    const text = `SELECT (SELECT count(*)::int FROM memory_entry) AS entries, (SELECT count(*)::int FROM memory_version) AS versions`;
    return database.sql.query({ name: "", text }, []);
  };
  await setPolicyTime(database.sql, "statement_timestamp() + interval '29 days'");
  expect(await sweep.tidy()).toBe(0);
  expect(await rows()).toEqual([{ entries: 2, versions: 2 }]);
  await setPolicyTime(database.sql, "statement_timestamp() + interval '31 days'");
  state.skew = { ms: 6_000, isLarge: true };
  expect(await sweep.tidy()).toBe(0);
  state.skew = NO_SKEW;
  expect(await sweep.tidy()).toBe(3);
  expect(await rows()).toEqual([{ entries: 1, versions: 0 }]);
});

it("many old rows go in several statements", async () => {
  const { database } = await startTestApp();
  const text = `INSERT INTO memory_entry (id, tenant, template_id, requester, path, bytes, version, lineage, created_at, updated_at, deleted_at)
    SELECT i::text, 't' || i % 3, 'assistant', 'anna', '/memories/' || i, 0, 2, 'MODEL', now(), now(), now() - interval '31 days' FROM generate_series(1, 2500) i`;
  await database.sql.query({ name: "fill", text }, []);
  const sweep = new RemovalSweep({ sql: database.sql, logger: silentLogger, clockSkew: () => NO_SKEW }, OLD_MEMORY);
  onTestFinished(() => sweep.close());
  expect(await sweep.tidy()).toBe(2_500);
});
