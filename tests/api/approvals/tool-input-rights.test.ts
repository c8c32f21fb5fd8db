import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  AllowRuleProposalDocument,
  ApprovalsDocument,
  CheckApprovalInputDocument,
  type DecideApprovalInput,
  InterruptAgentDocument,
} from "../../generated/documents.ts";
import { rowId } from "../../../src/lib/global-id.ts";
import type { TemplateConfig } from "../../../src/triplane.ts";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp, temporaryFolder, type TestAppOptions } from "../../support/app.ts";
import { connect, ofType, type TestClient } from "../../support/client.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { loseLeases, SHORT_LEASES } from "../../support/lost-leases.ts";
import { allowed, appWith } from "../../support/mcp-app.ts";
import { asked, askedBy, asks, inputsOf, openQuestion, roundsServer } from "../../support/mcp-asking.ts";
import { ownServer, QUICK } from "../../support/mcp.ts";
import { callsWith, playedModel, says } from "../../support/models.ts";
import { ACTORS, PEOPLE } from "../../support/office.ts";
import { first, lead, task, teamModel, worker } from "../../support/team.ts";

const oneRound = () =>
  roundsServer(({ inputResponses }) =>
    inputResponses === undefined ? { inputRequests: { one: asks() }, requestState: "s" } : null,
  );
const approvalsOf = async (client: TestClient, id: string) =>
  (await client.get(ApprovalsDocument, { filter: { agentIds: [id] } })).approvals.nodes.toSorted((one, other) =>
    rowId("Approval", one.id) < rowId("Approval", other.id) ? -1 : 1,
  );
const CITY = { values: { city: "Bonn" } };

describe("the people who answer a question of a tool", () => {
  it("are those who decide on calls: no requester, no viewer, nobody of another tenant", async () => {
    const zoe = tokenActor("zoe", ["admin"], "other");
    const app = await startTestApp({
      model: playedModel(
        () => callsWith(["mcp__own__work", {}]),
        () => says("Done."),
      ),
      template: { ...allowed("own"), selfApproval: false },
      config: { actors: [...(ACTORS.actors ?? []), zoe.actor], mcpServers: { own: { url: (await oneRound()).url } } },
      overrides: { mcpTimes: QUICK },
    });
    const as = (token: string) => connect(app.url, token);
    const anna = as(PEOPLE.anna.token);
    const { id, cursor } = await anna.createAgent();
    await anna.send(id, "go");
    await anna.until(id, "PERMISSION_REQUIRED", cursor);
    const open = await openQuestion(anna, id);
    expect(open.viewerCanDecide).toBe(false);
    const answers = async (token: string) =>
      (await as(token).decide({ approvalId: open.id, decision: "ALLOW", inputHash: open.inputHash, ...CITY })).userErrors.map(
        ({ code }) => code,
      );
    expect(await answers(PEOPLE.anna.token)).toEqual(["FORBIDDEN"]);
    expect(await answers(PEOPLE.vera.token)).toEqual(["FORBIDDEN"]);
    expect(await answers(zoe.token)).toEqual(["NOT_FOUND"]);
    expect(await inputsOf(as(zoe.token), id)).toEqual([]);
    const proposal = await as(PEOPLE.paul.token).get(AllowRuleProposalDocument, { approvalId: open.id });
    expect(proposal.allowRuleProposal.proposal).toBeNull();
    expect(await answers(PEOPLE.paul.token)).toEqual([]);
    await anna.until(id, "DONE", cursor);
    expect((await anna.agent(id)).toolCalls.nodes[0]?.state).toBe("COMPLETED");
  });

  it("may be asked by a child: the question has its path, and is answered from the inbox of the whole tree", async () => {
    const asking = { ...worker, ...allowed("own"), selfApproval: true } as TemplateConfig;
    const model = teamModel({ lead: [first(task())], worker: [first(["mcp__own__work", {}])] });
    const app = await startTestApp({
      model,
      config: {
        templates: { assistant: lead, worker: asking } as Record<string, TemplateConfig>,
        mcpServers: { own: { url: (await oneRound()).url } },
      },
      overrides: { mcpTimes: QUICK },
    });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    await client.send(id, "go");
    const nodes = async () =>
      (
        await client.post<{ approvals: { nodes: { id: string; inputHash: string; agentPath: { id: string }[] }[] } }>({
          query: "{ approvals(filter: { kinds: [TOOL_INPUT], states: [PENDING] }) { nodes { id inputHash agentPath { id } } } }",
        })
      ).data?.approvals.nodes ?? [];
    await expect.poll(async () => (await nodes()).length, { timeout: 10_000 }).toBe(1);
    const [open] = await nodes();
    expect(open?.agentPath).toHaveLength(2);
    expect(open?.agentPath[0]).toEqual({ id });
    await client.decide({ approvalId: open?.id ?? "", decision: "ALLOW", inputHash: open?.inputHash ?? "", ...CITY });
    const events = await client.until(id, "DONE");
    expect(ofType(events, "AgentReturned")).toMatchObject([{ outcome: "OK" }]);
  });

  it("are not a listener that gives no values; with values it answers", async () => {
    const refused: unknown[] = [];
    const { client } = await appWith({ own: { url: (await oneRound()).url } }, ["mcp__own__work", {}], {
      template: { ...allowed("own"), selfApproval: true },
      config: {
        on: {
          PERMISSION_REQUIRED: async ({ request: { approvalId, inputHash } }, { decide }) => {
            const said = { as: "bot", approvalId, decision: "ALLOW", inputHash } as const;
            const bare = await decide(said);
            refused.push(bare.ok ? "answered" : bare.refusal.field);
            await decide({ ...said, ...CITY });
          },
        },
      },
    });
    const { id, cursor } = await client.createAgent();
    await client.send(id, "go");
    await client.until(id, "DONE", cursor);
    expect(refused).toEqual([["values"]]);
  });
});

