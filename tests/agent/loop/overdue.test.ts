import { expect, it } from "vitest";
import { endOverdue } from "../../../src/agent/loop/overdue.ts";
import { setPolicyTime } from "../../support/clock.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent, permissionOf } from "../../support/held-agent.ts";
import { callsWith, playedModel, says } from "../../support/models.ts";
import { ownTool } from "../../support/tools.ts";
import { testServices } from "../../support/services.ts";

it("nothing of people's expires on a machine whose clock is not the database's: one of the two is wrong", async () => {
  const { sql } = await testDatabase();
  const model = playedModel(
    () => callsWith(["deploy", {}]),
    () => says("Done."),
  );
  const deploy = ownTool("deploy", () => ({ output: "done", details: null }), false);
  const services = testServices(sql, model, [deploy], {
    permission: permissionOf({ mode: "approval" }),
    approvalExpiresMs: 60 * 60 * 1_000,
  });
  const agent = await heldAgent(services);
  await agent.send("go");
  expect(await (await agent.hold()).run()).toBe("parked");
  await setPolicyTime(sql, "statement_timestamp() + interval '2 hours'");
  const states = (): Promise<unknown[]> => sql.query({ name: "states", text: "SELECT state::text FROM approval" }, []);
  const server = { ...services, of: () => services };
  const woken: string[] = [];
  const wake = async ({ agentId }: { readonly agentId: string }): Promise<void> => void woken.push(agentId);
  for (const ms of [6_000, -6_000]) await endOverdue({ ...server, clockSkew: () => ({ ms, isLarge: true }) }, "RUN_OUT", wake);
  expect([await states(), woken]).toEqual([[{ state: "PENDING" }], []]);
  await endOverdue(server, "RUN_OUT", wake);
  expect([await states(), woken]).toEqual([[{ state: "EXPIRED" }], [agent.agentId]]);
});
