import { describe, expect, it } from "vitest";
import { DecideApprovalDocument, RetryTurnDocument } from "../generated/documents.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { callsWith, says } from "../support/models.ts";
import { ACTORS, inbox, PEOPLE } from "../support/office.ts";
import { first, lead, task, teamModel, worker, type Player } from "../support/team.ts";

describe("the retry of a turn that the end of a child in the background began", () => {
  it("is asked for by those who asked for the child", async () => {
    const write: Player = () => callsWith(["fs_write", { path: "a.txt", content: "a" }]);
    let finish = () => {};
    const wait = new Promise<void>((resolve) => (finish = resolve));
    const slow: Player = async function* () {
      await wait;
      yield* says("Counted.");
    };
    const fails: Player = async function* () {
      yield* [];
      throw new Error("no such model");
    };
    const model = teamModel({ lead: [first(task({ background: true })), () => says("Started."), fails, fails, write], worker: [slow] });
    const templates = {
      assistant: { ...lead, modelRetries: 0, selfApproval: false, permission: { mode: "auto", ask: ["fs_write"] } },
      worker,
    } as Record<string, TemplateConfig>;
    const app = await startTestApp({ model, config: { ...ACTORS, templates } });
    const pia = connect(app.url, PEOPLE.pia.token);
    const { id } = await pia.createAgent();
    await pia.send(id, "go");
    await pia.until(id, "DONE");
    const { cursor } = await pia.agent(id);
    finish();
    const done = await pia.until(id, "DONE", cursor);
    for (let n = 0; n < 2 && (await inbox(pia, { states: ["PENDING"] })).length === 0; n += 1) {
      const { cursor: now } = await pia.agent(id);
      const { userErrors } = (await pia.get(RetryTurnDocument, { input: { agentId: id } })).retryTurn;
      await Promise.race([pia.until(id, "DONE", now), pia.until(id, "PERMISSION_REQUIRED", now)]);
    }
    const [approval] = await inbox(pia, { states: ["PENDING"] });
    const input = { approvalId: approval?.id ?? "", decision: "ALLOW", inputHash: approval?.inputHash ?? "" } as const;
    const { userErrors } = (await pia.get(DecideApprovalDocument, { input })).decideApproval;
    expect(userErrors).toMatchObject([{ code: "SELF_APPROVAL" }]);
  }, 30_000);
});
