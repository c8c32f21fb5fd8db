import { describe, expect, it } from "vitest";
import type { DatabaseConfig } from "../../../../src/db/database.ts";
import { InterruptAgentDocument } from "../../../generated/documents.ts";
import { ofType, textOf } from "../../../support/client.ts";
import { movableClock } from "../../../support/clock.ts";
import { testDatabaseUrl } from "../../../support/database.ts";
import { askHosts, openHosts, reachingOffice, REACHING_CONFIG, resultsOf } from "../../../support/hosts.ts";
import { approvalOf } from "../../../support/office.ts";

const REFUSED = "[The connection to a.example:443 was refused. ";

describe("a host that no rule allows", () => {
  it("is asked for in the commit of the call's end: the call is over, its result waits, and a yes is told behind it", async () => {
    const { as } = await reachingOffice();
    const { agent, asked, cursorBefore } = await askHosts(as("anna"), "reach A.example.:443");
    expect(asked).toMatchObject([
      {
        kind: "NETWORK_HOST",
        call: null,
        host: "a.example",
        port: 443,
        reason: expect.stringContaining("reach wants to connect to") as string,
      },
    ]);
    const before = await as("anna").events(agent);
    expect(ofType(before, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED", output: "A.example.:443 refused" } }]);
    const seqs = before
      .filter(({ __typename: type }) => type === "ToolEnd" || type === "PermissionRequired")
      .map(({ seq }) => seq);
    expect(Math.max(...seqs) - Math.min(...seqs)).toBeLessThanOrEqual(2);
    expect(await as("anna").agent(agent)).toMatchObject({ state: "PAUSED", breakpoint: "AWAITING_APPROVAL" });
    const waiting = await as("anna").post({ query: `{ agent(id: "${agent}") { waitingFor } }` });
    expect(waiting.data).toEqual({ agent: { waitingFor: "a person to decide on a.example:443" } });
    expect(await resultsOf(as("anna"), agent)).toEqual([]);

    const [open] = await openHosts(as("paul"));
    expect(open).toMatchObject({
      toolCall: null,
      subject: { __typename: "NetworkHost", host: "a.example", port: 443, toolCalls: [{ name: "reach" }] },
      input: { host: "a.example", port: 443 },
      requestedBy: [{ actorId: "anna" }],
    });
    await as("paul").decide({ approvalId: open?.id ?? "", inputHash: open?.inputHash ?? "", decision: "ALLOW" });
    const events = await as("anna").until(agent, "DONE", cursorBefore);
    expect(await resultsOf(as("anna"), agent)).toEqual([`A.example.:443 refused\n\n${REFUSED}It is allowed now: run it again.]`]);
    const [call] = (await as("anna").agent(agent)).toolCalls.nodes;
    expect(call).toMatchObject({ state: "COMPLETED", output: "A.example.:443 refused" });
    const { data } = await as("anna").post({
      query: `{ node(id: "${call?.id}") { ... on ToolCall { approvals { kind state subject { ... on NetworkHost { host port } } } } } }`,
    });
    expect(data).toEqual({
      node: { approvals: [{ kind: "NETWORK_HOST", state: "ALLOWED", subject: { host: "a.example", port: 443 } }] },
    });
    expect(ofType(events, "PermissionDecided")).toMatchObject([{ callId: null, approvalState: "ALLOWED" }]);
    expect(ofType(events, "ToolEnd")).toHaveLength(1);

    const again = await as("anna").turn(agent, "reach a.example:443");
    expect(textOf(again).trim()).toBe("a.example:443 reached");
    expect(ofType(again, "PermissionRequired")).toEqual([]);
  });

  it("is denied with the note for the model, and asked for again at the next try", async () => {
    const { as } = await reachingOffice();
    const { agent, question } = await askHosts(as("anna"), "reach a.example:443");
    await as("paul").decide({ approvalId: question.approvalId, decision: "DENY", note: "use the mirror" });
    await as("anna").until(agent, "DONE");
    expect(await resultsOf(as("anna"), agent)).toEqual([
      `a.example:443 refused\n\n${REFUSED}A person denied it: use the mirror]`,
    ]);
    expect((await askHosts(as("anna"), "reach a.example:443", 1, agent)).asked).toHaveLength(1);
  });

  it("that nobody answers expires, and the turn goes on", async () => {
    const clock = movableClock();
    const { app, as } = await reachingOffice({ approvalExpiresMs: 60 * 60 * 1_000 }, { overrides: { clock } });
    const { agent, question } = await askHosts(as("anna"), "reach a.example:443");
    await clock.passHours(2, [app.database]);
    const events = await as("anna").until(agent, "DONE");
    expect(ofType(events, "PermissionClosed")).toMatchObject([{ approvalState: "EXPIRED", callId: null }]);
    expect(await resultsOf(as("anna"), agent)).toEqual([
      `a.example:443 refused\n\n${REFUSED}Nobody answered whether it may be reached.]`,
    ]);
    const late = await as("paul").decide({
      ...question,
      decision: "ALLOW",
    });
    expect(late.userErrors).toMatchObject([
      { code: "EXPIRED", message: expect.stringContaining("the host stays closed") as string },
    ]);
  });

  it("is closed by an interrupt, and the turn ends with its result", async () => {
    const { as } = await reachingOffice();
    const { agent, question } = await askHosts(as("anna"), "reach a.example:443");
    await as("anna").get(InterruptAgentDocument, { input: { agentId: agent, note: "wait" } });
    const events = await as("anna").until(agent, "DONE");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "INTERRUPTED" }]);
    expect(ofType(events, "PermissionClosed")).toMatchObject([{ approvalState: "SEALED", callId: null }]);
    expect(await resultsOf(as("anna"), agent)).toEqual([
      `a.example:443 refused\n\n${REFUSED}The turn ended before anybody answered whether it may be reached.]`,
    ]);
    expect(await approvalOf(as("paul"), question.approvalId)).toMatchObject({ state: "SEALED" });
    expect(ofType(await as("anna").turn(agent, "hello"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });

  it("waits as rows: another server goes on with the answer (invariant 8)", async () => {
    const database: DatabaseConfig = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 };
    const first = await reachingOffice({}, { database });
    const { agent, question, rowId } = await askHosts(first.as("anna"), "reach a.example:443");
    const held = { name: "lease", text: `SELECT lease_owner, runnable_at, needs FROM agent WHERE id = $1` };
    expect(await first.app.database.sql.query(held, [rowId])).toEqual([{ lease_owner: null, runnable_at: null, needs: 2 }]);
    await first.app.close();
    const { app, as } = await reachingOffice(
      {},
      { database, config: { ...REACHING_CONFIG, workspaceRoots: [first.app.workspace] } },
    );
    const { approvalId, inputHash } = question;
    await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    expect(ofType(await as("anna").until(agent, "DONE"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(await resultsOf(as("anna"), agent)).toEqual([`a.example:443 refused\n\n${REFUSED}It is allowed now: run it again.]`]);
    expect(await app.database.sql.query(held, [rowId])).toMatchObject([{ needs: 0 }]);
  });
});

describe("several hosts of one step", () => {
  it("two calls that ask for the same host join one question, whose answer both are told", async () => {
    const { as } = await reachingOffice();
    const { agent, question } = await askHosts(as("anna"), "reach a.example:443, a.example:443");
    expect(await openHosts(as("paul"))).toMatchObject([{ subject: { toolCalls: [{ name: "reach" }, { name: "reach" }] } }]);
    await as("paul").decide({
      ...question,
      decision: "ALLOW",
    });
    await as("anna").until(agent, "DONE");
    const line = `a.example:443 refused\n\n${REFUSED}It is allowed now: run it again.]`;
    expect(await resultsOf(as("anna"), agent)).toEqual([line, line]);
    expect(ofType(await as("anna").events(agent), "PermissionRequired")).toHaveLength(1);
  });

  it("the results join when the last is answered, each call with its own answers in order", async () => {
    const { as } = await reachingOffice();
    const { agent, asked } = await askHosts(as("anna"), "reach b.example:443 a.example:8443, b.example:443 c.example:80", 3);
    const decide = async (host: string, decision: "ALLOW" | "DENY"): Promise<void> => {
      const request = asked.find((each) => each.host === host);
      if (request === undefined) throw new Error(`${host} was not asked for`);
      const { approvalId, inputHash } = request;
      expect((await as("paul").decide({ approvalId, inputHash, decision })).userErrors).toEqual([]);
    };
    await decide("b.example", "ALLOW");
    await decide("c.example", "DENY");
    expect(await openHosts(as("paul"))).toMatchObject([{ subject: { host: "a.example", port: 8443 } }]);
    expect(await resultsOf(as("anna"), agent)).toEqual([]);
    await decide("a.example", "ALLOW");
    await as("anna").until(agent, "DONE");
    const refused = (host: string, answer: string): string => `[The connection to ${host} was refused. ${answer}]`;
    const allowed = "It is allowed now: run it again.";
    expect(await resultsOf(as("anna"), agent)).toEqual([
      `b.example:443 refused\na.example:8443 refused\n\n${refused("a.example:8443", allowed)}\n${refused("b.example:443", allowed)}`,
      `b.example:443 refused\nc.example:80 refused\n\n${refused("b.example:443", allowed)}\n${refused("c.example:80", "A person denied it.")}`,
    ]);
  });

  it("one call asks for 20 at most, and says how many it left out; what a rule denies is not asked for", async () => {
    const { as } = await reachingOffice({ permission: { mode: "auto", deny: ["network(host:*.evil.example)"] } });
    const hosts = Array.from({ length: 23 }, (_, index) => `h${index}.example:443`).join(" ");
    const { agent, asked } = await askHosts(as("anna"), `reach a.evil.example:443 ${hosts}`, 20);
    expect(asked).toHaveLength(20);
    for (const { approvalId } of asked) await as("paul").decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");
    const [result = ""] = await resultsOf(as("anna"), agent);
    expect(result.match(/A person denied it/g)).toHaveLength(20);
    expect(result).toContain("[Connections to 3 more hosts were refused.");
    expect(result).toContain("a.evil.example:443 refused");
    expect(result).not.toContain("connection to a.evil.example");
  });

  it("a message that comes meanwhile joins behind the results", async () => {
    const { as } = await reachingOffice();
    const { agent, question } = await askHosts(as("anna"), "reach a.example:443");
    await as("anna").send(agent, "and hello");
    expect(await resultsOf(as("anna"), agent)).toEqual([]);
    await as("paul").decide({ approvalId: question.approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");
    const { messages } = await as("anna").agent(agent);
    expect(messages.nodes.map(({ kind }) => kind)).toEqual(["USER", "ASSISTANT", "TOOL_RESULTS", "USER", "ASSISTANT"]);
  });
});
