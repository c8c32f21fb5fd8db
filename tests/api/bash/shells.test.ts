import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ArchiveAgentDocument, InterruptAgentDocument } from "../../generated/documents.ts";
import { isAlive } from "../../support/alive.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { callsOf, type MadeCall } from "../../support/bash.ts";
import { connect, ofType, textOf, type TestClient } from "../../support/client.ts";
import { callsWith, playedModel, says } from "../../support/models.ts";
import type { ModelRequest } from "../../../src/agent/models/model.ts";
import type { TemplateConfig } from "../../../src/triplane.ts";

/** Says its own id and that of a child, and runs on. */
const RUNS_ON = "sleep 300 & echo $! $$ > pids; echo begun; touch ready; sleep 300";

/** A step of the model: the calls that it makes, given the id of the newest shell, or words. */
type Step = ((shellId: string) => readonly MadeCall[]) | string;

/** A server whose model makes these steps, one after the other, whatever agent asks. */
async function shellApp(steps: readonly Step[], template: Partial<TemplateConfig> = {}) {
  const seen: string[] = [];
  const play = (step: Step) => (request: ModelRequest) => {
    const text = JSON.stringify(request.messages);
    seen.push(text);
    const shellId =
      text
        .match(/the background shell ([0-9a-f-]{36}) runs/g)
        ?.at(-1)
        ?.slice(21, 57) ?? "";
    return typeof step === "string" ? says(step) : callsWith(...step(shellId));
  };
  const app = await startTestApp({
    model: playedModel(...steps.map(play)),
    template: { permission: { mode: "auto" }, ...template },
  });
  return { app, client: connect(app.url), seen };
}

/** The ids of the processes that RUNS_ON said. */
async function pidsOf(app: TestApp): Promise<number[]> {
  await expect.poll(() => stat(join(app.workspace, "ready")).catch(() => null)).not.toBeNull();
  return saidPids(app);
}

async function saidPids(app: TestApp): Promise<number[]> {
  return (await readFile(join(app.workspace, "pids"), "utf8")).trim().split(" ").map(Number);
}

async function shellsOf(client: TestClient, agentId: string) {
  return (await client.agent(agentId)).shells;
}

const background =
  (command: string, more: object = {}): Step =>
  () => [["bash_run", { command, background: true, ...more }]];

