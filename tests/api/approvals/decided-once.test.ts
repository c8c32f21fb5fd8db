import { describe, expect, it } from "vitest";
import { InterruptAgentDocument } from "../../generated/documents.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType, textOf } from "../../support/client.ts";
import { ask, office, SCRIPT } from "../../support/office.ts";

describe("decisions", () => {
  it("are made once: again the same answers the same, another way names what stands", async () => {
    const app = await startTestApp({ script: SCRIPT });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "write a.txt");
    const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const approvalId = required?.request.approvalId ?? "";
    const inputHash = required?.request.inputHash ?? "";
    expect((await client.decide({ approvalId, decision: "ALLOW" })).userErrors).toMatchObject([
      { code: "INVALID", field: ["inputHash"] },
    ]);
    expect((await client.decide({ approvalId, decision: "ALLOW", inputHash: "0".repeat(64) })).userErrors).toMatchObject([
      { code: "HASH_MISMATCH" },
    ]);
    expect((await client.decide({ approvalId, decision: "RETRY" })).userErrors).toMatchObject([
      { code: "INVALID", field: ["decision"] },
    ]);
    expect((await client.decide({ approvalId, decision: "DENY", note: "x".repeat(5_000) })).userErrors).toMatchObject([
      { code: "TOO_LARGE", field: ["note"] },
    ]);
    const racing = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        client.decide({ approvalId, inputHash, decision: index % 2 === 0 ? "ALLOW" : "DENY" }),
      ),
    );
    const winner = racing.find((answer) => answer.userErrors.length === 0)?.approval?.decision;
    expect(racing.filter((answer) => answer.userErrors.length === 0)).toHaveLength(5);
    expect(racing.filter((answer) => answer.userErrors[0]?.code === "ALREADY_DECIDED")).toHaveLength(5);
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "PermissionDecided")).toMatchObject([{ decision: winner }]);
    expect(await client.decide({ approvalId, inputHash, decision: winner ?? "ALLOW" })).toMatchObject({
      approval: { decision: winner },
      userErrors: [],
    });
    expect(
      (await client.decide({ approvalId, inputHash, decision: winner === "ALLOW" ? "DENY" : "ALLOW" })).userErrors,
    ).toMatchObject([{ code: "ALREADY_DECIDED" }]);
  });

  it("of one document answer each as of itself: what an earlier one showed is not shown again", async () => {
    const { as } = await office({ selfApproval: true });
    const { approvalId, inputHash } = await ask(as("ada"));
    const decide = (name: string, hash: string | null): string =>
      `${name}: decideApproval(input: { approvalId: "${approvalId}", decision: ALLOW, inputHash: "${hash}" }) {
        cursor userErrors { code }
        approval { state missingDecisions viewerCanDecide viewerCannotDecideReasons agent { waitingFor } }
      }`;
    type Decided = { readonly cursor: string; readonly approval: { readonly agent: { readonly waitingFor: string | null } } };
    const query = `mutation { ${decide("wrong", "0".repeat(64))} ${decide("right", inputHash)} ${decide("late", "0".repeat(64))} }`;
    const { data } = await as("ada").post<Record<"wrong" | "right" | "late", Decided>>({ query });
    const asked = "a person to decide on fs_write";
    expect(data?.wrong).toMatchObject({
      userErrors: [{ code: "HASH_MISMATCH" }],
      approval: { state: "PENDING", missingDecisions: 1, viewerCanDecide: true, agent: { waitingFor: asked } },
    });
    const closed = {
      state: "ALLOWED",
      missingDecisions: 0,
      viewerCanDecide: false,
      viewerCannotDecideReasons: ["CLOSED", "ALREADY_DECIDED"],
    };
    expect(data?.right).toMatchObject({ userErrors: [], approval: closed });
    expect(data?.right.approval.agent.waitingFor).not.toBe(asked);
    expect(data?.late).toMatchObject({ approval: closed });
    expect((data?.late.cursor ?? "") >= (data?.right.cursor ?? "none")).toBe(true);
  });

  it("come too late once the turn was interrupted: the approval is sealed", async () => {
    const app = await startTestApp({ script: SCRIPT });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "write a.txt");
    const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id, note: "never mind" } });
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "INTERRUPTED" }]);
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "SEALED" } }]);
    const answer = await client.decide({
      approvalId: required?.request.approvalId ?? "",
      inputHash: required?.request.inputHash ?? "",
      decision: "ALLOW",
    });
    expect(answer).toMatchObject({ approval: { state: "SEALED" }, userErrors: [{ code: "SEALED" }] });
    expect(textOf(await client.turn(agent.id, "hello"))).toBe("Hello.");
  });
});
