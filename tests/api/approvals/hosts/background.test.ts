import { expect, it, onTestFinished, vi } from "vitest";
import type { Actor } from "../../../../src/agent/actors/actor.ts";
import { readApprovals } from "../../../../src/agent/approvals/approval.ts";
import { decideApproval } from "../../../../src/agent/approvals/decide.ts";
import { expireApproval } from "../../../../src/agent/approvals/expire.ts";
import { askInBackground } from "../../../../src/agent/approvals/hosts/ask-host.ts";
import { HostGate, ProgramHosts, type AskInBackground } from "../../../../src/agent/calls/hosts/call-hosts.ts";
import { StorageUnavailable } from "../../../../src/db/storage-error.ts";
import { commitEnd } from "../../../../src/agent/calls/shells/ended.ts";
import type { StartedShell } from "../../../../src/agent/calls/shells/rows.ts";
import type { ShellEnd } from "../../../../src/agent/tools/bash/shells.ts";
import { EventLog } from "../../../../src/events/log.ts";
import { shellRow, withoutShell } from "../../../support/shell-row.ts";
import { beforeCommit } from "../../../support/writes.ts";
import { InterruptAgentDocument } from "../../../generated/documents.ts";
import { globalId, rowId } from "../../../../src/lib/global-id.ts";
import type { TestApp } from "../../../support/app.ts";
import { callsWith, playedModel, says } from "../../../support/models.ts";
import { ofType, type TestClient } from "../../../support/client.ts";
import { askHosts, openHosts, reachingOffice, resultsOf } from "../../../support/hosts.ts";
import { approvalOf, inbox } from "../../../support/office.ts";

const PLAIN = { templateVersion: null, permission: null } as const;

/** An agent with a call that has ended, and a program of the call's that goes on: a background shell. */
async function withProgram({ services, database: { sql } }: TestApp, client: TestClient) {
  const { id } = await client.createAgent();
  await client.turn(id, "reach 10.0.0.1:80");
  const [call] = (await client.agent(id)).toolCalls.nodes;
  const agent = { id: rowId("Agent", id), tenant: "acme", createdBy: "anna", templateId: "assistant", ...PLAIN };
  const program = { agent, callId: call?.callId ?? "" };
  const acme = services.of("acme");
  const template = acme.templates.get("assistant");
  if (template === undefined) throw new Error("the template is configured");
  const ask: AskInBackground = async (each, host) => askInBackground(acme, each, host);
  const started = (asking = (real: AskInBackground) => real): ProgramHosts =>
    new ProgramHosts(new HostGate(acme, agent, template), program, asking(ask));
  const leave = (more: { readonly command?: string } = {}) =>
    shellRow(sql, { tenant: "acme", agentId: agent.id, createdBy: "anna", callId: program.callId, ...more }, services.serverId);
  const shell = await leave();
  const end = async (ended: StartedShell, endReason: ShellEnd["endReason"] = "EXITED") =>
    commitEnd(acme, ended, { endReason, exitCode: 0, signal: null }, services.serverId, new Date());
  return { id, agent, program, started, shell, leave, end };
}

/** The texts that were said to the model and came from nobody. */
async function notesTo(client: TestClient, id: string): Promise<readonly string[]> {
  const { messages } = await client.agent(id);
  return messages.nodes.flatMap(({ text }) => (text?.startsWith("[Programs in the background") === true ? [text] : []));
}

