import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ofType } from "../../support/client.ts";
import { approvalOf, ask, inbox, office, PEOPLE } from "../../support/office.ts";

describe("another input than the one that was asked for", () => {
  it("is validated, judged and run, and both inputs are kept, where people may decide on what they asked for", async () => {
    const { app, as } = await office({ selfApproval: true });
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

  it("counts as asking where nobody decides on that: another person must allow it, and it runs as that person saw it", async () => {
    const { app, as } = await office();
    const asked = await ask(as("anna"));
    const input = { path: "b.txt", content: "better" };
    const edit = { approvalId: asked.approvalId, decision: "ALLOW", inputHash: asked.inputHash, input } as const;
    const decided = await as("paul").decide(edit);
    expect(decided).toMatchObject({
      userErrors: [],
      approval: { state: "STALE", decision: "ALLOW", decidedBy: { actorId: "paul" } },
    });
    expect((await as("paul").decide(edit)).userErrors).toEqual([]);
    const [newer] = await inbox(as("petra"), { states: ["PENDING"] });
    if (newer === undefined) throw new Error("nobody else is asked");
    expect(newer).toMatchObject({ input, reason: "paul edited the input, so another person must decide" });
    expect(newer.inputHash).not.toBe(asked.inputHash);
    expect(newer.requestedBy.map(({ actorId }) => actorId).toSorted()).toEqual(["anna", "paul"]);
    expect((await inbox(as("petra"))).map(({ id, hasEditedInput }) => [id, hasEditedInput])).toEqual([
      [asked.approvalId, false],
      [newer.id, true],
    ]);
    const ofPaul = await inbox(as("petra"), { requestedBy: ["paul"] });
    expect(ofPaul.map(({ id }) => id)).toEqual([newer.id]);
    expect(await inbox(as("petra"), { requestedBy: ["anna"] })).toHaveLength(2);
    const yes = { approvalId: newer.id, decision: "ALLOW", inputHash: newer.inputHash } as const;
    for (const person of ["paul", "anna"] as const)
      expect((await as(person).decide(yes)).userErrors, person).toMatchObject([
        { code: expect.stringMatching(/SELF_APPROVAL|FORBIDDEN/) },
      ]);
    expect(await as("petra").decide(yes)).toMatchObject({ userErrors: [], approval: { state: "ALLOWED" } });
    const events = await as("anna").until(asked.agent, "DONE");
    expect(await readFile(join(app.workspace, "b.txt"), "utf8")).toBe("better");
    expect(ofType(events, "PermissionDecided").map(({ approvalState, allowedHash }) => [approvalState, allowedHash])).toEqual([
      ["STALE", newer.inputHash],
      ["ALLOWED", newer.inputHash],
    ]);
    expect(await approvalOf(as("ada"), newer.id)).toMatchObject({
      toolCall: { state: "COMPLETED", input, requestedInput: { path: "a.txt", content: "text" } },
    });
  });

  it("is none if it is the input that was asked for", async () => {
    const { as } = await office();
    const { agent, approvalId, inputHash, request } = await ask(as("anna"));
    const { input } = await approvalOf(as("paul"), approvalId);
    const same = { approvalId, decision: "ALLOW", inputHash, input } as const;
    expect(await as("paul").decide(same)).toMatchObject({ userErrors: [], approval: { state: "ALLOWED" } });
    expect((await as("paul").decide(same)).userErrors).toEqual([]);
    await as("anna").until(agent, "DONE");
    expect(request.approvalId).toBe(approvalId);
  });

  it("may be changed once more, and is decided by somebody who gave none of them; a denial ends it", async () => {
    const { as } = await office();
    const asked = await ask(as("anna"));
    const edit = { decision: "ALLOW", input: { path: "b.txt", content: "b" } } as const;
    await as("paul").decide({ ...edit, approvalId: asked.approvalId, inputHash: asked.inputHash });
    const [second] = await inbox(as("petra"), { states: ["PENDING"] });
    if (second === undefined) throw new Error("nobody else is asked");
    const input = { path: "c.txt", content: "c" };
    const again = await as("petra").decide({ decision: "ALLOW", approvalId: second.id, inputHash: second.inputHash, input });
    expect(again).toMatchObject({ userErrors: [], approval: { state: "STALE" } });
    const [third] = await inbox(as("pia"), { states: ["PENDING"] });
    if (third === undefined) throw new Error("nobody else is asked");
    expect(third.input).toEqual(input);
    for (const person of ["paul", "petra"] as const)
      expect((await as(person).decide({ approvalId: third.id, decision: "DENY" })).userErrors).toMatchObject([
        { code: "SELF_APPROVAL" },
      ]);
    expect(await as("pia").decide({ approvalId: third.id, decision: "DENY" })).toMatchObject({ userErrors: [] });
    await as("anna").until(asked.agent, "DONE");
    expect(await approvalOf(as("ada"), third.id)).toMatchObject({ toolCall: { state: "DENIED" } });
  });

  it("is refused before it is stored where nobody else may decide", async () => {
    const actors = [PEOPLE.anna, PEOPLE.paul].map(({ actor }) => actor);
    const { as } = await office({}, { config: { actors } });
    const { approvalId, inputHash } = await ask(as("anna"));
    const input = { path: "b.txt", content: "better" };
    expect((await as("paul").decide({ approvalId, decision: "ALLOW", inputHash, input })).userErrors).toMatchObject([
      {
        code: "SELF_APPROVAL",
        field: ["input"],
        message: expect.stringContaining("needs the approval of another person, and there is none"),
      },
    ]);
    expect(await approvalOf(as("paul"), approvalId)).toMatchObject({ state: "PENDING", decisions: [] });
    expect((await as("paul").decide({ approvalId, decision: "ALLOW", inputHash })).userErrors).toEqual([]);
  });
});
