import { describe, expect, it } from "vitest";
import { DecideApprovalDocument, RetryTurnDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";
import { callsWith, says } from "../support/models.ts";
import { ACTORS, inbox, PEOPLE } from "../support/office.ts";
import { first, lead, task, teamModel, worker, type Player } from "../support/team.ts";

const write: Player = () => callsWith(["fs_write", { path: "a.txt", content: "a" }]);

/** An agent of pia's that has started a child in the background, and goes on so when the child ends. */
async function afterChild(
  ...next: readonly Player[]
): Promise<{ pia: TestClient; ada: TestClient; id: string; finish: () => void }> {
  const finished = Promise.withResolvers<void>();
  const slow: Player = async function* () {
    await finished.promise;
    yield* says("Counted.");
  };
  const model = teamModel({ lead: [first(task({ background: true })), () => says("Started."), ...next], worker: [slow] });
  const assistant = {
    ...lead,
    systemPrompt: "lead",
    model: "test",
    modelRetries: 0,
    selfApproval: false,
    permission: { mode: "auto", ask: ["fs_write"] },
  };
  const templates = { assistant, worker: { ...worker, systemPrompt: "worker", model: "test" } };
  const app = await startTestApp({ model, config: { ...ACTORS, templates } });
  const pia = connect(app.url, PEOPLE.pia.token);
  const { id } = await pia.createAgent();
  await pia.send(id, "go");
  await pia.until(id, "DONE");
  return { pia, ada: connect(app.url, PEOPLE.ada.token), id, finish: finished.resolve };
}

const fails: Player = async function* () {
  yield* [];
  throw new Error("no such model");
};

/** Those who asked for the open approval. */
async function askedBy(client: TestClient): Promise<readonly string[]> {
  const query =
    "query ($by: [ID!]) { approvals(filter: { states: [PENDING], requestedBy: $by }) { nodes { requestedBy { actorId } } } }";
  const asked = async (by: readonly string[] | null): Promise<readonly string[]> => {
    const variables = { by };
    const { data } = await client.post<{ approvals: { nodes: { requestedBy: { actorId: string }[] }[] } }>({ query, variables });
    return (data?.approvals.nodes ?? []).flatMap(({ requestedBy }) => requestedBy.map(({ actorId }) => actorId)).toSorted();
  };
  const requesters = await asked(null);
  // The filter finds what the field says.
  for (const requester of requesters) expect(await asked([requester])).toEqual(requesters);
  expect(await asked(["somebody else"])).toEqual([]);
  return requesters;
}

/** The codes with which pia's own decision on the open approval is refused. */
async function refusals(pia: TestClient): Promise<readonly string[]> {
  const [approval] = await inbox(pia, { states: ["PENDING"] });
  const input = { approvalId: approval?.id ?? "", decision: "ALLOW", inputHash: approval?.inputHash ?? "" } as const;
  return (await pia.get(DecideApprovalDocument, { input })).decideApproval.userErrors.map(({ code }) => code);
}

describe("a turn that the end of a child in the background begins", () => {
  it("is asked for by those who asked for the child: they do not decide its approvals themselves", async () => {
    const { pia, id, finish } = await afterChild(write);
    const { cursor } = await pia.agent(id);
    finish();
    await pia.until(id, "PERMISSION_REQUIRED", cursor);
    expect(await refusals(pia)).toEqual(["SELF_APPROVAL"]);
  });

  it("is theirs as well when it is retried", async () => {
    const { pia, id, finish } = await afterChild(fails, write);
    const { cursor } = await pia.agent(id);
    finish();
    await pia.until(id, "DONE", cursor);
    const { cursor: failed } = await pia.agent(id);
    await pia.get(RetryTurnDocument, { input: { agentId: id } });
    await pia.until(id, "PERMISSION_REQUIRED", failed);
    expect(await refusals(pia)).toEqual(["SELF_APPROVAL"]);
  });

  it("is theirs when another person's message joins its retry", async () => {
    const sent = Promise.withResolvers<void>();
    const looks: Player = async function* () {
      await sent.promise;
      yield* callsWith(["fs_glob", { pattern: "*" }]);
    };
    const { pia, ada, id, finish } = await afterChild(fails, looks, write);
    const { cursor } = await pia.agent(id);
    finish();
    await pia.until(id, "DONE", cursor);
    const { cursor: failed } = await pia.agent(id);
    await pia.get(RetryTurnDocument, { input: { agentId: id } });
    await pia.until(id, "STATE_CHANGED", failed);
    await ada.send(id, "and this");
    sent.resolve();
    await pia.until(id, "PERMISSION_REQUIRED", failed);
    expect(await refusals(pia)).toEqual(["SELF_APPROVAL"]);
    expect(await askedBy(pia)).toEqual(["ada", "pia"]);
  });

  it("is not theirs alone: a message of another person after it begins a turn that only that person asked for", async () => {
    const { pia, ada, id, finish } = await afterChild(() => says("Counted."), write);
    const { cursor } = await pia.agent(id);
    finish();
    await pia.until(id, "DONE", cursor);
    const { cursor: ended } = await pia.agent(id);
    await ada.send(id, "write it");
    await pia.until(id, "PERMISSION_REQUIRED", ended);
    expect(await askedBy(pia)).toEqual(["ada"]);
  });
});
