import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { StartedShell } from "../../../src/agent/calls/shells/rows.ts";
import type { Sql, Statement } from "../../../src/db/sql.ts";
import { isAlive } from "../../support/alive.ts";
import { startTestApp, temporaryFolder, type TestApp, type TestAppOptions } from "../../support/app.ts";
import { bashApp, callsOf } from "../../support/bash.ts";
import { connect, ofType, textOf, type TestClient } from "../../support/client.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { embeddedFolder } from "../../support/embedded.ts";
import { callsWith, playedModel, says } from "../../support/models.ts";
import { startServerProcess } from "../../support/server-process.ts";
import { shellRow } from "../../support/shell-row.ts";
import { aroundStatements } from "../../support/statements.ts";

const SHORT = { ttlMs: 4_000, renewMs: 100, startMs: 2_000 };

/** Two servers of one database: on the first, an agent of the second's folder has left a shell running. */
async function twoServers(next: TestAppOptions["model"], first: TestAppOptions["overrides"] = {}) {
  const url = await testDatabaseUrl();
  const database = { kind: "postgres", url, connections: 6 } as const;
  const workspace = await temporaryFolder();
  const folders = { workspaceRoots: [workspace], defaultWorkspace: workspace };
  const options: TestAppOptions = {
    database,
    config: folders,
    template: { permission: { mode: "auto" } },
  };
  let isDone = false;
  const one = await startTestApp({
    ...options,
    model: playedModel(
      () => callsWith(["bash_run", { command: "echo $$; exec sleep 300", background: true }]),
      () => says("It runs."),
    ),
    overrides: { leaseTimes: SHORT, ...first, sql: (sql, purpose) => claimless(first?.sql?.(sql, purpose) ?? sql, () => isDone) },
  });
  const asOne = connect(one.url);
  const agent = await asOne.createAgent();
  await asOne.turn(agent.id, "go");
  const [shell] = (await asOne.agent(agent.id)).shells;
  if (shell === undefined) throw new Error("no shell was started");
  const { shellId } = shell;
  const pid = await pidIn(one, asOne, agent.id, shellId);
  await writeFile(join(workspace, "file.txt"), "text");
  // From here on the agent is the second server's, which could have taken it before.
  await expect.poll(() => owners(one.database.sql)).toEqual([null]);
  isDone = true;
  const two = await startTestApp({ ...options, model: next ?? playedModel(() => says("?")), overrides: { leaseTimes: SHORT } });
  const asTwo = connect(two.url);
  return { one, two, asOne, asTwo, agentId: agent.id, shellId, pid, workspace };
}

/** The id of the process that a shell said first. */
async function pidIn(app: TestApp, client: TestClient, agentId: string, shellId: string): Promise<number> {
  const id = (await client.agent(agentId)).id;
  const rowId = Buffer.from(id, "base64").toString().slice("Agent:".length);
  const said = async (): Promise<number> => {
    const logs = await app.services.shells.logs(rowId, shellId, { since: 0, bytes: 100, lines: 1 });
    return Number(logs?.output?.text);
  };
  await expect.poll(said).toBeGreaterThan(0);
  return said();
}