describe("a background shell", () => {
  it("outlives its call, is read from an offset on, and ends with all that it started by bash_kill; nobody waits for it", async () => {
    const { app, client } = await shellApp([
      background(`echo "$GREETING"; ${RUNS_ON}`, { env: { GREETING: "hello" } }),
      "It runs.",
      (shell_id) => [["bash_logs", { shell_id }]],
      (shell_id) => [["bash_logs", { shell_id, since: 6 }]],
      (shell_id) => [["bash_kill", { shell_id }]],
      (shell_id) => [
        ["bash_logs", { shell_id, since: 12 }],
        ["bash_kill", { shell_id }],
      ],
      "It is over.",
    ]);
    const agent = await client.createAgent();
    const events = await client.turn(agent.id, "go");
    expect(textOf(events)).toBe("It runs.");
    const [started] = ofType(events, "ShellStarted");
    const [call] = await callsOf(client, agent.id);
    expect(call?.details).toMatchObject({ background: true, shell_id: started?.shellId });
    expect(started).toMatchObject({ callId: call?.callId, command: `echo "$GREETING"; ${RUNS_ON}` });
    const pids = await pidsOf(app);
    expect(pids.filter(isAlive)).toEqual(pids);
    expect(await shellsOf(client, agent.id)).toMatchObject([
      {
        shellId: started?.shellId,
        callId: call?.callId,
        state: "RUNNING",
        server: app.services.serverId,
        endReason: null,
        endedAt: null,
      },
    ]);
    expect((await client.agent(agent.id)).state).toBe("READY");

    const ended = await client.turn(agent.id, "look");
    expect(pids.filter(isAlive)).toEqual([]);
    const [, all, rest, killed, after, again] = await callsOf(client, agent.id);
    expect(all?.output).toBe("hello\nbegun\n[it runs; all so far, read on later with since 12]");
    expect(all?.details).toMatchObject({
      running: true,
      status: "running",
      code: null,
      since: 0,
      next_offset: 12,
      outputBytes: 12,
    });
    expect(rest?.details).toMatchObject({ since: 6, next_offset: 12, output: "begun\n" });
    expect(killed?.output).toBe("it was killed");
    expect(killed?.details).toMatchObject({ ok: true, shell_id: started?.shellId, status: "killed", signal: "SIGKILL" });
    expect(after?.output).toBe("[it has ended: bash_kill ended it; all]");
    expect(again?.output).toBe("it was killed");
    expect(ofType(ended, "ShellEnded")).toMatchObject([
      {
        shellId: started?.shellId,
        callId: call?.callId,
        endReason: "KILLED",
        exitCode: null,
        signal: "SIGKILL",
        durationMs: expect.any(Number),
      },
    ]);
    expect(await shellsOf(client, agent.id)).toMatchObject([
      { state: "ENDED", endReason: "KILLED", endedAt: expect.any(String) },
    ]);
    expect(app.services.groups.size).toBe(0);
    expect(app.services.shells.size).toBe(0);
  });

  it("that ends by itself is told to the model at its next step, once, with its code", async () => {
    const { app, client, seen } = await shellApp([
      background("until [ -e go ]; do sleep 0.1; done; exit 3"),
      "It runs.",
      "I see.",
      "And now?",
    ]);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    await writeFile(join(app.workspace, "go"), "");
    await client.until(agent.id, "SHELL_ENDED");
    await client.turn(agent.id, "what is it?");
    await client.turn(agent.id, "and now?");
    const told =
      /\[The background shell [0-9a-f-]{36} \(until \[ -e go \]; do sleep 0\.1; done; exit 3\) has ended: exit code 3\. bash_logs has what it said, if it said anything\.\]/g;
    expect(seen.map((text) => text.match(told)?.length ?? 0)).toEqual([0, 0, 1, 1]);
    const { messages } = await client.agent(agent.id);
    expect(messages.nodes.filter(({ text }) => text?.includes("has ended"))).toHaveLength(1);
    expect(await shellsOf(client, agent.id)).toMatchObject([{ state: "ENDED", endReason: "EXITED", exitCode: 3, signal: null }]);
  });

  it.each([
    ["the template's", { backgroundShellMs: 700 }, {}],
    ["that of the call", {}, { timeout_ms: 700 }],
  ])("ends at its time: %s", async (_name, template, more) => {
    const { app, client } = await shellApp([background(RUNS_ON, more), "It runs."], template);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const events = await client.until(agent.id, "SHELL_ENDED");
    expect(ofType(events, "ShellEnded")).toMatchObject([{ endReason: "TIME_UP" }]);
    // Its time may be up before it has said them.
    const pids = await saidPids(app).catch(() => []);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("is one of at most so many: another is refused with what to do, and starts when one has ended", async () => {
    const { client } = await shellApp(
      [
        background("sleep 300"),
        background("sleep 300"),
        background("sleep 300"),
        (shell_id) => [["bash_kill", { shell_id }]],
        background("sleep 300"),
        "Done.",
      ],
      { backgroundShells: 2 },
    );
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const calls = await callsOf(client, agent.id);
    expect(calls.map(({ state }) => state)).toEqual(["COMPLETED", "COMPLETED", "FAILED", "COMPLETED", "COMPLETED"]);
    expect(calls[2]?.output).toContain("you have 2 background shells that run, which is the most: end one with bash_kill");
    expect((await shellsOf(client, agent.id)).map(({ state }) => state).toSorted()).toEqual(["ENDED", "RUNNING", "RUNNING"]);
  });

  it("that has said nothing is said to have said nothing, with its state", async () => {
    const { client } = await shellApp([
      background("sleep 300"),
      "It runs.",
      (shell_id) => [["bash_logs", { shell_id }]],
      (shell_id) => [["bash_kill", { shell_id }]],
      (shell_id) => [["bash_logs", { shell_id }]],
      "It is over.",
    ]);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    await client.turn(agent.id, "look");
    const [, running, , ended] = (await callsOf(client, agent.id)).map(({ output }) => output);
    expect(running).toBe("[it runs; it has said nothing so far, read on later with since 0]");
    expect(ended).toMatch(/^\[it has ended: .*; it has said nothing\]$/);
  });

  it("that is read from behind its end is said to end before, and where", async () => {
    const { app, client } = await shellApp([
      background("echo hello; touch ready; sleep 300"),
      "It runs.",
      (shell_id) => [["bash_logs", { shell_id, since: 999 }]],
      (shell_id) => [["bash_kill", { shell_id }]],
      (shell_id) => [["bash_logs", { shell_id, since: 999 }]],
      "It is over.",
    ]);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    await expect.poll(() => stat(join(app.workspace, "ready")).catch(() => null)).not.toBeNull();
    await client.turn(agent.id, "look");
    const [, running, , ended] = await callsOf(client, agent.id);
    expect(running?.output).toBe("[it runs; offset 999 lies behind the end, which is at 6, read on later with since 6]");
    expect(running?.details).toMatchObject({ next_offset: 6, output: "", outputBytes: 6 });
    expect(ended?.output).toBe("[it has ended: bash_kill ended it; offset 999 lies behind the end, which is at 6]");
  });

  it("that cannot be started has ended, and its call fails with why", async () => {
    const { client } = await shellApp([background("pwd", { cwd: "nowhere" }), "Oh."]);
    const agent = await client.createAgent();
    const events = await client.turn(agent.id, "go");
    expect((await callsOf(client, agent.id))[0]).toMatchObject({ state: "FAILED", output: expect.stringContaining("nowhere") });
    expect(ofType(events, "ShellEnded")).toMatchObject([{ endReason: "NOT_STARTED" }]);
  });

  it("ends when its agent is interrupted, also one that is idle, and the next message works", async () => {
    const { app, client } = await shellApp([background(RUNS_ON), "It runs.", "I am here."]);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const pids = await pidsOf(app);
    const { interruptAgent } = await client.get(InterruptAgentDocument, { input: { agentId: agent.id, note: null } });
    expect(interruptAgent.userErrors).toEqual([]);
    const events = await client.until(agent.id, "SHELL_ENDED");
    expect(ofType(events, "ShellEnded")).toMatchObject([{ endReason: "INTERRUPTED" }]);
    expect(pids.filter(isAlive)).toEqual([]);
    const after = await client.turn(agent.id, "are you there?");
    expect(ofType(after, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(textOf(after)).toBe("I am here.");
  });

  it("ends when the turn that goes on is interrupted", async () => {
    const { app, client } = await shellApp([
      background(RUNS_ON),
      () => [["bash_run", { command: "touch busy; sleep 300" }]],
      "?",
    ]);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    const pids = await pidsOf(app);
    await expect.poll(() => stat(join(app.workspace, "busy")).catch(() => null)).not.toBeNull();
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id, note: "enough" } });
    await Promise.all([client.until(agent.id, "SHELL_ENDED"), client.until(agent.id, "DONE")]);
    const events = await client.events(agent.id);
    expect(ofType(events, "ShellEnded")).toMatchObject([{ endReason: "INTERRUPTED" }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "INTERRUPTED" }]);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("ends when its agent is archived", async () => {
    const { app, client } = await shellApp([background(RUNS_ON), "It runs."]);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const pids = await pidsOf(app);
    await client.get(ArchiveAgentDocument, { input: { agentId: agent.id } });
    expect(ofType(await client.until(agent.id, "SHELL_ENDED"), "ShellEnded")).toMatchObject([{ endReason: "ARCHIVED" }]);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("ends when its server closes, and the row says so", async () => {
    const { app, client } = await shellApp([background(RUNS_ON), "It runs."]);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const pids = await pidsOf(app);
    const { config } = app.database;
    await app.close();
    expect(pids.filter(isAlive)).toEqual([]);
    const next = await startTestApp({ database: config });
    expect(await shellsOf(connect(next.url), agent.id)).toMatchObject([{ state: "ENDED", endReason: "SERVER_CLOSED" }]);
  });

  it("is nobody's but its agent's: another agent is told that there is none", async () => {
    const { app, client } = await shellApp([
      background(RUNS_ON),
      "It runs.",
      () => [
        ["bash_logs", { shell_id: "0" }],
        ["bash_kill", { shell_id: "0" }],
      ],
      "There is none.",
    ]);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const pids = await pidsOf(app);
    const [shell] = await shellsOf(client, agent.id);
    const other = await client.createAgent();
    const spies = await shellSpy(app, shell?.shellId ?? "");
    await client.turn(other.id, "look");
    const absent = (await callsOf(client, other.id)).map(({ state, output }) => [state, output]);
    expect(absent).toEqual(absent.map(() => ["FAILED", expect.stringContaining("you have no background shell")]));
    expect(await spies(other.id)).toEqual([null, null]);
    expect(await shellsOf(client, other.id)).toEqual([]);
    expect(pids.filter(isAlive)).toEqual(pids);
  });
});

/** The answers to another agent's tools about a shell, by its very id. */
async function shellSpy(app: TestApp, shellId: string): Promise<(agentId: string) => Promise<readonly unknown[]>> {
  await mkdir(join(app.workspace, "unused"), { recursive: true });
  const { shells } = app.services;
  return (agentId) =>
    Promise.all([shells.logs(agentId, shellId, { since: 0, bytes: 100, lines: 10 }), shells.kill(agentId, shellId)]);
}