describe("a call that continues with the answer to a question", () => {
  /** A call whose hook asks from its second round on, with the approval of that. */
  const askedAgain = async (options: TestAppOptions = {}, most = 2) => {
    const server = await roundsServer((_sent, count) =>
      count < most ? { inputRequests: { [`q${count}`]: asks() }, requestState: `s${count}` } : null,
    );
    let isAsking = false;
    const asking = () => (isAsking ? ({ decision: "ask", reason: "look first" } as const) : undefined);
    const template = { ...allowed("own"), selfApproval: true, hooks: { preToolUse: [asking] }, ...options.template };
    const given = await asked(server.url, { ...options, template });
    isAsking = true;
    expect((await given.question.answer(CITY)).userErrors).toEqual([]);
    const { client, id } = given;
    await expect.poll(async () => (await approvalsOf(client, id)).length).toBe(2);
    const [, again] = await approvalsOf(client, id);
    expect(again).toMatchObject({ kind: "TOOL_CALL", state: "PENDING", reason: expect.stringContaining("look first") });
    const decide = (said: Partial<DecideApprovalInput>) =>
      client.decide({ approvalId: again?.id ?? "", inputHash: again?.inputHash ?? "", decision: "ALLOW", ...said });
    return { ...given, server, decide };
  };

  it("is asked for again if a hook asks meanwhile, and continues with the same answer", async () => {
    const { client, id, cursor, server, decide } = await askedAgain();
    expect((await decide({})).userErrors).toEqual([]);
    const events = await client.until(id, "DONE", cursor);
    expect((await client.agent(id)).toolCalls.nodes).toMatchObject([
      { state: "COMPLETED", output: expect.stringContaining("Bonn") },
    ]);
    expect(server.rounds.map(({ requestState }) => requestState)).toEqual([undefined, "s1"]);
    expect(ofType(events, "ToolStart")).toHaveLength(1);
  });

  it("has further rounds after that, each with a question to a person; it is allowed once", async () => {
    const { client, id, cursor, server, decide } = await askedAgain({}, 4);
    await decide({});
    for (const count of [2, 3]) {
      await expect.poll(async () => (await inputsOf(client, id)).filter(({ state }) => state === "PENDING").length).toBe(1);
      expect(server.rounds).toHaveLength(count);
      await (await openQuestion(client, id)).answer(CITY);
    }
    await client.until(id, "DONE", cursor);
    expect((await client.agent(id)).toolCalls.nodes).toMatchObject([{ state: "COMPLETED" }]);
    expect((await approvalsOf(client, id)).map(({ kind }) => kind)).toEqual([
      "TOOL_INPUT",
      "TOOL_CALL",
      "TOOL_INPUT",
      "TOOL_INPUT",
    ]);
    expect(server.rounds.map(({ requestState }) => requestState)).toEqual([undefined, "s1", "s2", "s3"]);
  });

  it("ends if a person denies it then, and says that it may have had effects", async () => {
    const { client, id, cursor, server, decide } = await askedAgain();
    const { userErrors } = await decide({ input: {} });
    expect(userErrors).toMatchObject([{ code: "INVALID", field: ["input"] }]);
    const open = (await approvalsOf(client, id)).find(({ state }) => state === "PENDING");
    const checked = await client.get(CheckApprovalInputDocument, { approvalId: open?.id ?? "", input: {} });
    expect(checked.checkApprovalInput).toMatchObject({
      problems: userErrors.map(({ code, field, message }) => ({ code, field, message })),
      inputHash: null,
    });
    expect((await decide({ decision: "DENY", note: "not so" })).userErrors).toEqual([]);
    await client.until(id, "DONE", cursor);
    const [call] = (await client.agent(id)).toolCalls.nodes;
    expect(call).toMatchObject({ state: "SEALED", output: expect.stringContaining("whether it had effects is unknown") });
    expect(call?.output).toContain("not so");
    expect(server.rounds).toHaveLength(1);
  });

  it("ends if nobody decides then, and if the turn is interrupted", async () => {
    const template = { ...allowed("own"), selfApproval: true, approvalExpiresMs: 3_000 } as const;
    const late = await askedAgain({ template });
    await late.client.until(late.id, "DONE", late.cursor);
    const stopped = await askedAgain();
    await stopped.client.get(InterruptAgentDocument, { input: { agentId: stopped.id } });
    await stopped.client.until(stopped.id, "DONE", stopped.cursor);
    for (const { client, id, server } of [late, stopped]) {
      expect((await client.agent(id)).toolCalls.nodes).toMatchObject([
        { state: "SEALED", output: expect.stringContaining("whether it had effects is unknown") },
      ]);
      expect(server.rounds).toHaveLength(1);
    }
  });

  it("continues on another server, which asks for it as well", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const { app, id, server } = await askedAgain({ database });
    await app.close();
    const { client } = await appWith({ own: { url: server.url } }, ["mcp__own__work", {}], {
      template: {
        ...allowed("own"),
        selfApproval: true,
        hooks: { preToolUse: [() => ({ decision: "ask", reason: "look first" })] },
      },
      database,
      config: { workspaceRoots: [app.workspace], defaultWorkspace: app.workspace },
    });
    const open = (await approvalsOf(client, id)).find(({ state }) => state === "PENDING");
    await client.decide({ approvalId: open?.id ?? "", inputHash: open?.inputHash ?? "", decision: "ALLOW" });
    await client.until(id, "DONE");
    expect((await client.agent(id)).toolCalls.nodes).toMatchObject([{ state: "COMPLETED" }]);
    expect(server.rounds.map(({ requestState }) => requestState)).toEqual([undefined, "s1"]);
  }, 30_000);

  it("runs again if a person has allowed the call itself", async () => {
    const server = await oneRound();
    const { client } = await appWith({ own: { url: server.url } }, ["mcp__own__work", {}], {
      template: { permission: { mode: "auto", ask: ["mcp__own__*"] }, selfApproval: true },
    });
    const { id, cursor } = await client.createAgent();
    await client.send(id, "go");
    for await (const { events } of client.timeline({ agentId: id, since: cursor, until: "DONE" }))
      for (const { request } of ofType(events, "PermissionRequired")) {
        const { approvalId, inputHash, kind } = request;
        await client.decide({ approvalId, inputHash, decision: "ALLOW", ...(kind === "TOOL_INPUT" ? CITY : {}) });
      }
    expect((await client.agent(id)).toolCalls.nodes.at(-1)).toMatchObject({ state: "COMPLETED" });
    expect(server.rounds).toHaveLength(2);
  });
});