it("a program in the background asks once, nothing waits, and the answer is told at the next step, once", async () => {
  const { app, as } = await reachingOffice();
  const { id, started, shell } = await withProgram(app, as("anna"));
  const hosts = started();
  expect(
    await Promise.all([hosts.mayReach("a.example", 443), hosts.mayReach("A.example", 443), hosts.mayReach("b.example", 80)]),
  ).toEqual([false, false, false]);
  expect(await started().mayReach("a.example", 443)).toBe(false);
  const open = await openHosts(as("paul"));
  expect(open.map(({ reason }) => reason)).toEqual([
    `the background shell ${shell.id} (sleep 300) wants to connect to a.example:443, which no rule allows: ALLOW opens its ports 443 and 80`,
    `the background shell ${shell.id} (sleep 300) wants to connect to b.example:80, which no rule allows: ALLOW opens its ports 443 and 80`,
  ]);
  expect(open.map(({ subject, requestedBy }) => [subject, requestedBy])).toMatchObject([
    [{ host: "a.example", port: 443, toolCalls: [{ name: "reach" }] }, [{ actorId: "anna" }]],
    [{ host: "b.example", port: 80 }, [{ actorId: "anna" }]],
  ]);
  expect(await inbox(as("paul"), { requestedBy: ["anna"], kinds: ["NETWORK_HOST"] })).toHaveLength(2);
  // Nothing waits: the agent goes on, and is told of nothing yet.
  expect(ofType(await as("anna").turn(id, "hello"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  expect(await notesTo(as("anna"), id)).toEqual([]);

  await as("paul").decide({ approvalId: open[0]?.id ?? "", inputHash: open[0]?.inputHash ?? "", decision: "ALLOW" });
  await as("paul").decide({ approvalId: open[1]?.id ?? "", decision: "DENY", note: "not that one" });
  expect(await hosts.mayReach("a.example", 443)).toBe(true);
  await as("anna").turn(id, "hello");
  const note = [
    "[Programs in the background tried to reach hosts.]",
    `[The connection of the background shell ${shell.id} (sleep 300) to a.example:443 was refused. It is allowed now: run it again.]`,
    `[The connection of the background shell ${shell.id} (sleep 300) to b.example:80 was refused. A person denied it: not that one]`,
  ].join("\n");
  expect(await notesTo(as("anna"), id)).toEqual([note]);
  await as("anna").turn(id, "hello");
  expect(await notesTo(as("anna"), id)).toEqual([note]);
  // What was denied is not asked for again by the same program.
  expect(await started().mayReach("b.example", 80)).toBe(false);
  expect(await openHosts(as("paul"))).toEqual([]);
});

it("a call that asks for the same host joins the program's question, and both are told the answer", async () => {
  const { app, as } = await reachingOffice();
  const { id, started, shell } = await withProgram(app, as("anna"));
  await started().mayReach("a.example", 443);
  const [open] = await openHosts(as("paul"));
  const { cursor } = await as("anna").agent(id);
  await as("anna").send(id, "reach a.example:443");
  for await (const page of as("anna").timeline({ agentId: id, since: cursor }))
    if (ofType(page.events, "StateChanged").some(({ state }) => state === "PAUSED")) break;
  expect(await openHosts(as("paul"))).toMatchObject([{ id: open?.id }]);
  await as("paul").decide({ approvalId: open?.id ?? "", decision: "DENY" });
  await as("anna").until(id, "DONE", cursor);
  const line = (of: string): string => `[The connection ${of}to a.example:443 was refused. A person denied it.]`;
  expect((await resultsOf(as("anna"), id)).at(-1)).toBe(`a.example:443 refused\n\n${line("")}`);
  const note = `[Programs in the background tried to reach hosts.]\n${line(`of the background shell ${shell.id} (sleep 300) `)}`;
  expect(await notesTo(as("anna"), id)).toEqual([note]);
});

it("the note names all shells of the call when it was answered, and none that bash_kill had ended, of which the model knows", async () => {
  const { app, as } = await reachingOffice();
  const { id, started, shell, leave, end } = await withProgram(app, as("anna"));
  const other = await leave();
  await started().mayReach("a.example", 443);
  const [first] = await openHosts(as("paul"));
  const shells = `the background shells ${shell.id} (sleep 300) and ${other.id} (sleep 300)`;
  expect(first?.reason).toBe(
    `one of ${shells} wants to connect to a.example:443, which no rule allows: ALLOW opens its ports 443 and 80`,
  );
  await as("paul").decide({ approvalId: first?.id ?? "", decision: "DENY" });
  await as("anna").turn(id, "hello");
  const told = `[The connection of one of ${shells} to a.example:443 was refused. A person denied it.]`;
  const header = "[Programs in the background tried to reach hosts.]";
  expect(await notesTo(as("anna"), id)).toEqual([`${header}\n${told}`]);

  await askHosts(as("anna"), "reach b.example:443", 1, id);
  await started().mayReach("b.example", 443);
  const [second] = await openHosts(as("paul"));
  await end(shell, "KILLED");
  await end(other, "KILLED");
  const { cursor } = await as("anna").agent(id);
  await as("paul").decide({ approvalId: second?.id ?? "", decision: "DENY" });
  await as("anna").until(id, "DONE", cursor);
  const untold = "[The connection to b.example:443 was refused. A person denied it.]";
  expect((await notesTo(as("anna"), id)).at(-1)).toBe(`${header}\n${untold}`);
});

it("a question shows what hides in the command of its shell", async () => {
  const { app, as } = await reachingOffice();
  const { started, shell, leave } = await withProgram(app, as("anna"));
  await withoutShell(app.database.sql, shell);
  const long = await leave({ command: `curl \u202e a.example\n${"x".repeat(300)}` });
  await started().mayReach("a.example", 443);
  const [question] = await openHosts(as("paul"));
  const shown = `curl \\u202e a.example\\u000a${"x".repeat(183)}`;
  expect(question?.reason).toBe(
    `the background shell ${long.id} (${shown}…) wants to connect to a.example:443, which no rule allows: ALLOW opens its ports 443 and 80`,
  );
});

it("a call's question that is open is joined by a program, without another event", async () => {
  const { app, as } = await reachingOffice();
  const { id, started } = await withProgram(app, as("anna"));
  const { question, cursorBefore } = await askHosts(as("anna"), "reach a.example:443", 1, id);
  await Promise.all([
    started().mayReach("a.example", 443),
    started().mayReach("c.example", 443),
    started().mayReach("c.example", 443),
  ]);
  const required = ofType(await as("anna").events(id), "PermissionRequired").map(({ request }) => [
    request.approvalId,
    request.host,
  ]);
  expect(required).toEqual([
    [question.approvalId, "a.example"],
    [expect.any(String), "c.example"],
  ]);
  // An interrupt ends the programs of its agent: their questions are closed with it.
  await as("anna").get(InterruptAgentDocument, { input: { agentId: id } });
  await as("anna").until(id, "DONE", cursorBefore);
  expect(await openHosts(as("paul"))).toEqual([]);
});

it("the questions of a program are closed with its end, and after that it asks for nothing", async () => {
  const { app, as } = await reachingOffice();
  const { id, started, shell, end } = await withProgram(app, as("anna"));
  await started().mayReach("a.example", 443);
  await started().mayReach("b.example", 443);
  const [first, second] = await openHosts(as("paul"));
  await as("paul").decide({ approvalId: first?.id ?? "", decision: "DENY" });
  expect(await end(shell)).toBe(true);
  expect(await openHosts(as("paul"))).toEqual([]);
  const closed = ofType(await as("anna").events(id), "PermissionClosed");
  expect(closed).toMatchObject([
    { approvalId: second?.id, callId: null, approvalState: "SEALED", note: "the program that would reach it has ended" },
  ]);
  const late = await as("paul").decide({ approvalId: second?.id ?? "", inputHash: second?.inputHash ?? "", decision: "ALLOW" });
  expect(late.userErrors).toMatchObject([
    { code: "SEALED", message: expect.stringContaining("the program that asked, ended before a decision") },
  ]);
  expect(await started().mayReach("c.example", 443)).toBe(false);
  expect(await openHosts(as("paul"))).toEqual([]);
  expect(await end(shell)).toBe(false);
});

it("a question that another program or a call still asks stays open when a program ends", async () => {
  const { app, as } = await reachingOffice();
  const { id, started, shell, leave, end } = await withProgram(app, as("anna"));
  await started().mayReach("a.example", 443);
  // A second shell of the same call, and a call that waits for its own host.
  const second = await leave();
  await askHosts(as("anna"), "reach b.example:443", 1, id);
  await started().mayReach("b.example", 443);
  await end(shell);
  expect(await openHosts(as("paul"))).toMatchObject([{ subject: { host: "a.example" } }, { subject: { host: "b.example" } }]);
  await end(second);
  expect(await openHosts(as("paul"))).toMatchObject([{ subject: { host: "b.example" } }]);
});

it("a question that a call joins while a program ends stays open", async () => {
  const { app, as } = await reachingOffice();
  const { id, started, shell } = await withProgram(app, as("anna"));
  await started().mayReach("a.example", 443);
  const { sql } = app.database;
  const late = beforeCommit(
    sql,
    (change) => "shellEnd" in change,
    async () => {
      const { cursor } = await as("anna").agent(id);
      await as("anna").send(id, "reach a.example:443");
      for await (const page of as("anna").timeline({ agentId: id, since: cursor }))
        if (ofType(page.events, "StateChanged").some(({ state }) => state === "PAUSED")) break;
    },
  );
  const ended = { endReason: "EXITED", exitCode: 0, signal: null } as const;
  expect(await commitEnd({ log: new EventLog(late), sql }, shell, ended, app.services.serverId, new Date())).toBe(true);
  expect(await openHosts(as("paul"))).toMatchObject([{ subject: { host: "a.example" } }]);
});

it("a question that could not be stored is asked at the next try", async () => {
  const { app, as } = await reachingOffice();
  const { started } = await withProgram(app, as("anna"));
  let isAway = true;
  const hosts = started((ask) => async (program, host) => {
    if (!isAway) return ask(program, host);
    isAway = false;
    throw new StorageUnavailable("the database does not answer");
  });
  await expect(hosts.mayReach("a.example", 443)).rejects.toThrow("does not answer");
  expect(await Promise.all([hosts.mayReach("a.example", 443), hosts.mayReach("a.example", 443)])).toEqual([false, false]);
  expect(await openHosts(as("paul"))).toMatchObject([{ subject: { host: "a.example" } }]);
});

it("a question of a program that runs outlives a turn that ends by an error; one that a call asks, too, does not", async () => {
  async function* fails(): AsyncGenerator<never> {
    yield await Promise.reject(new Error("the provider is away"));
  }
  const { app, as } = await reachingOffice(
    {},
    {
      model: playedModel(
        () => callsWith(["reach", { hosts: "10.0.0.1:80" }]),
        () => says("Reached."),
        fails,
        () => says("Hello."),
      ),
    },
  );
  const { id, started } = await withProgram(app, as("anna"));
  await started().mayReach("a.example", 443);
  const [open] = await openHosts(as("paul"));
  expect(ofType(await as("anna").turn(id, "hello"), "Done")).toMatchObject([{ reason: "ERROR" }]);
  expect(await openHosts(as("paul"))).toMatchObject([{ id: open?.id }]);
  // The next turn does not wait for it, and the answer reaches the program all the same.
  expect(ofType(await as("anna").turn(id, "hello"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  await as("paul").decide({ approvalId: open?.id ?? "", inputHash: open?.inputHash ?? "", decision: "ALLOW" });
  expect(await started().mayReach("a.example", 443)).toBe(true);
});

it("a host whose question was closed without an answer is asked for again, also by the program that asked", async () => {
  const { app, as } = await reachingOffice();
  const { started } = await withProgram(app, as("anna"));
  const { sql } = app.database;
  const hosts = started();
  await hosts.mayReach("a.example", 443);
  for (const state of ["SEALED", "EXPIRED"]) {
    const [open] = await openHosts(as("paul"));
    await sql.query({ name: `close_${state}`, text: "UPDATE approval SET state = $2::approval_state WHERE id = $1" }, [
      rowId("Approval", open?.id ?? ""),
      state,
    ]);
    expect(await openHosts(as("paul"))).toEqual([]);
    expect(await started().mayReach("a.example", 443)).toBe(false);
    expect(await openHosts(as("paul"))).toMatchObject([{ subject: { host: "a.example" } }]);
  }
  // The program itself, which tries without a pause, looks again after a while.
  const [open] = await openHosts(as("paul"));
  await sql.query({ name: "close_again", text: "UPDATE approval SET state = 'SEALED' WHERE id = $1" }, [
    rowId("Approval", open?.id ?? ""),
  ]);
  const now = performance.now();
  const time = vi.spyOn(performance, "now").mockReturnValue(now + 11_000);
  onTestFinished(() => time.mockRestore());
  await hosts.mayReach("a.example", 443);
  time.mockRestore();
  expect(await openHosts(as("paul"))).toMatchObject([{ subject: { host: "a.example" } }]);
});

it("a program joins no question that was answered meanwhile", async () => {
  const { app, as } = await reachingOffice();
  const { agent, program } = await withProgram(app, as("anna"));
  // A call of the agent has asked, and a person answers just before the program joins.
  await as("anna").send(globalId("Agent", agent.id), "reach a.example:443");
  await expect.poll(async () => (await openHosts(as("paul"))).length).toBe(1);
  const [open] = await openHosts(as("paul"));
  const acme = app.services.of("acme");
  const late = beforeCommit(
    app.database.sql,
    (change) => "waits" in change,
    async () => {
      await as("paul").decide({ approvalId: open?.id ?? "", decision: "DENY" });
    },
  );
  const asked = await askInBackground({ ...acme, log: new EventLog(late) }, program, { host: "a.example", port: 443 });
  expect(asked).toBe("asked");
  expect((await openHosts(as("paul"))).map(({ id: each }) => each)).not.toContain(open?.id);
  expect(await openHosts(as("paul"))).toHaveLength(1);
});

/** The same agent with a second call that has ended, and a background shell of it. */
async function withSecond({ services, database: { sql } }: TestApp, client: TestClient, id: string) {
  await client.turn(id, "reach 10.0.0.1:80");
  const calls = (await client.agent(id)).toolCalls.nodes;
  const callId = calls.at(-1)?.callId ?? "";
  const agent = { id: rowId("Agent", id), tenant: "acme", createdBy: "anna", templateId: "assistant", ...PLAIN };
  const shell = await shellRow(sql, { tenant: "acme", agentId: agent.id, createdBy: "anna", callId }, services.serverId);
  return { shell, asks: () => askInBackground(services.of("acme"), { agent, callId }, { host: "a.example", port: 443 }) };
}

it("an answer is made again if another program joins the question meanwhile: the note names both", async () => {
  const { app, as } = await reachingOffice();
  const { id, started, shell } = await withProgram(app, as("anna"));
  const second = await withSecond(app, as("anna"), id);
  await started().mayReach("a.example", 443);
  const [open] = await openHosts(as("paul"));
  const acme = app.services.of("acme");
  const late = beforeCommit(
    app.database.sql,
    (change) => "decision" in change,
    async () => expect(await second.asks()).toBe("asked"),
  );
  const paul: Actor = { id: "paul", kind: "USER", tenant: "acme", roles: ["approver"], delegators: [] };
  const approvalId = rowId("Approval", open?.id ?? "");
  const denial = {
    approvalId,
    decision: "DENY",
    note: null,
    inputHash: null,
    input: null,
    values: null,
    raiseTo: null,
    result: null,
  } as const;
  expect(await decideApproval({ ...acme, log: new EventLog(late) }, paul, denial)).toMatchObject({ ok: true });
  await as("anna").turn(id, "hello");
  const shells = `the background shells ${shell.id} (sleep 300) and ${second.shell.id} (sleep 300)`;
  expect(await notesTo(as("anna"), id)).toEqual([
    `[Programs in the background tried to reach hosts.]\n[The connection of one of ${shells} to a.example:443 was refused. A person denied it.]`,
  ]);
});

it("an expiry that a program comes before is made by the next sweep, and names the program, too", async () => {
  const { app, as } = await reachingOffice();
  const { id, started, shell } = await withProgram(app, as("anna"));
  const second = await withSecond(app, as("anna"), id);
  await started().mayReach("a.example", 443);
  const [open] = await openHosts(as("paul"));
  const acme = app.services.of("acme");
  const found = await readApprovals(app.database.sql, [rowId("Approval", open?.id ?? "")]);
  const late = beforeCommit(
    app.database.sql,
    (change) => "approvalTransitions" in change,
    async () => expect(await second.asks()).toBe("asked"),
  );
  for (const approval of found) await expireApproval({ ...acme, log: new EventLog(late) }, approval, new Date());
  expect(await openHosts(as("paul"))).toMatchObject([{ id: open?.id }]);
  for (const approval of found) await expireApproval(acme, approval, new Date());
  expect(await openHosts(as("paul"))).toEqual([]);
  await as("anna").turn(id, "hello");
  const shells = `the background shells ${shell.id} (sleep 300) and ${second.shell.id} (sleep 300)`;
  expect(await notesTo(as("anna"), id)).toEqual([
    `[Programs in the background tried to reach hosts.]\n[The connection of one of ${shells} to a.example:443 was refused. Nobody answered whether it may be reached.]`,
  ]);
});

it("a program asks for 20 hosts at most", async () => {
  const { app, as } = await reachingOffice();
  const { started } = await withProgram(app, as("anna"));
  const hosts = started();
  for (let index = 0; index < 23; index += 1) await hosts.mayReach(`h${index}.example`, 443);
  expect(await openHosts(as("paul"))).toHaveLength(20);
  const [first] = await openHosts(as("paul"));
  expect(await approvalOf(as("paul"), first?.id ?? "")).toMatchObject({ kind: "NETWORK_HOST" });
});