describe("a background shell whose agent goes on on another server", () => {
  it("is ended by its server before anything starts that is not read-only, and its logs name its server", async () => {
    const { one, asTwo, agentId, shellId, pid } = await twoServers(
      playedModel(
        () => callsWith(["bash_run", { command: "echo after" }]),
        (request) => {
          const [, id = ""] = /background shell ([0-9a-f-]{36}) /.exec(JSON.stringify(request.messages)) ?? [];
          return callsWith(["bash_logs", { shell_id: id }]);
        },
        () => says("Done."),
      ),
    );
    const events = await asTwo.turn(agentId, "go on");
    expect(textOf(events)).toBe("Done.");
    const [ended] = ofType(events, "ShellEnded");
    expect(ended).toMatchObject({ shellId, endReason: "TAKEN_OVER" });
    expect(isAlive(pid)).toBe(false);
    const [start] = ofType(events, "ToolStart");
    expect(start?.call.name).toBe("bash_run");
    expect(start?.seq).toBeGreaterThan(ended?.seq ?? Infinity);
    const logs = (await callsOf(asTwo, agentId)).at(-1);
    expect(logs?.output).toMatch(
      new RegExp(`the server ${one.services.serverId} on .* has what it said, if it said anything, and this one has none of it`),
    );
    expect(logs?.output).toContain("another server continues your work");
  });

  it("whose server is cut off ends there before its lease has run out, and is closed by the next owner's server", async () => {
    let isCut = false;
    const { one, asTwo, agentId, shellId, pid, two } = await twoServers(
      playedModel(
        () => callsWith(["bash_run", { command: "echo after" }]),
        () => says("Done."),
      ),
      { sql: (sql) => cutting(sql, () => isCut) },
    );
    expect(one.services.shells.size).toBe(1);
    isCut = true;
    await asTwo.send(agentId, "go on");
    const events = await asTwo.until(agentId, "SHELL_ENDED");
    expect(ofType(events, "ShellEnded")).toMatchObject([{ shellId, endReason: "SERVER_LOST", exitCode: null }]);
    // The lease has run out: nothing of the shell is left.
    expect(isAlive(pid)).toBe(false);
    const done = await asTwo.until(agentId, "DONE", events.at(-1)?.cursor);
    expect(ofType(done, "ToolStart")[0]?.call.name).toBe("bash_run");
    expect((await asTwo.agent(agentId)).shells).toMatchObject([{ state: "ENDED", endReason: "SERVER_LOST" }]);
    expect(two.services.shells.size).toBe(0);
    isCut = false;
  });

  it("is waited for by what is not read-only, and by nothing else: waitingFor says so", async () => {
    const { asTwo, agentId, two } = await twoServers(
      playedModel(
        () => callsWith(["fs_read", { path: "file.txt" }], ["bash_run", { command: "echo after" }]),
        () => says("Done."),
      ),
      { sql: (sql) => blindTo(sql, ["look_at_shells"]), leaseTimes: { ...SHORT, ttlMs: 60_000 } },
    );
    await asTwo.send(agentId, "go on");
    const waits = async (): Promise<string | null> =>
      (await asTwo.post<{ agent: { waitingFor: string | null } }>({ query: `{ agent(id: "${agentId}") { waitingFor } }` })).data
        ?.agent.waitingFor ?? null;
    await expect.poll(waits).toBe("a background shell on another server to end");
    const calls = async (): Promise<string[]> =>
      (await callsOf(asTwo, agentId)).slice(-2).map(({ name, state }) => `${name} ${state}`);
    await expect.poll(calls).toEqual(["fs_read COMPLETED", "bash_run PENDING"]);
    expect(two.services.shells.size).toBe(0);
  });
});

/** A server that does not reach its database while `isCut`: its renewals and looks fail. */
function cutting(sql: Sql, isCut: () => boolean): Sql {
  const isShells = ({ name }: Statement): boolean =>
    name === "renew_shells" || name === "look_at_shells" || name === "lost_shells";
  return aroundStatements(sql, (statement, run) =>
    isCut() && isShells(statement) ? Promise.reject(new Error("cut off")) : run(),
  );
}

/** A server that gets no agent to advance while `isDone`. */
function claimless(sql: Sql, isDone: () => boolean): Sql {
  return aroundStatements(sql, (statement, run) => (isDone() && statement.name === "claim_agents" ? Promise.resolve([]) : run()));
}

/** The servers that hold the agents. */
async function owners(sql: Sql): Promise<readonly (string | null)[]> {
  const text = "SELECT lease_owner AS owner FROM agent";
  return (await sql.query<{ owner: string | null }>({ name: "owners", text }, [])).map(({ owner }) => owner);
}

/** A server that never hears what these statements say. */
function blindTo(sql: Sql, names: readonly string[]): Sql {
  return aroundStatements(sql, async (statement, run) => {
    const rows = await run();
    return names.includes(statement.name) ? rows.map((row) => Object.assign({}, row, { endWanted: null })) : rows;
  });
}

