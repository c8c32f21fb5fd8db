import { describe, expect, it } from "vitest";
import { NEIGHBOURS, tokenActor } from "../../support/actors.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType, type TestClient } from "../../support/client.ts";
import type { TriplaneConfig } from "../../../src/triplane.ts";

const ACTORS = [...(NEIGHBOURS.actors ?? []), tokenActor("ada", ["admin"]).actor];
const BUDGET = `id per agentId templateId requesterId limitUsd limitTokens window timeZone warnAt action isConfigured setBy { actorId } revokedAt standing { limitUsd leftUsd spentUsd leftTokens windowEndsAt }`;

type Budget = {
  id: string;
  per: string;
  limitUsd: number | null;
  limitTokens: number | null;
  revokedAt: string | null;
  [field: string]: unknown;
};
type Answer = { budget: Budget | null; userErrors: { code: string; field: string[] | null; message: string }[] };

async function office(config: Partial<TriplaneConfig> = {}) {
  const app = await startTestApp({ config: { actors: ACTORS, ...config } });
  const as = (who: string): TestClient => connect(app.url, `${who}-token`);
  const mutate = async (who: string, name: string, input: object): Promise<Answer> => {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
    const query = `mutation($input: ${type}!) { ${name}(input: $input) { budget { ${BUDGET} } userErrors { code field message } } }`;
    const { data, errors } = await as(who).post<Record<string, Answer>>({ query, variables: { input } });
    expect(errors).toEqual([]);
    return data?.[name] ?? { budget: null, userErrors: [] };
  };
  const list = async (who: string, filter = ""): Promise<readonly Budget[]> => {
    const { data, errors } = await as(who).post<{ budgets: Budget[] }>({ query: `{ budgets${filter} { ${BUDGET} } }` });
    expect(errors).toEqual([]);
    return data?.budgets ?? [];
  };
  return { as, mutate, list };
}

describe("administrators", () => {
  it("set, change and revoke budgets, each an event of the tenant", async () => {
    const { as, mutate, list } = await office();
    const limit = { per: "TENANT", usd: 10, window: "MONTH", timeZone: "Europe/Berlin" };
    const { budget } = await mutate("ada", "setBudget", limit);
    expect(budget).toMatchObject({ limitUsd: 10, limitTokens: null, action: "ASK", warnAt: 0.8, setBy: { actorId: "ada" } });
    expect(budget).toMatchObject({ isConfigured: false, standing: { limitUsd: 10, leftUsd: 10, spentUsd: 0, leftTokens: null } });
    expect((await mutate("ada", "setBudget", { ...limit, usd: 12.5, tokens: 100 })).budget).toMatchObject({
      id: budget?.id,
      limitUsd: 12.5,
      limitTokens: 100,
    });
    expect((await mutate("ada", "setBudget", { ...limit, usd: 12.5, tokens: 100 })).userErrors).toEqual([]);
    expect(await list("vera")).toHaveLength(1);
    const revoked = await mutate("ada", "revokeBudget", { budgetId: budget?.id });
    expect(revoked.budget?.revokedAt).not.toBeNull();
    expect((await mutate("ada", "revokeBudget", { budgetId: budget?.id })).userErrors).toEqual([]);
    expect(await list("vera")).toEqual([]);
    expect(await list("vera", "(filter: { isRevoked: true, pers: [TENANT] })")).toHaveLength(1);
    const query = `{ timeline(kinds: [BUDGET_SET, BUDGET_REVOKED]) { events { __typename kind ... on BudgetEvent { limitUsd budgetPer } ... on BudgetSet { changedBy { actorId } } } } }`;
    const { data } = await as("vera").post<{ timeline: { events: { kind: string; limitUsd: number }[] } }>({ query });
    expect(data?.timeline.events.map(({ kind, limitUsd }) => [kind, limitUsd])).toEqual([
      ["BUDGET_SET", 10],
      ["BUDGET_SET", 12.5],
      ["BUDGET_REVOKED", 12.5],
    ]);
    expect(ofType(data?.timeline.events as never, "BudgetSet")).toHaveLength(2);
  });

  it("are told what is wrong with a budget", async () => {
    const { as, mutate } = await office();
    const { id: agentId } = await as("anna").createAgent();
    const fault = async (input: object) => {
      const { userErrors } = await mutate("ada", "setBudget", { per: "TENANT", usd: 1, ...input });
      return userErrors.map(({ code, field }) => [code, field?.join(".")]);
    };
    expect(await fault({ usd: null })).toEqual([["INVALID", "usd"]]);
    expect(await fault({ usd: 0 })).toEqual([["INVALID", "usd"]]);
    expect(await fault({ tokens: 1.5 })).toEqual([["INVALID", "tokens"]]);
    expect(await fault({ warnAt: 1.5 })).toEqual([["INVALID", "warnAt"]]);
    expect(await fault({ agentId })).toEqual([["INVALID", "agentId"]]);
    expect(await fault({ per: "AGENT" })).toEqual([["INVALID", "agentId"]]);
    expect(await fault({ per: "TURN", agentId, window: "DAY" })).toEqual([["INVALID", "window"]]);
    expect(await fault({ timeZone: "Europe/Berlin" })).toEqual([["INVALID", "timeZone"]]);
    expect(await fault({ window: "DAY", timeZone: "Mars/Olympus" })).toEqual([["INVALID", "timeZone"]]);
    expect(await fault({ per: "TEMPLATE", templateId: "nobody" })).toEqual([["NOT_FOUND", "templateId"]]);
    expect(await fault({ per: "AGENT", agentId: "QWdlbnQ6MDAwMDAwMDAtMDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDAw" })).toEqual([
      ["NOT_FOUND", "agentId"],
    ]);
    expect(await fault({ per: "AGENT", agentId })).toEqual([]);
  });
});

