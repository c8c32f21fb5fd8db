import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ModelError, type Model, type ModelErrorKind, type ModelEvent, type TokenPrice } from "../../src/agent/models/model.ts";
import {
  AgentDocument,
  StepGroupsDocument,
  StepRequestsDocument,
  StepsDocument,
  TurnGroupsDocument,
  TurnsDocument,
} from "../generated/documents.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";
import { foldAll } from "../support/audit.ts";
import { connect, ofType, type PageEvent, type TestClient } from "../support/client.ts";
import { playedModel } from "../support/models.ts";

const PRICE: TokenPrice = { input: 2, output: 10, cacheRead: 0.5, cacheWrite: 3 };

/** An answer with calls of a tool that reads, or without. */
async function* answers(tokens: number, calls: number): AsyncGenerator<ModelEvent> {
  for (let block = 0; block < calls; block += 1)
    yield { type: "tool_use", block, id: `call-${block}`, name: "fs_read", arguments: '{"path":"missing.txt"}' };
  if (calls === 0) {
    yield { type: "text_start", block: 0 };
    yield { type: "text_delta", block: 0, text: "Done." };
  }
  const usage = { inputTokens: tokens, outputTokens: tokens + 1, cacheReadTokens: tokens + 2, cacheWriteTokens: tokens + 3 };
  yield { type: "end", stopReason: calls === 0 ? "end_turn" : "tool_use", usage };
}

async function office(model: Model, template: object = {}) {
  const app = await startTestApp({ model, config: NEIGHBOURS, template: { selfApproval: true, ...template } });
  return { app, as: (name: string): TestClient => connect(app.url, `${name}-token`) };
}

/** A turn as a plain count over the log gives it. */
type Counted = { steps: number; calls: number; input: number; output: number; cost: number; unpriced: number; reason: string };

function countedTurns(events: readonly PageEvent[]): readonly Counted[] {
  const turns: Counted[] = [];
  let turn: Counted = { steps: 0, calls: 0, input: 0, output: 0, cost: 0, unpriced: 0, reason: "" };
  const anew = { ...turn };
  for (const event of events) {
    if (event.__typename === "TokensUsed") {
      turn.steps += 1;
      turn.input += event.inputTokens;
      turn.output += event.outputTokens;
      turn.cost += event.costUsd ?? 0;
      turn.unpriced += event.costUsd === null ? 1 : 0;
    } else if (event.__typename === "ToolEnd") turn.calls += 1;
    else if (event.__typename === "Done") {
      turns.push({ ...turn, reason: event.reason });
      turn = { ...anew };
    }
  }
  return turns;
}

