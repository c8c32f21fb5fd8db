import { expect, it } from "vitest";
import type { Sql } from "../../../src/db/sql.ts";
import { appWith } from "../../support/mcp-app.ts";
import { askedBy, asks, inputsOf, roundsServer } from "../../support/mcp-asking.ts";
import { ownServer } from "../../support/mcp.ts";
import { callsWith, playedModel, says } from "../../support/models.ts";

it("a form with half a character is asked without it, beside the other calls of its agent", async () => {
  const form = { type: "object", properties: { city: { type: "string", title: "City \ud800", default: "\ud800" } } };
  const asking = await roundsServer(({ inputResponses }) =>
    inputResponses === undefined ? { inputRequests: { one: asks(form) } } : null,
  );
  const other = await roundsServer(() => null);
  const model = playedModel((request) =>
    request.messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true
      ? says("Done.")
      : callsWith(["mcp__own__work", {}], ["mcp__other__work", {}]),
  );
  const { client } = await appWith(
    { own: { url: asking.url, readOnlyTools: ["work"] }, other: { url: other.url, readOnlyTools: ["work"] } },
    ["mcp__own__work", {}],
    {
      model,
      template: { permission: { mode: "auto", allow: ["mcp__own__*", "mcp__other__*"] } },
    },
  );
  const { id, cursor } = await client.createAgent();
  await client.send(id, "go");
  await client.until(id, "PERMISSION_REQUIRED", cursor);
  await client.until(id, "TOOL_END", cursor);
  const [question] = await inputsOf(client, id);
  expect(question).toMatchObject({ subject: { fields: [{ name: "city", title: "City \ufffd", default: null }] } });
  expect((await client.agent(id)).toolCalls.nodes).toMatchObject([
    { name: "mcp__own__work", state: "APPROVAL_REQUIRED" },
    { name: "mcp__other__work", state: "COMPLETED" },
  ]);
});

it("the answer of a person reaches its call although the database failed once", async () => {
  let hasFailed = false;
  const failsOnce = (sql: Sql): Sql => ({
    ...sql,
    query: (statement, values) => {
      if (statement.name !== "read_input_answer" || hasFailed) return sql.query(statement, values);
      hasFailed = true;
      return Promise.reject(new Error("the connection was lost"));
    },
  });
  const { client, id, cursor, question } = await askedBy(
    { own: ownServer("asking.mjs") },
    ["mcp__own__work", { ask: asks().params }],
    { overrides: { sql: failsOnce } },
  );
  await question.answer({ values: { city: "Bonn" } });
  await client.until(id, "DONE", cursor);
  expect(hasFailed).toBe(true);
  expect((await client.agent(id)).toolCalls.nodes[0]?.output).toContain("Bonn");
});
