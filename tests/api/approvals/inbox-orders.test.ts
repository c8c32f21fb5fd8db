import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/agent/tools/tool.ts";
import { InboxDocument, type ApprovalFilter, type ApprovalOrder } from "../../generated/documents.ts";
import type { TestClient } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { ACTORS, ask, office } from "../../support/office.ts";

const RISKS = ["low", "medium", "high"] as const;

/** A tool of each risk: the model calls it when its risk is said. */
const TOOLS = RISKS.map((risk) =>
  defineTool<{ word?: string }>({
    name: risk,
    description: "Does it.",
    readOnly: false,
    risk: risk.toUpperCase() as "LOW" | "MEDIUM" | "HIGH",
    inputSchema: { type: "object", properties: { word: { type: "string", nullable: true } } },
    run: () => ({ output: "", details: null }),
  }),
);

const SCRIPT = {
  replies: [
    ...RISKS.map((risk) => ({ when: { user: `^${risk}` }, call: [{ tool: risk, input: {} }] })),
    { when: {}, say: ["Hello."] },
  ],
};

/** The ids of all pages of two. */
async function pages(client: TestClient, orderBy: ApprovalOrder, filter: ApprovalFilter = {}): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const { nodes, pageInfo }: Awaited<ReturnType<typeof page>> = await page(client, orderBy, filter, after);
    ids.push(...nodes.map(({ id }) => id));
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after !== null);
  return ids;
}

async function page(client: TestClient, orderBy: ApprovalOrder, filter: ApprovalFilter, after: string | null) {
  return (await client.get(InboxDocument, { orderBy, filter, first: 2, ...(after === null ? {} : { after }) })).approvals;
}

/** An office in which anna has asked for calls of these risks, an hour apart. */
async function asked(risks: readonly (typeof RISKS)[number][]) {
  const clock = movableClock();
  const config = { ...ACTORS, tools: TOOLS };
  const { app, as } = await office({ selfApproval: true }, { script: SCRIPT, config, overrides: { clock } });
  const approvals: Awaited<ReturnType<typeof ask>>[] = [];
  for (const risk of risks) {
    approvals.push(await ask(as("anna"), risk));
    await clock.passHours(1);
  }
  const places = (ids: readonly string[]): readonly number[] =>
    ids.map((id) => approvals.findIndex(({ approvalId }) => approvalId === id));
  return { app, as, approvals, places, clock };
}

describe("the orders of approvals", () => {
  it("of the inbox are risk, then expiry, then the time of the request, page by page", async () => {
    const { app, as, approvals, places } = await asked(["low", "high", "medium", "high", "high"]);
    const expire = {
      name: "",
      text: "UPDATE approval SET expires_at = now() + interval '5 days' WHERE risk = 'HIGH' AND id = $1",
    };
    const last = Buffer.from(approvals[4]?.approvalId ?? "", "base64")
      .toString()
      .replace("Approval:", "");
    await app.database.sql.query(expire, [last]);
    expect(places(await pages(as("paul"), "MOST_URGENT_FIRST"))).toEqual([4, 1, 3, 2, 0]);
    expect(places(await pages(as("paul"), "OLDEST_FIRST"))).toEqual([0, 1, 2, 3, 4]);
    const filter = { risks: ["HIGH" as const], states: ["PENDING" as const] };
    expect(places(await pages(as("paul"), "MOST_URGENT_FIRST", filter))).toEqual([4, 1, 3]);
  });

  it("of the history are the times of closing, without open ones; an edit is seen", async () => {
    const { as, approvals, places, clock } = await asked(["low", "high", "medium"]);
    const [low, high] = approvals;
    if (low === undefined || high === undefined) throw new Error("three were asked");
    const { approvalId, inputHash } = high;
    await as("paul").decide({ approvalId, decision: "ALLOW", inputHash, input: { word: "other" } });
    await clock.passHours(1);
    await as("paul").decide({ approvalId: low.approvalId, decision: "DENY" });
    expect(places(await pages(as("paul"), "LAST_CLOSED_FIRST"))).toEqual([0, 1]);
    expect((await page(as("paul"), "LAST_CLOSED_FIRST", {}, null)).nodes).toMatchObject([
      { state: "DENIED", isEdited: false },
      { state: "ALLOWED", isEdited: true },
    ]);
  });

  it("hold for the agents of one creator, beside what the viewer may see", async () => {
    const { as } = await asked(["low"]);
    const { approvalId } = await ask(as("ulf"), "high");
    expect(await pages(as("paul"), "OLDEST_FIRST", { createdBy: ["ulf"] })).toEqual([approvalId]);
    expect(await pages(as("anna"), "OLDEST_FIRST", { createdBy: ["ulf"] })).toEqual([]);
    expect(await pages(as("paul"), "OLDEST_FIRST")).toHaveLength(2);
  });
});
