import { describe, expect, it } from "vitest";
import type { ModelEvent } from "../../../src/agent/models/model.ts";
import { budgetOffice, PRICE, spends } from "../../support/budgets.ts";
import { RetryTurnDocument } from "../../generated/documents.ts";
import { setPolicyTime } from "../../support/clock.ts";
import { ofType } from "../../support/client.ts";
import { playedModel } from "../../support/models.ts";

const reasonOf = (events: Parameters<typeof ofType>[0]) => ofType(events, "Done").map(({ reason }) => reason);

describe("an agent with a budget", () => {
  it("works as long as its steps fit, is warned once, and then its turn ends with a reason of its own", async () => {
    const { as, mutate, spending } = await budgetOffice();
    const anna = as("anna");
    const { id: agentId } = await anna.createAgent();
    expect(await mutate("ada", "setBudget", { per: "AGENT", agentId, usd: 0.35, action: "STOP" })).toEqual([]);
    for (let turn = 1; turn <= 3; turn += 1) {
      expect(reasonOf(await anna.turn(agentId, "go"))).toEqual(["COMPLETED"]);
      expect(await spending()).toEqual({ spent: turn * 100_000, held: 0, tokens: turn * 1_100 });
    }
    const last = await anna.turn(agentId, "go");
    expect(reasonOf(last)).toEqual(["BUDGET"]);
    expect(ofType(last, "BudgetStopped")).toMatchObject([
      {
        spentUsd: 0.3,
        limitUsd: 0.35,
        spentTokens: 3_300,
        limitTokens: null,
        budgetPer: "AGENT",
        isPriced: true,
        closedApprovalId: null,
      },
    ]);
    expect(ofType(await anna.events(agentId), "BudgetWarned")).toMatchObject([{ spentUsd: 0.2, limitUsd: 0.35 }]);
    expect(await spending()).toMatchObject({ held: 0 });
    expect(await mutate("ada", "setBudget", { per: "AGENT", agentId, usd: 9, action: "STOP" })).toEqual([]);
    expect(reasonOf(await anna.turn(agentId, "go"))).toEqual(["COMPLETED"]);
    expect(await spending()).toMatchObject({ spent: 400_000 });
  });

  it("answers the messages of a stopped turn once its budget has room, by retryTurn", async () => {
    const { as, mutate } = await budgetOffice();
    const anna = as("anna");
    const { id: agentId } = await anna.createAgent();
    expect(await mutate("ada", "setBudget", { per: "AGENT", agentId, usd: 0.15, action: "STOP" })).toEqual([]);
    await anna.turn(agentId, "go");
    const stopped = await anna.turn(agentId, "go on");
    expect(reasonOf(stopped)).toEqual(["BUDGET"]);
    expect(await mutate("ada", "setBudget", { per: "AGENT", agentId, usd: 9, action: "STOP" })).toEqual([]);
    const { cursor, userErrors } = (await anna.get(RetryTurnDocument, { input: { agentId, idempotencyKey: null } })).retryTurn;
    expect(userErrors).toEqual([]);
    const done = ofType(await anna.until(agentId, "DONE", cursor), "Done");
    expect(done).toMatchObject([{ reason: "COMPLETED", messageIds: ofType(stopped, "Done")[0]?.messageIds }]);
  });

  it("goes on where it is only warned", async () => {
    const { as, spending } = await budgetOffice({ template: { budgets: [{ per: "AGENT", usd: 0.15, then: "warn" }] } });
    const anna = as("anna");
    const { id } = await anna.createAgent();
    for (let turn = 0; turn < 3; turn += 1) expect(reasonOf(await anna.turn(id, "go"))).toEqual(["COMPLETED"]);
    expect(ofType(await anna.events(id), "BudgetWarned")).toHaveLength(1);
    expect(await spending()).toMatchObject({ spent: 300_000, held: 0 });
  });

  it("counts only tokens of a model without a price, and says so", async () => {
    const model = playedModel(spends);
    const { as, spending } = await budgetOffice({
      model,
      template: {
        budgets: [
          { per: "AGENT", usd: 0.01 },
          { per: "TURN", tokens: 900, then: "stop" },
        ],
      },
    });
    const anna = as("anna");
    const { id } = await anna.createAgent();
    const first = await anna.turn(id, "go");
    expect(ofType(first, "BudgetWarned")).toMatchObject([{ isPriced: false, limitUsd: 0.01, spentUsd: 0 }]);
    expect(await spending()).toMatchObject({ spent: 0, tokens: 2_200 });
    expect(reasonOf(await anna.turn(id, "go"))).toEqual(["BUDGET"]);
  });

  it("gives its turns budgets of their own, and shares that of its tenant", async () => {
    const { as, mutate, spending } = await budgetOffice({
      template: { budgets: [{ per: "TURN", usd: 0.13, then: "stop" }] },
      config: { budgets: [{ per: "TENANT", usd: 0.35, then: "stop" }] },
    });
    expect(await mutate("ada", "setBudget", { per: "REQUESTER", requesterId: "anna", usd: 1 })).toEqual([]);
    const ids = [await as("anna").createAgent(), await as("ben").createAgent()].map(({ id }) => id);
    expect(reasonOf(await as("anna").turn(ids[0] ?? "", "go"))).toEqual(["COMPLETED"]);
    expect(reasonOf(await as("anna").turn(ids[0] ?? "", "go"))).toEqual(["COMPLETED"]);
    expect(reasonOf(await as("ben").turn(ids[1] ?? "", "go"))).toEqual(["COMPLETED"]);
    const stopped = await as("ben").turn(ids[1] ?? "", "go");
    expect(ofType(stopped, "BudgetStopped")).toMatchObject([{ budgetPer: "TENANT", spentUsd: 0.3 }]);
    // Three turns, the tenant, and the turns that anna asked for.
    expect(await spending()).toMatchObject({ spent: 300_000 + 300_000 + 200_000, held: 0 });
  });

  it("bounds the first turns of a person whom nobody knew before, although they run at the same time", async () => {
    const { as, spending, app } = await budgetOffice({
      template: { budgets: [{ per: "REQUESTER", usd: 0.25, then: "stop" }] },
    });
    const anna = as("anna");
    const ids = await Promise.all(Array.from({ length: 8 }, async () => (await anna.createAgent()).id));
    const ends = await Promise.all(ids.map(async (id) => reasonOf(await anna.turn(id, "go"))));
    const { spent, held } = await spending();
    const [calls] = await app.database.sql.query<{ made: number }, []>(
      { name: "calls_made", text: "SELECT count(*)::int AS made FROM step" },
      [],
    );
    expect(spent).toBe((calls?.made ?? 0) * 100_000);
    expect(held).toBe(0);
    expect(ends.flat().filter((reason) => reason === "BUDGET").length).toBe(8 - (calls?.made ?? 0));
    // The overrun is a step of each agent at most: no agent makes another one.
    for (const id of ids) expect(reasonOf(await anna.turn(id, "go on"))).toEqual(["BUDGET"]);
    expect(await spending()).toMatchObject({ spent, held: 0 });
  });

  it("makes no call before its hold is stored, and another tenant's budgets do not concern it", async () => {
    const model = { ...playedModel(spends), price: PRICE };
    const { as, app } = await budgetOffice({ model, template: { budgets: [{ per: "AGENT", usd: 5 }] } });
    const { id } = await as("anna").createAgent();
    const held: number[] = [];
    const { stream } = model;
    const slow: typeof stream = async function* slow(request, signal, heard) {
      const [row] = await app.database.sql.query<{ held: number }, []>(
        { name: "held_now", text: "SELECT held_millionths::float8 AS held FROM budget_period" },
        [],
      );
      held.push(row?.held ?? 0);
      yield* stream(request, signal, heard);
    };
    model.stream = slow;
    await as("anna").turn(id, "go");
    expect(held).toEqual([expect.any(Number)]);
    expect(held[0]).toBeGreaterThan(0);
  });

  it("is charged an estimate for a call that is interrupted before its provider has counted anything", async () => {
    const called = Promise.withResolvers<void>();
    async function* hangs(): AsyncGenerator<ModelEvent> {
      called.resolve();
      await new Promise<never>(() => {});
      yield { type: "text_start", block: 0 };
    }
    const { app, as, mutate, spending } = await budgetOffice({
      model: { ...playedModel(spends, hangs), price: PRICE },
      template: { budgets: [{ per: "AGENT", usd: 5 }] },
    });
    const { id: agentId } = await as("anna").createAgent();
    await as("anna").turn(agentId, "go");
    await as("anna").send(agentId, "go on");
    await called.promise;
    const cursor = (await as("anna").events(agentId)).at(-1)?.cursor ?? "0";
    expect(await mutate("anna", "interruptAgent", { agentId })).toEqual([]);
    await as("anna").until(agentId, "DONE", cursor);
    const { spent, held } = await spending();
    expect(held).toBe(0);
    expect(spent).toBeGreaterThan(200_000);
    const text = "SELECT estimated_millionths::float8 AS estimated FROM budget_period";
    const [period] = await app.database.sql.query<{ estimated: number }, []>({ name: "", text }, []);
    expect(period?.estimated).toBe(spent - 100_000);
  });
});