describe("a server that dies while a question of a tool is open", () => {
  it("is replaced by any other: the call of the newer generation continues with its kept state, once", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const mcp = await oneRound();
    const folder = await temporaryFolder();
    const model = playedModel(
      () => callsWith(["mcp__own__work", {}]),
      () => says("Done."),
    );
    const options = {
      model,
      database,
      template: { ...allowed("own"), selfApproval: true },
      config: { mcpServers: { own: { url: mcp.url } }, workspaceRoots: [folder], defaultWorkspace: folder },
      overrides: { mcpTimes: QUICK },
    };
    const one = await startTestApp(options);
    const before = connect(one.url);
    const { id, cursor } = await before.createAgent();
    await before.send(id, "go");
    await before.until(id, "PERMISSION_REQUIRED", cursor);
    await one.close();
    const two = await startTestApp(options);
    const client = connect(two.url);
    expect((await (await openQuestion(client, id)).answer(CITY)).userErrors).toEqual([]);
    await client.until(id, "DONE", cursor);
    expect(mcp.rounds.map(({ requestState }) => requestState)).toEqual([undefined, "s"]);
    const events = await client.events(id);
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED" } }]);
    expect(ofType(events, "ToolStart")).toHaveLength(1);
  });

  it("leaves the call of the older generation with an unknown outcome, and its question closed", async () => {
    const { app, client, id, cursor, question } = await askedBy(
      { own: ownServer("asking.mjs") },
      ["mcp__own__work", { ask: asks().params }],
      {
        overrides: { leaseTimes: SHORT_LEASES },
      },
    );
    await loseLeases(app);
    await client.until(id, "DONE", cursor);
    expect((await client.agent(id)).toolCalls.nodes[0]?.state).toBe("SEALED");
    expect((await inputsOf(client, id)).map(({ state }) => state)).toEqual(["SEALED"]);
    expect((await question.answer(CITY)).userErrors).toMatchObject([{ code: "SEALED" }]);
  });

  it("loses the connection with its process: the call fails, and the question is closed", async () => {
    const { client, id, cursor, question } = await askedBy({ own: ownServer("asking.mjs") }, [
      "mcp__own__work",
      { ask: asks().params, exitAfterMs: 300 },
    ]);
    await client.until(id, "DONE", cursor);
    expect((await client.agent(id)).toolCalls.nodes[0]).toMatchObject({ state: "FAILED" });
    expect((await inputsOf(client, id)).map(({ state }) => state)).toEqual(["SEALED"]);
    expect((await question.answer(CITY)).userErrors).toMatchObject([{ code: "SEALED" }]);
  });
});

