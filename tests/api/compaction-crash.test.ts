import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { startServerProcess } from "../support/server-process.ts";

const SERVER = "tests/support/short-lease-server.ts";

/** Summaries take some seconds, answers a moment. */
const SCRIPT = {
  pace: { characters: 20, delayMs: 100 },
  replies: [
    { when: { user: "Write the summary now" }, say: [`Facts: the colour is blue. ${"More. ".repeat(150)}`] },
    { when: {}, say: ["ok"] },
  ],
};

const CONFIG = `export default {
  models: { test: { provider: "scripted", script: ${JSON.stringify(SCRIPT)}, window: 12_000 } },
  templates: { assistant: { systemPrompt: "You are tested.", model: "test", tools: ["todo_read"] } },
};`;

it("kill -9 during a background summary: the turn has its one DONE, and the next owner makes the summary again, once", async () => {
  const folder = await temporaryFolder();
  const config = join(folder, "triplane.config.ts");
  await writeFile(config, CONFIG);
  const env = { DATABASE_URL: await testDatabaseUrl(), TRIPLANE_CONFIG: config, TRIPLANE_DATA_DIR: join(folder, "data") };
  const one = await startServerProcess(env, SERVER);
  const first = connect(one.url);
  const { id } = await first.createAgent({ workspace: folder });
  const compressions = async (client: TestClient) => ofType(await client.events(id), "ContextCompression");
  let turns = 0;
  const talk = async (client: TestClient): Promise<void> => {
    await client.turn(id, `message ${turns} ${"m".repeat(4_000)}`);
    turns += 1;
  };
  while ((await compressions(first)).length === 0) await talk(first);
  // The summary is under way, and a turn with it.
  await first.send(id, `message ${turns}`);
  turns += 1;
  one.child.kill("SIGKILL");
  await one.exited;
  const two = await startServerProcess(env, SERVER);
  const second = connect(two.url);
  await expect.poll(async () => ofType(await second.events(id), "Done").length, { timeout: 15_000 }).toBe(turns);
  for (let more = 0; more < 6; more += 1) await talk(second);
  await expect.poll(async () => (await compressions(second)).at(-1)?.summary, { timeout: 15_000 }).toContain("blue");
  const all = await compressions(second);
  const lost = all.filter(({ compactionId }) => compactionId === all[0]?.compactionId);
  expect(lost).toMatchObject([
    { compressionPhase: "START" },
    { compressionPhase: "END", summary: null, failureReason: "its server was lost" },
  ]);
  for (const phase of ["START", "END"] as const) {
    const ids = all.filter(({ compressionPhase }) => compressionPhase === phase).map(({ compactionId }) => compactionId);
    expect(new Set(ids).size).toBe(ids.length);
  }
  const done = ofType(await second.events(id), "Done");
  expect(done.map(({ reason }) => reason)).toEqual(Array(turns).fill("COMPLETED"));
}, 60_000);