describe("background shells of a server that is killed", () => {
  it("die with it, as groups, and their rows are closed by the next server", { timeout: 30_000 }, async () => {
    const folder = await temporaryFolder();
    const config = join(folder, "triplane.config.ts");
    await mkdir(join(folder, "workspace"));
    const command = "sleep 300 & echo $! $$ >> pids; sleep 300";
    const call = { tool: "bash_run", input: { command, background: true } };
    await writeFile(
      config,
      `import { defineConfig } from "triplane";
      export default defineConfig({
        models: { m: { provider: "scripted", script: { replies: [
          { when: { result: "bash_run" }, say: ["They run."] },
          { when: {}, call: ${JSON.stringify([call, call, call])} },
        ] } } },
        templates: { assistant: { model: "m", systemPrompt: "x", permission: { mode: "auto" } } },
      });`,
    );
    const env = {
      DATABASE_URL: await testDatabaseUrl(),
      TRIPLANE_DATA_DIR: join(folder, "data"),
      TRIPLANE_CONFIG: config,
    };
    const server = await startServerProcess(env, "tests/support/short-lease-server.ts");
    const client = connect(server.url);
    const agents = await Promise.all([client.createAgent(), client.createAgent()]);
    for (const { id } of agents) await client.turn(id, "go");
    const folders = await Promise.all(agents.map(({ id }) => workspaceOf(client, id)));
    const said = async (): Promise<number[]> => {
      const texts = await Promise.all(folders.map((place) => readFile(join(place, "pids"), "utf8").catch(() => "")));
      return texts.join(" ").trim().split(/\s+/).map(Number);
    };
    await expect.poll(async () => (await said()).length).toBe(12);
    const pids = await said();
    expect(pids.filter(isAlive)).toHaveLength(12);
    server.child.kill("SIGKILL");
    await server.exited;
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);

    const next = await startServerProcess(env, "tests/support/short-lease-server.ts");
    const again = connect(next.url);
    for (const { id } of agents) {
      await expect
        .poll(async () => (await again.agent(id)).shells.map(({ endReason }) => endReason))
        .toEqual(["SERVER_LOST", "SERVER_LOST", "SERVER_LOST"]);
      expect(ofType(await again.events(id), "ShellEnded")).toHaveLength(3);
    }
  });

  it("and said nothing are known to have said nothing by the next server with the same data folder", async () => {
    const database = { kind: "embedded", folder: await embeddedFolder() } as const;
    const background = { command: "exec sleep 300", background: true };
    const { app, client, agentId, turn } = await bashApp([["bash_run", background]], { database });
    await turn();
    const [shell] = (await client.agent(agentId)).shells;
    await app.close();
    const next = await startTestApp({ database });
    await cp(join(app.workspace, ".data/outputs"), join(next.workspace, ".data/outputs"), { recursive: true });
    const rowId = Buffer.from(agentId, "base64").toString().slice("Agent:".length);
    const logs = await next.services.shells.logs(rowId, shell?.shellId ?? "", { since: 0, bytes: 100, lines: 1 });
    expect(logs?.output).toEqual({ text: "", from: 0, to: 0, total: 0 });
  });

  it("are never said to run after a restart of the only server of an embedded database", async () => {
    const folder = await embeddedFolder();
    const database = { kind: "embedded", folder } as const;
    const { app, client, agentId, turn } = await bashApp([["bash_run", { command: "true" }]], { database });
    const [call] = await turn();
    const { sql } = app.services;
    const text = 'SELECT tenant, id AS "agentId", created_by AS "createdBy" FROM agent';
    const [row] = await sql.query<Pick<StartedShell, "tenant" | "agentId" | "createdBy">, []>({ name: "read_agent", text }, []);
    if (row === undefined) throw new Error("there is no agent");
    // The server dies, and the row stays as it is.
    const { id: shellId } = await shellRow(sql, { ...row, callId: call?.callId ?? "" }, "dead");
    expect((await client.agent(agentId)).shells).toMatchObject([{ shellId, state: "RUNNING" }]);
    await app.close();
    const next = connect((await startTestApp({ database })).url);
    expect((await next.agent(agentId)).shells).toMatchObject([{ shellId, state: "ENDED", endReason: "SERVER_LOST" }]);
    expect(ofType(await next.events(agentId), "ShellEnded")).toMatchObject([{ shellId }]);
  });
});

async function workspaceOf(client: TestClient, agentId: string): Promise<string> {
  const { data } = await client.post<{ agent: { workspace: string } }>({ query: `{ agent(id: "${agentId}") { workspace } }` });
  return data?.agent.workspace ?? "";
}
