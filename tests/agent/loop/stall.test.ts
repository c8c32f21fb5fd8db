import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType, textOf } from "../../support/client.ts";
import { aroundWrites } from "../../support/writes.ts";

const AGENTS = 40;
const STALL_MS = 2_000;

it("a database that stalls under many agents that speak costs none of them its lease or its text (invariant 13)", async () => {
  const text = "a few words of text ".repeat(20);
  let stalledUntil = 0;
  const app = await startTestApp({
    script: { pace: { characters: 4, delayMs: 20 }, replies: [{ when: {}, say: [text] }] },
    overrides: {
      waitingLimits: { events: 100, bytes: 10_000 },
      sql: (sql) =>
        aroundWrites(sql, async (_write, write) => {
          await delay(Math.max(0, stalledUntil - performance.now()));
          return write();
        }),
    },
  });
  const client = connect(app.url);
  const agents = await Promise.all(Array.from({ length: AGENTS }, () => client.createAgent()));
  await Promise.all(agents.map(({ id }) => client.send(id, "speak")));
  await Promise.all(agents.map(({ id }) => client.until(id, "TEXT_CHUNK")));
  stalledUntil = performance.now() + STALL_MS;
  const timelines = await Promise.all(agents.map(({ id }) => client.until(id, "DONE")));
  for (const events of timelines) {
    expect(textOf(events)).toBe(text);
    expect([ofType(events, "AgentResumed"), ofType(events, "ErrorRaised"), ofType(events, "StorageFailure")]).toEqual([
      [],
      [],
      [],
    ]);
  }
});
