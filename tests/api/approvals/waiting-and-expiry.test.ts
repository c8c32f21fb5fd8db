import { describe, expect, it } from "vitest";
import type { DatabaseConfig } from "../../../src/db/database.ts";
import { ofType, textOf } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { ACTORS, office, ask, inbox, approvalOf } from "../../support/office.ts";

describe("time", () => {
  it.each([
    ["6 minutes", 0.1],
    ["25 hours", 25],
  ])("an approval that is answered after %s goes on with the turn", async (_name, hours) => {
    const clock = movableClock();
    const { app, as } = await office({}, { overrides: { clock } });
    const { agent, approvalId, inputHash } = await ask(as("anna"));
    await clock.passHours(hours, [app.database]);
    await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    const events = await as("anna").until(agent, "DONE");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(textOf(events)).toContain("Wrote a.txt");
  });

  it("an approval is there after a restart, and answering it goes on with the turn (invariant 8)", async () => {
    const database: DatabaseConfig = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 };
    const first = await office({}, { database });
    const { agent, approvalId } = await ask(first.as("anna"));
    await first.app.close();
    const { as } = await office({}, { database, config: { ...ACTORS, workspaceRoots: [first.app.workspace] } });
    const [open] = await inbox(as("paul"), { states: ["PENDING"] });
    expect(open).toMatchObject({ id: approvalId, inputText: '{\n  "path": "a.txt",\n  "content": "text"\n}' });
    await as("paul").decide({ approvalId, inputHash: open?.inputHash ?? "", decision: "ALLOW" });
    expect(ofType(await as("anna").until(agent, "DONE"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });

  it("one that nobody decides in time expires: its own state, no denial of a person, and the turn goes on", async () => {
    const clock = movableClock();
    const { app, as } = await office({ approvalExpiresMs: 60 * 60 * 1_000 }, { overrides: { clock } });
    const { agent, approvalId, inputHash, request } = await ask(as("anna"));
    expect(request.expiresAt).not.toBeNull();
    await clock.passHours(2, [app.database]);
    const events = await as("anna").until(agent, "DONE");
    expect(ofType(events, "PermissionClosed")).toMatchObject([{ approvalId, approvalState: "EXPIRED" }]);
    expect(ofType(events, "PermissionDecided")).toEqual([]);
    expect(ofType(events, "ToolEnd")).toMatchObject([
      {
        call: {
          state: "DENIED",
          error: { type: "APPROVAL_EXPIRED", stage: "CONFIRMATION" },
          approval: { state: "EXPIRED", decision: null },
        },
      },
    ]);
    expect(textOf(events)).toContain("No person denied it");
    expect(await approvalOf(as("paul"), approvalId)).toMatchObject({
      state: "EXPIRED",
      decisions: [],
      decision: null,
      decidedBy: null,
    });
    expect((await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" })).userErrors).toMatchObject([
      { code: "EXPIRED" },
    ]);
  });

  it("a decision that comes after the expiry and before the sweep is refused as well", async () => {
    const clock = movableClock();
    const { app, as } = await office({ approvalExpiresMs: 60 * 60 * 1_000 }, { overrides: { clock } });
    const { approvalId, inputHash } = await ask(as("anna"));
    await clock.passHours(2, [app.database]);
    expect((await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" })).userErrors).toMatchObject([
      { code: "EXPIRED" },
    ]);
  });
});
