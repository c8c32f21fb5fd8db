import { expect, it } from "vitest";
import { AllowAlwaysDocument, SimulatePolicyDocument, type SimulatePolicyQueryVariables } from "../generated/documents.ts";
import type { TestClient } from "../support/client.ts";
import { ask, office } from "../support/office.ts";

async function simulated(client: TestClient, variables: SimulatePolicyQueryVariables) {
  const { simulation } = (await client.get(SimulatePolicyDocument, variables)).simulatePolicy;
  if (simulation === null) throw new Error("the permission has problems");
  return simulation;
}

it("a simulation beside the present policy has the changes of the proposed one alone, as many examples as wanted", async () => {
  const permission = { mode: "approval" as const };
  const { as } = await office({ permission });
  const paul = as("paul");
  for (const name of ["docs/a.txt", "docs/b.txt", "docs/c.txt", "docs/d.txt", "e.txt"]) {
    const { agent, approvalId } = await ask(as("anna"), `write ${name}`);
    if (name === "docs/d.txt") await paul.get(AllowAlwaysDocument, { input: { approvalId, rule: "fs_write(path:docs)" } });
    await paul.decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");
  }
  // Since the rule was stored, the recorded verdicts differ from those of the same permission.
  expect(await simulated(paul, { permission })).toMatchObject({
    examined: 5,
    changes: [{ before: "ASK", after: "ALLOW", calls: 4 }],
    examples: [{}, {}, {}],
  });
  expect(await simulated(paul, { permission, baseline: "PRESENT" })).toMatchObject({ examined: 5, changed: 0, changes: [] });
  const changed = { mode: "deny" as const, allow: ["fs_read"] };
  const beside = await simulated(paul, { permission: changed, baseline: "PRESENT", examples: 50 });
  // The mode denies before stored rules are asked.
  expect(beside.changes).toEqual([
    { tool: "fs_write", before: "ALLOW", after: "DENY", calls: 4 },
    { tool: "fs_write", before: "ASK", after: "DENY", calls: 1 },
  ]);
  const wider = await simulated(paul, {
    permission: { mode: "approval", deny: ["fs_write(path:docs)"] },
    baseline: "PRESENT",
    examples: 50,
  });
  expect(wider.changes).toEqual([{ tool: "fs_write", before: "ALLOW", after: "DENY", calls: 4 }]);
  expect(wider.examples).toHaveLength(4);
  await expect(simulated(paul, { permission, examples: 51 })).rejects.toThrow(/`examples` must be between 1 and 50/);
});
