import { describe, expect, it } from "vitest";
import {
  ControlDocument,
  DecideApprovalsDocument,
  InterruptAgentDocument,
  type ApprovalFilter,
} from "../../generated/documents.ts";
import { ofType } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { StorageUnavailable } from "../../../src/db/storage-error.ts";
import { office, ask, inbox } from "../../support/office.ts";

describe("the inbox", () => {
  it("is filtered by state, agent, template, tool and age", async () => {
    const clock = movableClock();
    const { as } = await office({}, { overrides: { clock } });
    const first = await ask(as("anna"));
    await clock.passHours(1);
    const between = clock.now().toISOString();
    const second = await ask(as("anna"), "write b.txt");
    await as("paul").decide({ approvalId: second.approvalId, decision: "DENY" });
    const ids = async (filter: ApprovalFilter) => (await inbox(as("paul"), filter)).map(({ id }) => id);
    expect(await ids({})).toEqual([first.approvalId, second.approvalId]);
    expect(await ids({ states: ["PENDING"] })).toEqual([first.approvalId]);
    expect(await ids({ states: ["DENIED", "EXPIRED"] })).toEqual([second.approvalId]);
    expect(await ids({ agentIds: [second.agent] })).toEqual([second.approvalId]);
    expect(await ids({ templateIds: ["assistant"], tools: ["fs_write"] })).toHaveLength(2);
    expect(await ids({ templateIds: ["other", "a\0b"] })).toEqual([]);
    expect(await ids({ tools: ["fs_read"] })).toEqual([]);
    expect(await ids({ requested: { to: between } })).toEqual([first.approvalId]);
    expect(await ids({ requested: { from: between } })).toEqual([second.approvalId]);
    expect(await inbox(as("ulf"))).toEqual([]);
  });

  it("decideApprovals decides each by itself, in order, with its own outcome", async () => {
    const { as } = await office();
    const asked = [await ask(as("anna")), await ask(as("anna"), "write b.txt"), await ask(as("pia"), "write c.txt")];
    const [a, b, c] = asked.map(({ approvalId, inputHash }) => ({ approvalId, inputHash, decision: "ALLOW" as const }));
    if (!a || !b || !c) throw new Error("three were asked");
    const { decideApprovals } = await as("pia").get(DecideApprovalsDocument, {
      input: {
        decisions: [a, { ...b, inputHash: "0".repeat(64) }, c, { ...a, decision: "DENY" }, { ...b, approvalId: "nonsense" }],
      },
    });
    expect(
      decideApprovals.outcomes.map(({ approval, userErrors }) => [approval?.state ?? null, userErrors[0]?.code ?? null]),
    ).toEqual([
      ["ALLOWED", null],
      ["PENDING", "HASH_MISMATCH"],
      ["PENDING", "SELF_APPROVAL"],
      ["ALLOWED", "ALREADY_DECIDED"],
      [null, "NOT_FOUND"],
    ]);
    const many = await as("pia").get(DecideApprovalsDocument, { input: { decisions: Array.from({ length: 101 }, () => a) } });
    expect(many.decideApprovals).toMatchObject({ outcomes: [], userErrors: [{ code: "TOO_LARGE", field: ["decisions"] }] });
  });

  it("decideApprovals says which decision an outage hit; its cursor covers those that were made", async () => {
    let isAway = false;
    const { as } = await office(
      {},
      {
        overrides: {
          sql: (sql) => ({
            ...sql,
            query: async (statement, values) => {
              if (isAway && statement.name === "find_approvals") throw new StorageUnavailable("the database is away");
              const rows = await sql.query(statement, values);
              if (statement.name === "commit_change" && String(values[6]).includes('"decision":')) isAway = true;
              return rows;
            },
          }),
        },
      },
    );
    const asked = [await ask(as("anna")), await ask(as("anna"), "write b.txt")];
    const before = (await as("paul").agent(asked[0]?.agent ?? "")).cursor;
    isAway = false;
    const { decideApprovals } = await as("paul").get(DecideApprovalsDocument, {
      input: { decisions: asked.map(({ approvalId, inputHash }) => ({ approvalId, inputHash, decision: "ALLOW" as const })) },
    });
    expect(decideApprovals.outcomes).toMatchObject([
      { userErrors: [] },
      { approval: null, userErrors: [{ code: "UNAVAILABLE" }] },
    ]);
    expect(decideApprovals.cursor > before).toBe(true);
  });

  it("decideApprovals has the cursor of the decisions that were made, whatever is refused behind them", async () => {
    let isDecided = false;
    let between: (() => Promise<void>) | null = null;
    const { as } = await office(
      {},
      {
        overrides: {
          sql: (sql) => ({
            ...sql,
            query: async (statement, values) => {
              if (isDecided && statement.name === "find_approvals") {
                const work = between;
                between = null;
                await work?.();
              }
              const rows = await sql.query(statement, values);
              if (statement.name === "commit_change" && String(values[6]).includes('"decision":')) isDecided = true;
              return rows;
            },
          }),
        },
      },
    );
    const [a, b] = [await ask(as("anna")), await ask(as("anna"), "write b.txt")];
    let later = "";
    between = async () => {
      const { agent } = await ask(as("anna"), "write c.txt");
      later = (await as("paul").agent(agent)).cursor;
    };
    const { decideApprovals } = await as("paul").get(DecideApprovalsDocument, {
      input: {
        decisions: [
          { approvalId: a.approvalId, inputHash: a.inputHash, decision: "ALLOW" },
          { approvalId: b.approvalId, inputHash: "0".repeat(64), decision: "ALLOW" },
        ],
      },
    });
    expect(decideApprovals.outcomes).toMatchObject([{ userErrors: [] }, { userErrors: [{ code: "HASH_MISMATCH" }] }]);
    expect(later).not.toBe("");
    expect(decideApprovals.cursor < later).toBe(true);
  });

  it("control says when nothing is left to decide: PERMISSION_CLOSED for a turn that was interrupted", async () => {
    const { as } = await office();
    const { agent, approvalId } = await ask(as("anna"));
    const control = as("paul").subscribe(ControlDocument, { since: "0" });
    await as("anna").get(InterruptAgentDocument, { input: { agentId: agent } });
    for await (const { data } of control) {
      const [closed] = ofType(data?.control.events ?? [], "PermissionClosed");
      if (closed === undefined) continue;
      expect(closed).toMatchObject({ approvalId, approvalState: "SEALED" });
      break;
    }
  });
});
