import { describe, expect, it } from "vitest";
import { ApprovalsDocument, CompleteToolCallDocument, WaitingCallsDocument, type EventKind } from "../generated/documents.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { temporaryFolder } from "../support/app.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { runFile } from "../support/process.ts";
import { exampleWorkspace, startServerProcess } from "../support/server-process.ts";

const TODOS = "Find every TODO and make a todo for each.";

/** A server that was killed when an event of its agent came, and what was told of the agent until then. */
async function killed(kind: EventKind, file?: string) {
  const env = { TRIPLANE_DATA_DIR: await embeddedFolder() };
  const first = await startServerProcess(env, file);
  const client = connect(first.url);
  const agent = await client.createAgent({ workspace: await exampleWorkspace() });
  await client.send(agent.id, TODOS);
  const before = await client.until(agent.id, kind);
  first.child.kill("SIGKILL");
  await first.exited;
  return { env, agent, before };
}

describe("a server that is killed and started again", () => {
  it("has the agent, its messages and its timeline; the waiting approval is decided and the turn goes on, on the embedded database", async () => {
    const { env, agent, before } = await killed("PERMISSION_REQUIRED");
    const second = await startServerProcess(env);
    const again = connect(second.url);
    const after = await again.until(agent.id, "PERMISSION_REQUIRED");
    expect(after.map((event) => [event.seq, event.cursor, event.kind])).toEqual(
      before.map((event) => [event.seq, event.cursor, event.kind]),
    );
    expect((await again.agent(agent.id)).messages.nodes[0]?.text).toBe(TODOS);
    const { approvals } = await again.get(ApprovalsDocument, { filter: { states: ["PENDING"] } });
    expect(approvals.nodes).toMatchObject([
      { agent: { id: agent.id }, toolCall: { name: "todo_write", state: "APPROVAL_REQUIRED" } },
    ]);
    await again.decide({
      approvalId: approvals.nodes[0]?.id ?? "",
      decision: "ALLOW",
      inputHash: approvals.nodes[0]?.inputHash ?? "",
    });
    const rest = await again.until(agent.id, "DONE", before.at(-1)?.cursor);
    expect(textOf(rest)).toContain("Done. The list has 3 todos");
    expect(ofType(rest, "ToolEnd")).toMatchObject([{ call: { name: "todo_write", state: "COMPLETED" } }]);
    expect((await again.agent(agent.id)).todos).toHaveLength(3);
    expect(textOf(await again.turn(agent.id, "What is on your todo list?"))).toContain("todo-3");
    second.child.kill("SIGTERM");
    expect(await second.exited).toBe(0);
  }, 60_000);

  it("still waits for a client, with the whole input, and takes one answer", async () => {
    const env = { TRIPLANE_DATA_DIR: await embeddedFolder() };
    const first = await startServerProcess(env);
    const client = connect(first.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "ask me");
    const before = await client.until(agent.id, "TOOL_WAITING");
    first.child.kill("SIGKILL");
    await first.exited;
    const second = await startServerProcess(env);
    const again = connect(second.url);
    const { toolCalls } = await again.get(WaitingCallsDocument, { agentId: agent.id });
    const [call] = toolCalls.nodes;
    expect(call).toMatchObject({
      name: "ask_user",
      waitsFor: "CLIENT_TOOL",
      input: { question: "What shall I look at first?", options: ["the TODO comments", "the README"] },
    });
    const events = await again.events(agent.id);
    expect(ofType(events, "ToolWaiting")).toEqual(ofType(before, "ToolWaiting"));
    expect(ofType(events, "ToolEnd")).toEqual([]);
    const complete = async (result: string) =>
      (await again.get(CompleteToolCallDocument, { input: { callId: call?.callId ?? "", result } })).completeToolCall;
    expect((await complete("the README")).userErrors).toEqual([]);
    expect((await complete("the tests")).userErrors).toMatchObject([{ code: "CALL_ENDED" }]);
    const rest = await again.until(agent.id, "DONE", before.at(-1)?.cursor);
    expect(textOf(rest)).toContain("You said: the README");
    expect(ofType(rest, "AgentResumed").flatMap(({ sealed }) => sealed)).toEqual([]);
  }, 60_000);

  it("goes on at once with an agent that it worked on, on the embedded database: nobody else can hold it", async () => {
    const LONG_LEASES = "tests/support/long-lease-server.ts";
    const { env, agent } = await killed("STATE_CHANGED", LONG_LEASES);
    const second = await startServerProcess(env, LONG_LEASES);
    // Its lease had at least six minutes to run when the server was killed.
    await connect(second.url).until(agent.id, "PERMISSION_REQUIRED");
  }, 60_000);

  it("refuses a folder that another process works on, at once, and names that process", async () => {
    const env = { TRIPLANE_DATA_DIR: await embeddedFolder() };
    const first = await startServerProcess(env);
    await expect(startServerProcess(env)).rejects.toThrow(new RegExp(`in use by process ${first.child.pid}`));
  }, 60_000);
});

describe("two servers on one PostgreSQL", () => {
  it("are one: send on one, subscribe and decide on the other, and go on when the first is killed", async () => {
    const env = { DATABASE_URL: await testDatabaseUrl(), TRIPLANE_DATA_DIR: await temporaryFolder() };
    const one = await startServerProcess(env);
    // Kept outputs, HOMEs and boxes are one server's.
    const refused = runFile("src/main.ts", [], { PORT: "0", ...env });
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toContain("Triplane did not start: the data folder");
    expect(refused.output()).toContain(`in use by process ${one.child.pid}`);
    expect(refused.output()).toContain("give each server a TRIPLANE_DATA_DIR of its own");
    const two = await startServerProcess({ ...env, TRIPLANE_DATA_DIR: await temporaryFolder() });
    const sender = connect(one.url);
    const watcher = connect(two.url);
    const agent = await sender.createAgent({ workspace: await exampleWorkspace() });
    const watching = watcher.until(agent.id, "PERMISSION_REQUIRED");
    await sender.send(agent.id, TODOS);
    const [required] = ofType(await watching, "PermissionRequired");
    await watcher.decide({
      approvalId: required?.request.approvalId ?? "",
      decision: "ALLOW",
      inputHash: required?.request.inputHash ?? "",
    });
    const done = await sender.until(agent.id, "DONE");
    expect(done.map((event) => event.seq)).toEqual(done.map((_, index) => index + 1));

    one.child.kill("SIGKILL");
    await one.exited;
    expect(textOf(await watcher.turn(agent.id, "Please read README.md"))).toContain("Tide table");
  }, 60_000);
});
