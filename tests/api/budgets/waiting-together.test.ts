import { expect, it } from "vitest";
import { rowId } from "../../../src/lib/global-id.ts";
import type { TriplaneConfig } from "../../../src/triplane.ts";
import { budgetOffice } from "../../support/budgets.ts";
import { setPolicyTime } from "../../support/clock.ts";
import { ofType } from "../../support/client.ts";

const reasonOf = (events: Parameters<typeof ofType>[0]) => ofType(events, "Done").map(({ reason }) => reason);

/** Agents that have spent a tenant's budget together, and wait: each with a question of its own. */
async function waiting(agents: number, config: Partial<TriplaneConfig> = {}, usd = agents * 0.1 + 0.05) {
  const office = await budgetOffice({ config: { budgets: [{ per: "TENANT", usd, then: "ask" }], ...config } });
  const anna = office.as("anna");
  const ids = await Promise.all(Array.from({ length: agents }, async () => (await anna.createAgent()).id));
  for (const id of ids) expect(reasonOf(await anna.turn(id, "go"))).toEqual(["COMPLETED"]);
  const asked = [];
  for (const id of ids) {
    await anna.send(id, "go on");
    const events = await anna.until(id, "PERMISSION_REQUIRED");
    const request = ofType(events, "PermissionRequired")[0]?.request;
    if (request === undefined) throw new Error("nobody is asked");
    asked.push({ id, cursor: events.at(-1)?.cursor ?? "0", approvalId: request.approvalId, inputHash: request.inputHash });
  }
  return { ...office, anna, asked, first: asked[0] ?? { id: "", cursor: "", approvalId: "", inputHash: "" } };
}

it("one raise of a shared budget releases each agent that waits on it, and names the person", async () => {
  const { as, anna, asked, first, spending } = await waiting(4);
  const { approvalId, inputHash } = first;
  const decided = await as("paul").decide({ approvalId, inputHash, decision: "ALLOW", raiseTo: { usd: 5 } });
  expect(decided.userErrors).toEqual([]);
  for (const { id, cursor, ...other } of asked) {
    const events = await anna.until(id, "DONE", cursor);
    expect(reasonOf(events)).toEqual(["COMPLETED"]);
    if (other.approvalId === approvalId) continue;
    expect(ofType(events, "PermissionClosed")).toMatchObject([
      { approvalId: other.approvalId, approvalState: "STALE", note: "paul raised the limit to $5.00" },
    ]);
  }
  expect(await spending()).toMatchObject({ spent: 800_000, held: 0 });
});

it("an agent that asks says that it waits for a decision on its budget", async () => {
  const { anna, first } = await waiting(1);
  const query = `query ($id: ID!) { agent(id: $id) { waitingFor } }`;
  const { data } = await anna.post<{ agent: { waitingFor: string } }>({ query, variables: { id: first.id } });
  expect(data?.agent.waitingFor).toBe("a person to decide on its budget");
});

it("a raise that has room for none of the others leaves their questions: its own agent's step is first, however late", async () => {
  const { app, as, anna, asked, first } = await waiting(2);
  const { approvalId, inputHash } = first;
  const text = "UPDATE agent SET runnable_at = clock_timestamp() + interval '2 seconds' WHERE id = $1";
  await app.database.sql.query({ name: "", text }, [rowId("Agent", first.id)]);
  const decided = await as("paul").decide({ approvalId, inputHash, decision: "ALLOW", raiseTo: { usd: 0.32 } });
  expect(decided.userErrors).toEqual([]);
  expect(reasonOf(await anna.until(first.id, "DONE", first.cursor))).toEqual(["COMPLETED"]);
  const query = `{ approvals(filter: { kinds: [BUDGET], states: [PENDING] }) { nodes { agent { id } } } }`;
  const { data } = await as("paul").post<{ approvals: { nodes: object[] } }>({ query });
  expect(data?.approvals.nodes).toEqual([{ agent: { id: asked[1]?.id } }]);
});

it("a higher limit by an administrator releases them, and so does the end of the budget", async () => {
  const { as, anna, asked, mutate } = await waiting(2);
  const ends = (id: string, cursor: string) => anna.until(id, "DONE", cursor);
  expect(await mutate("ada", "setBudget", { per: "TENANT", usd: 5 })).toEqual([]);
  for (const { id, cursor } of asked)
    expect(ofType(await ends(id, cursor), "PermissionClosed")).toMatchObject([{ note: "ada raised the limit to $5.00" }]);
  const [{ id } = { id: "" }] = asked;
  expect(await mutate("ada", "setBudget", { per: "REQUESTER", requesterId: "anna", usd: 0.15 })).toEqual([]);
  const done = await anna.turn(id, "go");
  expect(reasonOf(done)).toEqual(["COMPLETED"]);
  await anna.send(id, "go on");
  const cursor = (await anna.until(id, "BUDGET_ASKED", done.at(-1)?.cursor)).at(-1)?.cursor ?? "0";
  const { data } = await as("ada").post<{ budgets: { id: string }[] }>({
    query: `{ budgets(filter: { pers: [REQUESTER] }) { id } }`,
  });
  expect(await mutate("ada", "revokeBudget", { budgetId: data?.budgets[0]?.id })).toEqual([]);
  expect(ofType(await ends(id, cursor), "PermissionClosed")).toMatchObject([{ note: "the budget no longer holds" }]);
});

it("a raise that crosses the question is found by a later look", async () => {
  const { app, anna, asked } = await waiting(1);
  const [{ id, cursor } = { id: "", cursor: "" }] = asked;
  await app.database.sql.query(
    { name: "", text: "UPDATE budget_period SET raised_millionths = 9000000, raised_by = 'paul'" },
    [],
  );
  await setPolicyTime(app.database.sql, "statement_timestamp() + interval '3 seconds'");
  expect(reasonOf(await anna.until(id, "DONE", cursor))).toEqual(["COMPLETED"]);
});

it("a raise releases no agent that was archived meanwhile: its turn ends", async () => {
  const { app, as, anna, asked, first, spending } = await waiting(2);
  const { approvalId, inputHash } = first;
  const [, { id, cursor } = first] = asked;
  // Archived: its server looks at it in two seconds.
  const text = "UPDATE agent SET archived_at = now(), runnable_at = clock_timestamp() + interval '2 seconds' WHERE id = $1";
  await app.database.sql.query({ name: "", text }, [rowId("Agent", id)]);
  const decided = await as("paul").decide({ approvalId, inputHash, decision: "ALLOW", raiseTo: { usd: 5 } });
  expect(decided.userErrors).toEqual([]);
  expect(reasonOf(await anna.until(first.id, "DONE", first.cursor))).toEqual(["COMPLETED"]);
  const events = await anna.until(id, "DONE", cursor);
  expect(reasonOf(events)).toEqual(["INTERRUPTED"]);
  expect(await spending()).toMatchObject({ spent: 300_000, held: 0 });
});
