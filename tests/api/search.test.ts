import { describe, expect, it } from "vitest";
import { SearchDocument } from "../generated/documents.ts";
import type { TestClient } from "../support/client.ts";
import { ask, office } from "../support/office.ts";

async function found(client: TestClient, text: string) {
  return (await client.get(SearchDocument, { text })).search;
}

const NOTHING = { agents: [], approvals: [], toolCalls: [] };

describe("a search by a part of an id", () => {
  it("finds agents, approvals and calls by their short, their whole and their Relay id", async () => {
    const { as } = await office();
    const { agent, approvalId, request } = await ask(as("anna"));
    const callId = request.call?.callId ?? "";
    const short = callId.slice(-8);
    // A new call is in the audit after its fold.
    await expect
      .poll(async () => found(as("paul"), short), { timeout: 10_000 })
      .toMatchObject({
        toolCalls: [{ callId, shortId: short }],
      });
    for (const text of [callId, callId.toUpperCase(), `#${short}`, ` ${callId.slice(-4)} `])
      expect((await found(as("paul"), text)).toolCalls, text).toMatchObject([{ callId }]);
    const { agents } = await found(as("paul"), agent);
    expect(agents).toMatchObject([{ id: agent }]);
    expect((await found(as("paul"), agents[0]?.shortId ?? "")).agents).toEqual(agents);
    const { approvals } = await found(as("paul"), approvalId);
    expect(approvals).toMatchObject([{ id: approvalId }]);
    expect((await found(as("paul"), approvals[0]?.shortId ?? "")).approvals).toEqual(approvals);
  });

  it("finds no object of others, nor by a text that is no end of an id (invariant 12)", async () => {
    const { as } = await office();
    const { agent, approvalId } = await ask(as("anna"));
    for (const text of [agent, approvalId]) {
      expect(await found(as("anna"), text)).not.toEqual(NOTHING);
      expect(await found(as("ulf"), text)).toEqual(NOTHING);
    }
    for (const text of ["", "abc", "%%%%", "____", "write", "0".repeat(40), "a\0bc", "QWdlbnQ6"])
      expect(await found(as("ada"), text), text).toEqual(NOTHING);
  });
});
