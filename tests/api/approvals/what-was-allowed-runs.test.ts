import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AllowAlwaysDocument } from "../../generated/documents.ts";
import { ofType, textOf } from "../../support/client.ts";
import { office, ask, inbox, approvalOf } from "../../support/office.ts";

describe("what was allowed is what runs (invariant 7)", () => {
  it("files that the paths lead to are shown; one that leads elsewhere by then is asked anew", async () => {
    const { app, as } = await office({ permission: { mode: "approval" } });
    await mkdir(join(app.workspace, "docs"));
    await writeFile(join(app.workspace, "other.txt"), "untouched");
    await writeFile(join(app.workspace, "docs/real.txt"), "");
    await symlink("docs/real.txt", join(app.workspace, "a.txt"));
    const { agent, approvalId, inputHash } = await ask(as("anna"));
    expect((await approvalOf(as("paul"), approvalId)).paths).toEqual([{ parameter: "path", names: ["a.txt", "docs/real.txt"] }]);
    await rm(join(app.workspace, "a.txt"));
    await symlink("other.txt", join(app.workspace, "a.txt"));
    await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    for await (const page of as("anna").timeline({ agentId: agent, since: "0" }))
      if (ofType(page.events, "PermissionClosed").some(({ approvalState }) => approvalState === "STALE")) break;
    const [anew] = await inbox(as("paul"), { states: ["PENDING"] });
    expect(anew).toMatchObject({ reason: expect.stringContaining("lead elsewhere"), paths: [{ names: ["a.txt", "other.txt"] }] });
    expect(await readFile(join(app.workspace, "other.txt"), "utf8")).toBe("untouched");
  });

  it("an approval of a call without rule values is decided by its hash", async () => {
    const { app, as } = await office();
    const { agent, approvalId, inputHash } = await ask(as("anna"));
    await app.database.sql.query({ name: "forget", text: "UPDATE tool_call SET rule_values = NULL" }, []);
    await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    expect(textOf(await as("anna").until(agent, "DONE"))).toContain("Wrote a.txt");
  });

  it("a call keeps why it was asked, even if a rule would allow it by the time it runs", async () => {
    const { as } = await office();
    const { agent, approvalId, inputHash } = await ask(as("anna"));
    await as("paul").get(AllowAlwaysDocument, { input: { approvalId } });
    await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    await as("anna").until(agent, "DONE");
    expect((await as("anna").agent(agent)).toolCalls.nodes).toMatchObject([
      { state: "COMPLETED", explanation: { verdict: "ASK", rule: "mode default" } },
    ]);
  });
});