it("a question of the older generation is refused while several agents have calls at the server", async () => {
  const { client, id, cursor, question } = await askedBy({ own: ownServer("asking.mjs") }, [
    "mcp__own__work",
    { ask: asks().params },
  ]);
  const other = await client.createAgent();
  await client.turn(other.id, "go");
  const call = (await client.agent(other.id)).toolCalls.nodes[0];
  expect(call?.output).toContain("several calls are under way");
  await question.answer(CITY);
  await client.until(id, "DONE", cursor);
  expect((await client.agent(id)).toolCalls.nodes[0]?.state).toBe("COMPLETED");
});

it("a server that is told its roots asks people for calls in several folders at a time", async () => {
  const given = await askedBy({ own: { ...ownServer("asking.mjs"), roots: "told" } }, [
    "mcp__own__work",
    { roots: true, ask: asks().params },
  ]);
  const { app, client, id, cursor, question } = given;
  const workspace = join(app.workspace, "inner");
  await mkdir(workspace);
  const other = await client.createAgent({ workspace });
  await client.send(other.id, "go");
  await client.until(other.id, "PERMISSION_REQUIRED", other.cursor);
  await question.answer(CITY);
  await client.until(id, "DONE", cursor);
  await (await openQuestion(client, other.id)).answer(CITY);
  await client.until(other.id, "DONE", other.cursor);
  for (const each of [id, other.id])
    expect((await client.agent(each)).toolCalls.nodes.at(-1)).toMatchObject({ state: "COMPLETED" });
});
