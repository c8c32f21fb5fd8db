import { expect, it } from "vitest";
import { EventLog } from "../../../src/events/log.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent, permissionOf } from "../../support/held-agent.ts";
import { bodies, everything, readAll } from "../../support/log.ts";
import { calls, playedModel, says } from "../../support/models.ts";
import { testServices } from "../../support/services.ts";
import { ownTool } from "../../support/tools.ts";
import { aroundWrites, goesTo } from "../../support/writes.ts";

it("a call gives its place back if its EXECUTING cannot be committed: nothing runs, and the server goes on (invariant 5)", async () => {
  let runs = 0;
  const tool = ownTool("own", () => {
    runs += 1;
    return { output: "ran", details: null };
  });
  const { sql } = await testDatabase();
  let isRefusing = true;
  const refusing = aroundWrites(sql, async ({ change }, write) => {
    if (isRefusing && change !== null && goesTo("EXECUTING", change)) throw new Error("the database refuses it");
    return write();
  });
  const own = testServices(
    refusing,
    playedModel(
      () => calls("own"),
      () => calls("own"),
      () => says("Done."),
    ),
    [tool],
    { permission: permissionOf({ mode: "auto" }) },
  );
  const services = { ...own, log: new EventLog(refusing) };
  const agent = await heldAgent(services);
  await agent.send("go");
  expect(await (await agent.hold()).run()).toBe("lost");
  expect(services.slots.load).toEqual({ running: 0, waiting: 0 });
  expect(runs).toBe(0);

  isRefusing = false;
  await agent.send("again");
  expect(await (await agent.hold()).run()).toBe("parked");
  expect(runs).toBe(1);
  expect(bodies(await readAll(services.log, everything("one")), "DONE").map(({ reason }) => reason)).toEqual([
    "ERROR",
    "COMPLETED",
  ]);
});
