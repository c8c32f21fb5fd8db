import { expect, it } from "vitest";
import { ModelError } from "../../src/agent/models/model.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { ofType } from "../support/client.ts";
import { says } from "../support/models.ts";
import { first, task, team } from "../support/team.ts";

it.each([
  ["foreground", false],
  ["background", true],
])("the parent of a child whose model failed reads the reason: %s", async (_where, background) => {
  const { client, agent, model, app } = await team({
    lead: [first(task({ background })), first(task({ background })), () => says("I see.")],
    worker: [
      () => {
        throw new ModelError("rejected", "the key was refused");
      },
    ],
  });
  await expect.poll(async () => ofType(await client.events(agent.id), "AgentReturned").length, { timeout: 10_000 }).toBe(1);
  await client.until(agent.id, "DONE");
  const [returned] = ofType(await client.events(agent.id), "AgentReturned");
  expect(returned).toMatchObject({ outcome: "ERROR", answer: expect.stringContaining("the key was refused") });
  const notices = await app.services.sql.query({ name: "", text: "SELECT text FROM notice" }, []);
  expect(JSON.stringify(background ? notices : model.calls.at(-1)?.request.messages)).toContain("the key was refused");
  const [call] = (await client.agent(agent.id)).toolCalls.nodes;
  const reason = background ? null : expect.stringContaining("the key was refused");
  const agentId = rowId("Agent", returned?.childId ?? "");
  expect(call?.details).toMatchObject({ status: background ? "started" : "error", reason, agentId });
  // The id in the details is that of a row: a search takes it.
  const { data } = await client.post({ query: `{ search(text: "${agentId}") { agents { id } } }` });
  expect(data).toEqual({ search: { agents: [{ id: returned?.childId }] } });
});
