import { expect, it } from "vitest";
import { globalId } from "../../../src/lib/global-id.ts";
import { StepGroupsDocument, type StepGroupsQueryVariables } from "../../generated/documents.ts";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp } from "../../support/app.ts";
import { connect } from "../../support/client.ts";

const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;

const STEPS = [
  // agent, step, model, day of March, tokens in, from the cache, out, cost, hours, copy
  [1, 1, "large", 1, 100, 300, 10, 2, 1, null],
  [1, 2, "large", 2, 100, 0, 10, 1, 3, null],
  [1, 3, "local", 2, 50, 0, 5, null, 1, null],
  // It has no answer, and no tokens.
  [1, 4, "local", 2, null, null, null, null, null, null],
  [2, 1, "large", 1, 100, 300, 10, 2, 1, idOf(1)],
  [2, 2, "large", 3, 10, 0, 1, 4, 1, null],
  [9, 1, "secret", 1, 100, 0, 10, 9, 1, null],
] as const;

it("groups of steps have tokens and cost; a model without a price adds to the unpriced calls, and never takes the sum away", async () => {
  const [anna, vera] = [tokenActor("anna", ["user"]), tokenActor("vera", ["viewer"])];
  const app = await startTestApp({ config: { actors: [anna.actor, vera.actor] } });
  const run = (text: string, values: readonly unknown[]) => app.database.sql.query({ name: "", text }, [...values]);
  for (const [index, tenant, creator] of [
    [1, "acme", "anna"],
    [2, "acme", "ben"],
    [9, "other", "zoe"],
  ] as const)
    await run(
      `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
       VALUES ($1, $2, 'assistant', 'm', '/tmp', $3, 'USER', '2026-01-01', '2026-01-01')`,
      [idOf(index), tenant, creator],
    );
  for (const [agent, step, model, day, input, cached, output, cost, hours, copiedFrom] of STEPS)
    await run(
      `INSERT INTO step (agent_id, step, tenant, turn, state, model, stop_reason, input_tokens, cache_read_tokens, output_tokens, cost_usd, started_at, completed_at, copied_from)
       VALUES ($1, $2, $3, 1, 'COMPLETED', $4, 'end', $5, $6, $7, $8, $9::timestamptz, $9::timestamptz + $10::float8 * interval '1 hour', $11)`,
      [
        idOf(agent),
        step,
        agent === 9 ? "other" : "acme",
        model,
        input,
        cached,
        output,
        cost,
        `2026-03-0${day}T12:00:00Z`,
        hours,
        copiedFrom,
      ],
    );
  const groupsOf = async (token: string, variables: StepGroupsQueryVariables = {}) =>
    (await connect(app.url, token).get(StepGroupsDocument, variables)).stepGroups;
  const models = await groupsOf(vera.token);
  expect(models.groups.map(({ model, figures }) => [model, figures])).toEqual([
    [
      "large",
      {
        steps: 3,
        inputTokens: 210,
        outputTokens: 21,
        cacheReadTokens: 300,
        cacheWriteTokens: 0,
        cachedShare: 300 / 510,
        costUsd: 7,
        unpricedCalls: 0,
        durationMs: { count: 3, p50: 3_600_000 },
      },
    ],
    ["local", expect.objectContaining({ steps: 2, costUsd: 0, unpricedCalls: 1, cachedShare: 0 })],
  ]);
  expect(models.total).toMatchObject({ steps: 5, costUsd: 7, unpricedCalls: 1 });
  const days = await groupsOf(vera.token, {
    by: ["AGENT", "REQUESTER"],
    from: "2026-03-01T00:00:00Z",
    to: "2026-03-04T00:00:00Z",
    bucket: { unit: "DAY" },
  });
  expect(
    days.groups.map(({ agentId, requestedBy, series }) => [agentId, requestedBy?.actorId, series.map(({ costUsd }) => costUsd)]),
  ).toEqual([
    [globalId("Agent", idOf(2)), "ben", [0, 0, 4]],
    [globalId("Agent", idOf(1)), "anna", [2, 1, 0]],
  ]);
  expect((await groupsOf(anna.token, { by: [] })).total.costUsd).toBe(3);
  expect((await groupsOf(vera.token, { by: ["STOP_REASON"], filter: { models: ["local"] } })).groups).toMatchObject([
    { stopReason: "end", figures: { steps: 2 } },
  ]);
});
