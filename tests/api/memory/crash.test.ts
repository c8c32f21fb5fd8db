import { expect, it } from "vitest";
import { startTestApp } from "../../support/app.ts";
import { callsOf } from "../../support/bash.ts";
import { connect, ofType } from "../../support/client.ts";
import { loseLeases, SHORT_LEASES } from "../../support/lost-leases.ts";
import { create, memory, obedientModel } from "../../support/memory-app.ts";
import { aroundWrites, goesTo } from "../../support/writes.ts";

const PATH = "/memories/log.md";

it.each([
  ["before its change is committed", "before"],
  ["after its change is committed, and before its end is", "after"],
  ["before it hears of the commit", "unheard"],
] as const)("a call whose server dies %s writes once, and has one answer (invariant 5)", async (_when, when) => {
  let changes = 0;
  let hasDied = false;
  const dies = Promise.withResolvers<never>();
  dies.promise.catch(() => {});
  const hangs = async (): Promise<never> => {
    hasDied = true;
    return dies.promise;
  };
  const app = await startTestApp({
    model: obedientModel(),
    template: { permission: { mode: "auto" }, memory: {} },
    expectsErrors: true,
    overrides: {
      leaseTimes: SHORT_LEASES,
      sql: (sql) =>
        aroundWrites(sql, async ({ kinds, change }, write) => {
          if (hasDied) return write();
          const isChange = kinds.includes("MEMORY_CHANGED");
          changes += isChange ? 1 : 0;
          if (isChange && changes === 2 && when === "before") return hangs();
          if (isChange && changes === 2 && when === "unheard") return write().then(hangs);
          const isEnd = change !== null && goesTo("COMPLETED", change) && changes === 2;
          return isEnd && when === "after" ? hangs() : write();
        }),
    },
  });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  const calls = [
    create(PATH, "one\n"),
    memory("insert", { path: PATH, insert_line: 1, insert_text: "two\n" }),
    memory("view", { path: PATH }),
  ];
  await client.send(id, JSON.stringify(calls));
  await expect.poll(() => hasDied, { timeout: 10_000 }).toBe(true);
  await loseLeases(app);
  dies.reject(new Error("the server died here"));
  const events = await client.until(id, "DONE");
  const [, insert, seen] = await callsOf(client, id);
  expect(insert).toMatchObject({ state: "COMPLETED", output: `The file ${PATH} has been edited.`, details: { version: 2 } });
  expect(seen?.output).toMatch(/version 2\.\][^]*\n {5}1\tone\n {5}2\ttwo\n {5}3\t$/);
  expect(ofType(events, "MemoryChanged").map(({ memoryVersion }) => memoryVersion)).toEqual([1, 2]);
  expect(ofType(events, "ToolEnd")).toHaveLength(3);
});
