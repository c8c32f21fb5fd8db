import { expect, it } from "vitest";
import { IdleWatches } from "../../../src/agent/loop/files/idle-watches.ts";
import { rowId } from "../../../src/lib/global-id.ts";
import { startTestApp } from "../../support/app.ts";
import { connect } from "../../support/client.ts";
import { aroundStatements } from "../../support/statements.ts";

it("a watch of a template that is not configured here is looked at less and less, each ten minutes in the end", async () => {
  const { url, services } = await startTestApp();
  const agentId = rowId("Agent", (await connect(url).createAgent()).id);
  const pauses: number[] = [];
  const sql = aroundStatements(services.sql, async ({ name }, run, values) => {
    if (name === "keep_watches") pauses.push(Number(values[2]));
    return run();
  });
  const nowhere = { ...services, sql, of: () => ({ templates: new Map() }), wake: async () => {} };
  const watches = new IdleWatches(nowhere);
  const due = new Date(0).toISOString();
  const wait = { id: "watch", tenant: "local", agentId, callId: null, kind: "WATCH", ref: agentId, process: null, due } as const;
  for (let look = 0; look < 9; look += 1) await watches.look(wait);
  await watches.close();
  const [first = 0, second = 0] = pauses;
  expect(first).toBeLessThanOrEqual(14_000);
  expect(second).toBeGreaterThan(14_000);
  expect(Math.min(...pauses.slice(7, 9))).toBeGreaterThan(7 * 60_000);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(14 * 60_000);
});