describe("a question about a budget", () => {
  async function asked(template: object = {}) {
    const office = await budgetOffice({
      template: { budgets: [{ per: "AGENT", usd: 0.15, window: "day", then: "ask" }], ...template },
    });
    const { as } = office;
    const { id } = await as("anna").createAgent();
    expect(reasonOf(await as("anna").turn(id, "go"))).toEqual(["COMPLETED"]);
    await as("anna").send(id, "go on");
    const events = await as("anna").until(id, "PERMISSION_REQUIRED");
    const [request] = ofType(events, "PermissionRequired").map((event) => event.request);
    if (request === undefined) throw new Error("nobody is asked");
    expect(ofType(events, "BudgetAsked")).toMatchObject([{ approvalId: request.approvalId, spentUsd: 0.1, limitUsd: 0.15 }]);
    const { approvalId, inputHash } = request;
    const decide = async (who: string, more: object) =>
      (await as(who).decide({ approvalId, inputHash, decision: "ALLOW", ...more })).userErrors.map(({ code, field }) => [
        code,
        field?.join("."),
      ]);
    const cursor = events.at(-1)?.cursor ?? "0";
    return { ...office, id, request, decide, cursor };
  }

  const SUBJECT = `query($id: ID!) { node(id: $id) { ... on Approval { kind reason subject { __typename ... on BudgetQuestion { per spentUsd limitUsd averageStep { usd tokens } nextStep { usd } raiseTo { usd tokens } windowEndsAt budget { id } } } requestedBy { actorId } viewerCannotDecideReasons } } }`;

  it("is in the inbox with what is spent, and never decided by the person who asked for the turn", async () => {
    const { as, request, decide } = await asked();
    const { data } = await as("paul").post<{ node: { reason: string } }>({
      query: SUBJECT,
      variables: { id: request.approvalId },
    });
    expect(data?.node).toMatchObject({
      kind: "BUDGET",
      subject: {
        __typename: "BudgetQuestion",
        per: "AGENT",
        spentUsd: 0.1,
        limitUsd: 0.15,
        averageStep: { usd: 0.1, tokens: 1_100 },
        raiseTo: { tokens: null },
      },
      requestedBy: [{ actorId: "anna" }],
      viewerCannotDecideReasons: [],
    });
    expect(data?.node.reason).toMatch(
      /^\$0\.10 of \$0\.15 of the budget for this agent are spent, and the next step costs about \$0\.11/,
    );
    expect(await decide("anna", {})).toEqual([["FORBIDDEN", undefined]]);
    expect(await decide("paul", { inputHash: "00" })).toEqual([["HASH_MISMATCH", "inputHash"]]);
    expect(await decide("paul", { raiseTo: { usd: 0.1 } })).toEqual([["INVALID", "raiseTo.usd"]]);
    expect(await decide("paul", { raiseTo: { tokens: 9_000 } })).toEqual([["INVALID", "raiseTo.tokens"]]);
    expect(await decide("paul", { input: {} })).toEqual([["INVALID", "input"]]);
    expect(await decide("paul", { decision: "DENY", raiseTo: { usd: 1 } })).toEqual([["INVALID", "raiseTo"]]);
  });

  it("lets the agent go on in this period when it is allowed", async () => {
    const { as, id, decide, spending, cursor } = await asked();
    expect(await decide("paul", { raiseTo: { usd: 0.5 } })).toEqual([]);
    expect(await decide("paul", { raiseTo: { usd: 0.5 } })).toEqual([]);
    const events = await as("anna").until(id, "DONE", cursor);
    expect(reasonOf(events)).toEqual(["COMPLETED"]);
    expect(ofType(events, "BudgetRaised")).toMatchObject([{ limitUsd: 0.5, spentUsd: 0.1, changedBy: { actorId: "paul" } }]);
    expect(await spending()).toMatchObject({ spent: 200_000, held: 0 });
  });

  it("ends the turn when it is denied", async () => {
    const { as, id, request, decide, spending, cursor } = await asked();
    expect(await decide("paul", { decision: "DENY" })).toEqual([]);
    const events = await as("anna").until(id, "DONE", cursor);
    expect(reasonOf(events)).toEqual(["BUDGET"]);
    expect(ofType(events, "BudgetStopped")).toMatchObject([{ closedApprovalId: request.approvalId }]);
    expect(await spending()).toMatchObject({ spent: 100_000, held: 0 });
  });

  it("is closed with the turn that is interrupted", async () => {
    const { as, id, request, mutate, cursor } = await asked();
    expect(await mutate("anna", "interruptAgent", { agentId: id })).toEqual([]);
    const events = await as("anna").until(id, "DONE", cursor);
    expect(reasonOf(events)).toEqual(["INTERRUPTED"]);
    expect(ofType(events, "PermissionClosed")).toMatchObject([{ approvalId: request.approvalId, approvalState: "SEALED" }]);
  });

  it("needs no answer once another day has begun", async () => {
    const { app, as, id, cursor } = await asked();
    await setPolicyTime(app.database.sql, "statement_timestamp() + interval '1 day'");
    const events = await as("anna").until(id, "DONE", cursor);
    expect(reasonOf(events)).toEqual(["COMPLETED"]);
    expect(ofType(events, "PermissionClosed")).toMatchObject([{ approvalState: "STALE" }]);
  });

  it("expires, and then the turn ends", async () => {
    const { as, id, cursor } = await asked({ approvalExpiresMs: 300 });
    const events = await as("anna").until(id, "DONE", cursor);
    expect(reasonOf(events)).toEqual(["BUDGET"]);
    expect(ofType(events, "PermissionClosed")).toMatchObject([{ approvalState: "EXPIRED" }]);
  });
});