describe("steps and turns", () => {
  it("are equal to a plain count over the log of generated runs, before and after a fold", { timeout: 120_000 }, async () => {
    const reply = fc.record({ tokens: fc.integer({ min: 1, max: 5_000 }), calls: fc.integer({ min: 0, max: 2 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(reply, { minLength: 3, maxLength: 8 }), fc.boolean(), async (replies, isPriced) => {
        const played = replies.map(
          ({ tokens, calls }) =>
            () =>
              answers(tokens, calls),
        );
        const { app, as } = await office({ ...playedModel(...played, () => answers(7, 0)), price: isPriced ? PRICE : null });
        const anna = as("anna");
        const agents = [(await anna.createAgent()).id, (await anna.createAgent()).id];
        for (const [index, agent] of [...agents, ...agents].entries()) {
          await anna.turn(agent, "go");
          if (index === 1) await foldAll(app.database.sql);
        }
        for (const agentId of agents) {
          const wanted = countedTurns(await anna.events(agentId));
          const { turns } = await anna.get(TurnsDocument, {
            filter: { agentIds: [agentId] },
            orderBy: { field: "STARTED_AT", direction: "ASC" },
          });
          const found = turns.nodes.map((turn): Counted => ({
            steps: turn.steps,
            calls: turn.calls,
            input: turn.inputTokens,
            output: turn.outputTokens,
            cost: turn.costUsd,
            unpriced: turn.unpricedSteps,
            reason: turn.reason ?? "",
          }));
          expect(found.map(rounded)).toEqual(wanted.map(rounded));
          const { steps } = await anna.get(StepsDocument, { filter: { agentIds: [agentId], isUnpriced: !isPriced } });
          expect(steps.totalCount).toBe(wanted.reduce((sum, turn) => sum + turn.steps, 0));
          const usage = (await anna.get(AgentDocument, { id: agentId })).agent?.usage;
          expect(turns.nodes.reduce((sum, turn) => sum + turn.inputTokens, 0)).toBe(usage?.inputTokens);
          expect(steps.nodes.every(({ durationMs, cachedShare }) => durationMs !== null && cachedShare !== null)).toBe(true);
        }
      }),
      { numRuns: 5 },
    );
  });

  it("are shown to people for their own agents, to readers of the tenant for all, and to nobody of another tenant", async () => {
    const { as } = await office({ ...playedModel(() => answers(3, 0)), price: PRICE });
    const { id: agentId } = await as("anna").createAgent();
    await as("anna").turn(agentId, "go");
    const seen = async (who: string, filter: object) => {
      const steps = await as(who).ask(StepsDocument, { filter });
      const turns = await as(who).ask(TurnsDocument, { filter });
      const [error] = [...(steps.errors ?? []), ...(turns.errors ?? [])];
      return error?.extensions?.["code"] ?? [steps.data?.steps.totalCount, turns.data?.turns.totalCount];
    };
    for (const [who, all] of [
      ["anna", [1, 1]],
      ["vera", [1, 1]],
      ["ben", [0, 0]],
      ["zoe", [0, 0]],
    ] as const) {
      expect(await seen(who, {}), who).toEqual(all);
      expect(await seen(who, { requestedBy: ["anna"] }), who).toEqual(all);
      expect(await seen(who, { agentIds: [agentId] }), who).toEqual(all);
      expect(await seen(who, { rootAgentIds: [agentId] }), who).toEqual(all);
    }
    expect(await seen("anna", { agentIds: ["nonsense"] })).toEqual([0, 0]);
    expect(await seen("anna", { agentIds: [] })).toEqual([0, 0]);
    const { steps } = await as("vera").get(StepRequestsDocument, { agentId });
    expect(steps.nodes).toEqual([{ step: 1, context: { hash: expect.any(String) as string } }]);
    const refused = await as("anna").ask(StepRequestsDocument, { agentId });
    expect(refused.errors).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
  });

  it("say how long a turn waited for people, and who sent its messages", async () => {
    const model = playedModel(
      () => answers(1, 2),
      () => answers(1, 0),
    );
    const { as } = await office(model, { permission: { requireApprovalTools: ["fs_read"] } });
    const { id: agentId } = await as("anna").createAgent();
    await as("anna").send(agentId, "go");
    const asked = ofType(await as("anna").until(agentId, "PERMISSION_REQUIRED"), "PermissionRequired");
    const open = (await as("anna").get(TurnsDocument, { filter: { isOpen: true } })).turns.nodes;
    expect(open).toMatchObject([{ agentId, waitingMs: 0, endedAt: null, durationMs: null, reason: null, steps: 1, calls: 2 }]);
    const rest = await as("anna").until(agentId, "PERMISSION_REQUIRED", asked.at(-1)?.cursor);
    const requests = [...asked, ...ofType(rest, "PermissionRequired")].map(({ request }) => request);
    expect(requests).toHaveLength(2);
    for (const { approvalId, inputHash } of requests)
      expect((await as("paul").decide({ approvalId, decision: "ALLOW", inputHash })).userErrors).toEqual([]);
    await as("anna").until(agentId, "DONE");
    const [turn] = (await as("anna").get(TurnsDocument, { filter: { isOpen: false } })).turns.nodes;
    expect(turn).toMatchObject({
      reason: "COMPLETED",
      steps: 2,
      unpricedSteps: 2,
      costUsd: 0,
      requesters: [{ actorId: "anna" }],
    });
    expect(turn?.waitingMs).toBeGreaterThan(0);
    expect(turn?.waitingMs).toBeLessThanOrEqual(turn?.durationMs ?? 0);
  });

  it("have the kind of the failure of a model call, by which they are filtered and grouped", async () => {
    const failing = (kind: ModelErrorKind) =>
      async function* (): AsyncGenerator<ModelEvent> {
        yield* [];
        throw new ModelError(kind, "no answer");
      };
    const model = playedModel(failing("rejected"), failing("overloaded"), () => answers(1, 0));
    const { app, as } = await office(model, { modelRetries: 0 });
    const anna = as("anna");
    const { id: agentId } = await anna.createAgent();
    for (const text of ["one", "two", "three"]) await anna.turn(agentId, text);
    for (const isFolded of [false, true]) {
      if (isFolded) await foldAll(app.database.sql);
      const { steps } = await anna.get(StepsDocument, { orderBy: { field: "STARTED_AT", direction: "ASC" } });
      expect(steps.nodes.map(({ state, errorType }) => [state, errorType])).toEqual([
        ["ABORTED", "REJECTED"],
        ["ABORTED", "OVERLOADED"],
        ["COMPLETED", null],
      ]);
      const { turns } = await anna.get(TurnsDocument, { filter: { errorTypes: ["OVERLOADED", "SILENT"] } });
      expect(turns.nodes.map(({ turn, reason, errorType }) => [turn, reason, errorType])).toEqual([[2, "ERROR", "OVERLOADED"]]);
      const { stepGroups } = await anna.get(StepGroupsDocument, { by: ["ERROR_TYPE"], filter: { states: ["ABORTED"] } });
      expect(stepGroups.groups.map(({ errorType, figures }) => [errorType, figures.steps])).toEqual([
        ["OVERLOADED", 1],
        ["REJECTED", 1],
      ]);
      const { turnGroups } = await anna.get(TurnGroupsDocument, { by: ["ERROR_TYPE", "REASON"] });
      expect(turnGroups.groups.map(({ errorType, reason, figures }) => [errorType, reason, figures.turns])).toEqual([
        [null, "COMPLETED", 1],
        ["OVERLOADED", "ERROR", 1],
        ["REJECTED", "ERROR", 1],
      ]);
    }
  });

  it("are paged in each order, each row once, also while turns begin and end", async () => {
    const { as } = await office({ ...playedModel(...[5, 1, 9, 3].map((tokens) => () => answers(tokens, 0))), price: PRICE });
    const { id: agentId } = await as("anna").createAgent();
    for (let turn = 0; turn < 4; turn += 1) await as("anna").turn(agentId, "go");
    for (const field of ["COST", "DURATION", "STARTED_AT"] as const) {
      const orderBy = { field, direction: "DESC" } as const;
      const found: number[] = [];
      let after: string | null = null;
      do {
        const { turns }: { turns: { nodes: { turn: number }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } } =
          await as("anna").get(TurnsDocument, { orderBy, first: 1, after });
        found.push(...turns.nodes.map(({ turn }) => turn));
        after = turns.pageInfo.hasNextPage ? turns.pageInfo.endCursor : null;
        if (field === "STARTED_AT" && found.length === 1) await as("anna").turn(agentId, "later");
      } while (after !== null);
      if (field === "COST") expect(found).toEqual([3, 1, 4, 2]);
      expect(found.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4]);
    }
    const { turns } = await as("anna").get(TurnsDocument, { first: 1 });
    const wrong = await as("anna").ask(StepsDocument, { after: turns.pageInfo.endCursor });
    expect(wrong.errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
    expect((await as("anna").ask(StepsDocument, { first: 0 })).errors).toMatchObject([
      { extensions: { code: "BAD_USER_INPUT" } },
    ]);
    const far = { filter: { started: { from: "9999-01-01T00:00:00Z" } } };
    expect((await as("anna").get(StepsDocument, far)).steps).toMatchObject({ nodes: [], totalCount: 0 });
  });
});

function rounded(turn: Counted): Counted {
  return { ...turn, cost: Math.round(turn.cost * 1e12) / 1e12 };
}
