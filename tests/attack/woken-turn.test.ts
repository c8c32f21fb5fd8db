import { describe, expect, it } from "vitest";
import { DecideApprovalDocument } from "../generated/documents.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { callsWith, says } from "../support/models.ts";
import { ACTORS, inbox, PEOPLE } from "../support/office.ts";
import { first, lead, task, teamModel, worker, type Player } from "../support/team.ts";

describe("a turn that the end of a child in the background begins", () => {
  it("is asked for by those who asked for the child: they do not decide its approvals themselves", async () => {
    const write: Player = () => callsWith(["fs_write", { path: "a.txt", content: "a" }]);
    let finish = () => {};
    const wait = new Promise<void>((resolve) => (finish = resolve));
    const slow: Player = async function* () {
      await wait;
      yield* says("Counted.");
    };
    const model = teamModel({ lead: [first(task({ background: true })), () => says("Started."), write], worker: [slow] });
    const templates = {
      assistant: { ...lead, selfApproval: false, permission: { mode: "auto", ask: ["fs_write"] } },
      worker,
    } as Record<string, TemplateConfig>;
    const app = await startTestApp({ model, config: { ...ACTORS, templates } });
    const pia = connect(app.url, PEOPLE.pia.token);
    const { id } = await pia.createAgent();
    await pia.send(id, "go");
    await pia.until(id, "DONE");
    finish();
    await expect.poll(async () => (await inbox(pia, { states: ["PENDING"] })).length, { timeout: 10_000 }).toBe(1);
    const [approval] = await inbox(pia, { states: ["PENDING"] });
    const input = { approvalId: approval?.id ?? "", decision: "ALLOW", inputHash: approval?.inputHash ?? "" } as const;
    const { userErrors } = (await pia.get(DecideApprovalDocument, { input })).decideApproval;
    expect(userErrors).toMatchObject([{ code: "SELF_APPROVAL" }]);
  });
});
