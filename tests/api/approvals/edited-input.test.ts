import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ofType } from "../../support/client.ts";
import { office, ask, approvalOf } from "../../support/office.ts";

describe("another input than the one that was asked for", () => {
  it("is validated, judged and run, and both inputs are kept", async () => {
    const { app, as } = await office();
    const asked = await ask(as("anna"));
    const input = { path: "b.txt", content: "better" };
    const decided = await as("paul").decide({
      approvalId: asked.approvalId,
      decision: "ALLOW",
      inputHash: asked.inputHash,
      input,
    });
    expect(decided).toMatchObject({ userErrors: [], approval: { state: "ALLOWED" } });
    const events = await as("anna").until(asked.agent, "DONE");
    expect(await readFile(join(app.workspace, "b.txt"), "utf8")).toBe("better");
    const [event] = ofType(events, "PermissionDecided");
    expect(event?.allowedHash).not.toBe(asked.inputHash);
    expect(await approvalOf(as("ada"), asked.approvalId)).toMatchObject({
      input: { path: "a.txt", content: "text" },
      decisions: [{ input, decidedBy: { actorId: "paul" } }],
      toolCall: { state: "COMPLETED", input, requestedInput: { path: "a.txt", content: "text" } },
    });
    const again = { approvalId: asked.approvalId, decision: "ALLOW", inputHash: asked.inputHash } as const;
    expect((await as("petra").decide({ ...again, input })).userErrors).toEqual([]);
    expect((await as("petra").decide(again)).userErrors).toMatchObject([{ code: "ALREADY_DECIDED" }]);
    expect((await as("petra").decide({ ...again, input: { ...input, content: "other" } })).userErrors).toMatchObject([
      { code: "ALREADY_DECIDED" },
    ]);
  });

  it("is refused if it is not valid, denied by a rule, with DENY, or if several must allow the same; the approval stays open", async () => {
    const { as } = await office({ permission: { deny: ["fs_write(path:locked)"] } });
    const { approvalId, inputHash } = await ask(as("anna"));
    const paul = as("paul");
    const refusals = [
      [{ decision: "ALLOW", input: { path: 7 } }, "INVALID"],
      [{ decision: "ALLOW", input: [] }, "INVALID"],
      [{ decision: "ALLOW", input: { path: "locked/x", content: "" } }, "DENIED_BY_POLICY"],
      [{ decision: "ALLOW", input: { path: "../x", content: "" } }, "DENIED_BY_POLICY"],
      [{ decision: "DENY", input: { path: "b", content: "" } }, "INVALID"],
    ] as const;
    for (const [request, code] of refusals)
      expect((await paul.decide({ approvalId, inputHash, ...request })).userErrors, JSON.stringify(request)).toMatchObject([
        { code, field: ["input"] },
      ]);
    expect((await approvalOf(paul, approvalId)).state).toBe("PENDING");
    const two = await office({ approvalQuorum: 2 });
    const asked = await ask(two.as("anna"));
    const edited = {
      approvalId: asked.approvalId,
      inputHash: asked.inputHash,
      decision: "ALLOW",
      input: { path: "b", content: "" },
    } as const;
    expect((await two.as("paul").decide(edited)).userErrors).toMatchObject([{ code: "INVALID", field: ["input"] }]);
  });
});
