import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ToolOutputs } from "../../src/agent/calls/outputs.ts";
import type { Sql } from "../../src/db/sql.ts";
import { RetentionSweep } from "../../src/sweeps/sweeps.ts";
import { testDatabase } from "../support/database.ts";
import { playedModel } from "../support/models.ts";
import { testServices } from "../support/services.ts";

it("kept outputs are removed although the events of a tenant cannot be (invariant 13)", async () => {
  const { sql } = await testDatabase();
  const folder = await mkdtemp(join(tmpdir(), "triplane-outputs-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const outputs = new ToolOutputs(folder);
  await outputs.keep("old", "the old output");
  const old = new Date("2026-01-01T00:00:00Z");
  await utimes(join(folder, "old.txt"), old, old);
  const failing: Sql = {
    ...sql,
    query: async (statement, values) => {
      if (statement.name === "retention_logs") throw new Error("the statement took too long");
      return sql.query(statement, values);
    },
  };
  const warned = Promise.withResolvers<string>();
  const logger = { tell: () => {}, warn: warned.resolve, error: () => {} };
  const services = { ...testServices(failing, playedModel()), outputs, logger };
  const policy = {
    eventsMs: 3_600_000,
    deltasMs: null,
    outputsMs: 3_600_000,
    toolCallsMs: null,
    messagesMs: null,
    approvalsMs: null,
  };
  const sweep = new RetentionSweep({ ...services, of: () => services }, policy, [], 5);
  onTestFinished(() => sweep.close());
  expect(await warned.promise).toContain("the statement took too long");
  expect(await readdir(folder)).toEqual([]);
});
