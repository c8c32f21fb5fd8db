import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../support/app.ts";
import { connect, ofType, type TestClient } from "../../support/client.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { startServerProcess, type ServerProcess } from "../../support/server-process.ts";

/** Counts in a file of the workspace, for as long as it runs. */
const COUNTS = "n=0; while true; do n=$((n+1)); echo $n > count; sleep 0.05; done";

/** A server with leases of two seconds, and another on its database and workspace, as soon as it is wanted: either may claim an agent. */
async function twoServers(): Promise<{
  one: ServerProcess;
  asOne: TestClient;
  startTwo: () => Promise<TestClient>;
  count: () => Promise<number>;
}> {
  const url = await testDatabaseUrl();
  const workspace = await temporaryFolder();
  const folder = await temporaryFolder();
  const start = async (name: string): Promise<ServerProcess> => {
    await mkdir(join(folder, name));
    const config = join(folder, `${name}.config.ts`);
    const replies = [
      { when: { user: "shell" }, call: [{ tool: "bash_run", input: { command: COUNTS, background: true } }] },
      { when: { user: "program" }, call: [{ tool: "bash_run", input: { command: COUNTS } }] },
      { when: {}, say: ["Done."] },
    ];
    await writeFile(
      config,
      `export default {
        models: { test: { provider: "scripted", script: { replies: ${JSON.stringify(replies)} } } },
        templates: { assistant: { systemPrompt: "x", model: "test", permission: { mode: "auto" } } },
        workspaceRoots: [${JSON.stringify(workspace)}], defaultWorkspace: ${JSON.stringify(workspace)},
      };`,
    );
    const env = { DATABASE_URL: url, TRIPLANE_CONFIG: config, TRIPLANE_DATA_DIR: join(folder, name) };
    return startServerProcess(env, "tests/support/short-lease-server.ts");
  };
  const one = await start("one");
  // One that stands still does not end.
  onTestFinished(() => void one.child.kill("SIGCONT"));
  const count = async (): Promise<number> => Number(await readFile(join(workspace, "count"), "utf8").catch(() => 0));
  return { one, asOne: connect(one.url), startTwo: async () => connect((await start("two")).url), count };
}

/** Fails if the program that counts goes on counting. */
async function expectStandstill(count: () => Promise<number>): Promise<void> {
  const before = await count();
  expect(before).toBeGreaterThan(0);
  // The time of ten rounds of the program: nothing tells that nothing happens.
  await delay(500);
  expect(await count()).toBe(before);
}

describe("a server that stands still (SIGSTOP) while its programs do not", () => {
  it("has its background shells killed before another server says that they are gone", async () => {
    const { one, asOne, startTwo, count } = await twoServers();
    const agent = await asOne.createAgent();
    await asOne.turn(agent.id, "shell");
    await expect.poll(count).toBeGreaterThan(0);
    const asTwo = await startTwo();
    one.child.kill("SIGSTOP");
    const ended = await asTwo.until(agent.id, "SHELL_ENDED");
    expect(ofType(ended, "ShellEnded").map(({ endReason }) => endReason)).toEqual(["SERVER_LOST"]);
    await expectStandstill(count);
    // When it wakes, it finds its shell closed, and says nothing more.
    one.child.kill("SIGCONT");
    await asOne.turn(agent.id, "again");
    expect(ofType(await asOne.events(agent.id), "ShellEnded")).toHaveLength(1);
    await one.says("a program was killed, since this server could not renew its lease in time");
  });

  it("has the programs of its calls killed before another server goes on with the agent", async () => {
    const { one, asOne, startTwo, count } = await twoServers();
    const agent = await asOne.createAgent();
    await asOne.send(agent.id, "program");
    await expect.poll(count).toBeGreaterThan(0);
    const asTwo = await startTwo();
    one.child.kill("SIGSTOP");
    const events = await asTwo.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd").map(({ call }) => call.state)).toEqual(["SEALED"]);
    await expectStandstill(count);
  });
});
