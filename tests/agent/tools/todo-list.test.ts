import { expect, it } from "vitest";
import { everything, bodies, readAll } from "../../support/log.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent, permissionOf } from "../../support/held-agent.ts";
import { playedModel, says } from "../../support/models.ts";
import { testServices } from "../../support/services.ts";
import { ownTool } from "../../support/tools.ts";

const ITEM = { id: "1", title: "one", status: "pending", assignee: null, notes: null } as const;

it("an empty list takes the place of one that has items: the rows say what TODO_CHANGED says (invariant 3)", async () => {
  const { sql } = await testDatabase();
  const read: number[] = [];
  const tool = ownTool(
    "lists",
    async (_input, { todos }) => {
      await todos.write([ITEM, { ...ITEM, id: "2" }]);
      await todos.write([]);
      read.push((await todos.read()).length);
      await todos.write([ITEM]);
      return { output: "done", details: null };
    },
    false,
  );
  const model = playedModel(
    async function* () {
      yield { type: "tool_use", block: 0, id: "a", name: "lists", arguments: "{}" };
      yield {
        type: "end",
        stopReason: "tool_use",
        usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      };
    },
    () => says("Done."),
  );
  const services = testServices(sql, model, [tool], { permission: permissionOf({ mode: "auto" }) });
  const agent = await heldAgent(services);
  await agent.send("go");
  expect(await (await agent.hold()).run()).toBe("parked");
  expect(read).toEqual([0]);
  const changes = bodies(await readAll(services.log, everything("one")), "TODO_CHANGED");
  expect(changes.map(({ previousTodos, todos }) => [previousTodos.length, todos.length])).toEqual([
    [0, 2],
    [2, 0],
    [0, 1],
  ]);
});