describe("others", () => {
  it("set and revoke nothing, and see the budgets on which they spend", async () => {
    const { as, mutate, list } = await office();
    const { id: agentId } = await as("anna").createAgent();
    for (const who of ["anna", "vera", "paul"])
      expect((await mutate(who, "setBudget", { per: "TENANT", usd: 1 })).userErrors).toMatchObject([{ code: "FORBIDDEN" }]);
    for (const input of [
      { per: "TENANT", usd: 100 },
      { per: "AGENT", agentId, usd: 2 },
      { per: "REQUESTER", requesterId: "anna", tokens: 5_000, window: "DAY" },
      { per: "REQUESTER", requesterId: "ben", usd: 1 },
    ])
      expect((await mutate("ada", "setBudget", input)).userErrors).toEqual([]);
    expect(await list("anna")).toEqual([]);
    const query = `query($id: ID!) { viewer { budgets { limitTokens leftTokens } } node(id: $id) { ... on Agent { budgets { budget { per } limitUsd } } } templates { budgets { limitUsd } } }`;
    type Own = { viewer: { budgets: object[] }; node: { budgets: { budget: { per: string } }[] } };
    const own = await as("anna").post<Own>({ query, variables: { id: agentId } });
    expect(own.errors).toEqual([]);
    expect(own.data?.viewer.budgets).toEqual([{ limitTokens: 5_000, leftTokens: 5_000 }]);
    expect(own.data?.node.budgets.map(({ budget }) => budget.per)).toEqual(["AGENT", "REQUESTER"]);
    const all = await as("vera").post<Own>({ query, variables: { id: agentId } });
    expect(all.data?.node.budgets.map(({ budget }) => budget.per)).toEqual(["TENANT", "AGENT", "REQUESTER"]);
  });

  it("of another tenant find no budget by its id", async () => {
    const { as, mutate } = await office();
    const { budget } = await mutate("ada", "setBudget", { per: "TENANT", usd: 1 });
    expect((await mutate("zoe", "revokeBudget", { budgetId: budget?.id })).userErrors).toMatchObject([{ code: "NOT_FOUND" }]);
    const read = (who: string) => as(who).post<{ node: object | null }>({ query: `{ node(id: "${budget?.id}") { id } }` });
    expect((await read("zoe")).data?.node).toBeNull();
    expect((await read("anna")).data?.node).toBeNull();
    expect((await read("vera")).data?.node).toEqual({ id: budget?.id });
  });
});

describe("the configuration", () => {
  it("has budgets of tenants and templates, which nobody revokes", async () => {
    const { mutate, list } = await office({ budgets: [{ per: "TENANT", usd: 50, window: "day", then: "stop" }] });
    const [budget] = await list("vera");
    expect(budget).toMatchObject({ isConfigured: true, setBy: null, limitUsd: 50, window: "DAY", action: "STOP" });
    expect((await mutate("ada", "revokeBudget", { budgetId: budget?.id })).userErrors).toMatchObject([{ code: "INVALID" }]);
  });
});
