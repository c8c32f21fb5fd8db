import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";
import { movableClock } from "../support/clock.ts";
import { DelegateApprovalsDocument } from "../generated/documents.ts";
import { connect, type TestClient } from "../support/client.ts";
import { ask, office } from "../support/office.ts";

const VIEWER = "{ viewer { actor { actorId kind } tenant roles delegators { actorId } abilities { action isAllowed reason } } }";

type Viewer = {
  readonly roles: readonly string[];
  readonly delegators: readonly { readonly actorId: string }[];
  readonly abilities: readonly { readonly action: string; readonly isAllowed: boolean; readonly reason: string | null }[];
};

async function viewerOf(client: TestClient): Promise<Viewer> {
  const { data, errors } = await client.post<{ viewer: Viewer }>({ query: VIEWER });
  if (data === null) throw new Error(JSON.stringify(errors));
  return data.viewer;
}

const allowed = ({ abilities }: Viewer): string[] => abilities.flatMap(({ action, isAllowed }) => (isAllowed ? [action] : []));

describe("viewer", () => {
  it("says who asks and what they may do, and why not the rest", async () => {
    const { as } = await office();
    const anna = await viewerOf(as("anna"));
    expect(anna).toMatchObject({ actor: { actorId: "anna", kind: "USER" }, tenant: "acme", roles: ["USER"], delegators: [] });
    expect(allowed(anna)).toEqual(["CREATE_AGENTS", "CREATE_ACCESS_TOKENS"]);
    expect(anna.abilities.find(({ action }) => action === "DECIDE")?.reason).toContain("needs the role approver or admin");
    expect(allowed(await viewerOf(as("vera")))).toEqual(["READ_TENANT", "CREATE_ACCESS_TOKENS"]);
    expect(allowed(await viewerOf(as("paul")))).toEqual([
      "READ_TENANT",
      "DECIDE",
      "STORE_ALLOW_RULES",
      "DELEGATE",
      "CREATE_ACCESS_TOKENS",
    ]);
    const ada = await viewerOf(as("ada"));
    expect(ada.abilities.every(({ isAllowed, reason }) => isAllowed && reason === null)).toBe(true);
  });

  it("names those who delegate to the actor, and what comes of it", async () => {
    const { as } = await office();
    const until = new Date(Date.now() + 60_000).toISOString();
    await as("paul").get(DelegateApprovalsDocument, { input: { toActorId: "ulf", until } });
    const ulf = await viewerOf(as("ulf"));
    expect(ulf.delegators).toEqual([{ actorId: "paul" }]);
    expect(allowed(ulf)).toContain("DECIDE");
    expect(allowed(ulf)).not.toContain("STORE_ALLOW_RULES");
  });
});

describe("viewer.server", () => {
  it("is the server that answers, by the id of its log, and its version", async () => {
    const serverId = randomUUID();
    const app = await startTestApp({ overrides: { serverId, version: { version: "1.2.3", commit: null } } });
    const { data } = await connect(app.url).post({ query: "{ viewer { server { serverId version commit } } }" });
    expect(data).toEqual({ viewer: { server: { serverId, version: "1.2.3", commit: null } } });
  });
});

describe("viewerCanDecide", () => {
  const standing = async (client: TestClient): Promise<unknown> => {
    const { data } = await client.post<{ approvals: { nodes: unknown[] } }>({
      query: "{ approvals { nodes { requestedBy { actorId kind } viewerCanDecide viewerCannotDecideReasons } } }",
    });
    return data?.approvals.nodes[0];
  };
  const asked = [{ actorId: "anna", kind: "USER" }];
  const may = { requestedBy: asked, viewerCanDecide: true, viewerCannotDecideReasons: [] };
  const mayNot = (...reasons: string[]): object => ({
    requestedBy: asked,
    viewerCanDecide: false,
    viewerCannotDecideReasons: reasons,
  });

  it("agrees with decideApproval: roles, who asked, quorum, and what is closed", async () => {
    const { as } = await office({ approvalQuorum: 2 });
    const { approvalId, inputHash } = await ask(as("anna"));
    expect(await standing(as("anna"))).toEqual(mayNot("NO_ROLE"));
    expect(await standing(as("vera"))).toEqual(mayNot("NO_ROLE"));
    expect(await standing(as("paul"))).toEqual(may);
    await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    expect(await standing(as("paul"))).toEqual(mayNot("ALREADY_DECIDED"));
    expect(await standing(as("ada"))).toEqual(may);
    await as("ada").decide({ approvalId, inputHash, decision: "DENY" });
    expect(await standing(as("ada"))).toEqual(mayNot("CLOSED", "ALREADY_DECIDED"));
  });

  it("is false for who asked, and when the time is up", async () => {
    const clock = movableClock();
    const { app, as } = await office({ approvalExpiresMs: 60_000 }, { overrides: { clock } });
    await ask(as("ada"));
    expect(await standing(as("ada"))).toMatchObject({ viewerCannotDecideReasons: ["SELF_APPROVAL"] });
    await clock.passHours(1, [app.database]);
    expect(await standing(as("paul"))).toMatchObject({
      viewerCanDecide: false,
      viewerCannotDecideReasons: ["EXPIRED"],
    });
  });
});
