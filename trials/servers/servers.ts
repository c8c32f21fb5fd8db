import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createAgent, send, timelineOf, type TrialAgent } from "../agents.ts";
import { checkGapless, startPostgres } from "../postgres.ts";
import { SERVER_READY, start, type TrialProcess } from "../processes.ts";
import { countRuns } from "../run-once.ts";
import { checkProgramsEnded, startPrograms } from "./programs.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";
import { measureLatency } from "../latency.ts";

/**
 * `npm run trial:servers`: agents that speak and call tools without end, on three servers, whose owners are frozen for
 * three leases and woken 50 times, and killed 50 times, while the bell's connections are cut every 2 s. No event of an
 * old epoch is in the log, no call ran twice, every agent goes on, and nothing of a program runs whose server stands still once
 * others may go on. Then, in a quiet phase at 200 events a second, how
 * long an event takes to a subscriber of another server, with the bell and without. With --planted writes are not fenced.
 */
const SERVERS = 3;
const AGENTS = 6;
const LEASE_MS = 1_500;

await trialInFolder("servers", runServers);

async function runServers({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const postgres = await startPostgres();
  const workspace = join(folder, "work");
  await mkdir(workspace);
  let started = 0;
  const newServer = async (): Promise<TrialServer> => {
    started += 1;
    const name = `n${started}`;
    const env = {
      DATABASE_URL: postgres.url,
      TRIPLANE_CONFIG: fileURLToPath(new URL("servers.config.ts", import.meta.url)),
      TRIPLANE_DATA_DIR: join(folder, name),
      TRIAL_WORKSPACE: workspace,
      TRIAL_FOLDER: folder,
      TRIAL_NAME: name,
      ...(isPlanted ? { TRIAL_FAULT: "unfenced" } : {}),
    };
    return { name, process: await start("trials/servers/server.ts", SERVER_READY, env) };
  };
  const servers = await Promise.all(Array.from({ length: SERVERS }, newServer));
  const database = new pg.Client({ connectionString: postgres.url });
  // A trial that breaks off ends the database first.
  database.on("error", () => {});
  await database.connect();
  const cutting = cutBells(database);
  const agents: TrialAgent[] = [];
  for (let index = 0; index < AGENTS; index += 1) {
    const { process: server } = servers[index % SERVERS] ?? servers[0] ?? raise();
    const agent = await createAgent(server.said);
    await send(server.said, agent, "go");
    agents.push(agent);
  }
  const times = isShort ? 3 : 50;
  let freezes = 0;
  let kills = 0;
  for (let index = 0; index < times; index += 1) {
    const frozen = await ownerOf(database, agents, servers);
    const held = await heldBy(database, frozen);
    const programs = await startPrograms(database, frozen.process.said, workspace, held[0]);
    frozen.process.child.kill("SIGSTOP");
    freezes += 1;
    await until("the agents of a frozen server are taken", async () => (await heldBy(database, frozen)).length === 0, 10_000);
    await checkProgramsEnded(database, programs, fail);
    await delay(3 * LEASE_MS - LEASE_MS * 1.2);
    frozen.process.child.kill("SIGCONT");
    if (held.length === 0) fail("a server without agents was frozen");

    const killed = await ownerOf(database, agents, servers);
    servers.splice(servers.indexOf(killed), 1);
    const next = newServer();
    await killed.process.kill();
    kills += 1;
    await until("the agents of a killed server are taken", async () => (await heldBy(database, killed)).length === 0, 10_000);
    servers.push(await next);
    // The first failure is enough.
    if (isPlanted) await checkAgents(servers[0]?.process.said ?? "", agents, fail);
  }
  const [reader] = servers;
  const counts = await checkAgents(reader?.process.said ?? "", agents, fail);
  await checkGapless(postgres.url, fail);
  const { again } = await countRuns(folder);
  if (again > 0) fail(`${again} calls ran again`);
  await cutting.stop();
  // The quiet phase: the agents are ended, and nothing but the measured events is written.
  await database.query("UPDATE agent SET runnable_at = NULL, lease_owner = NULL, lease_epoch = lease_epoch + 1");
  await delay(1_000);
  // So long that one hiccup of the machine is not a hundredth of it.
  const heard = await measureLatency(postgres.url, reader?.process.said ?? "", isShort ? 8 : 30);
  if (heard.p99 > 50) fail(`p99 of commit to another server's subscriber is ${heard.p99.toFixed(0)} ms, not 50`);
  const dead = cutBells(database, 50);
  const unheard = await measureLatency(postgres.url, reader?.process.said ?? "", isShort ? 3 : 30);
  await dead.stop();
  if (unheard.p99 > 1_200) fail(`without the bell p99 is ${unheard.p99.toFixed(0)} ms, not 1200`);
  await database.end();
  return `${freezes} freezes, ${kills} kills, ${counts}; ${heard.count} events at 200/s: p50 ${heard.p50.toFixed(1)}, p99 ${heard.p99.toFixed(1)} ms; without the bell p50 ${unheard.p50.toFixed(0)}, p99 ${unheard.p99.toFixed(0)} ms`;
}

type TrialServer = { readonly name: string; readonly process: TrialProcess };

/** Cuts the connections that listen, again and again. */
function cutBells(database: pg.Client, everyMs = 2_000): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const cutting = (async () => {
    while (!stopping.signal.aborted) {
      await database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'triplane % bell'",
      );
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await cutting;
    },
  };
}

/** Which server's words came last in an agent's timeline. */
async function speakerOf(database: pg.Client, { row }: TrialAgent): Promise<string | null> {
  const { rows } = await database.query(
    `SELECT payload ->> 'delta' AS delta FROM event WHERE agent_id = $1 AND kind = 'TEXT_CHUNK' ORDER BY seq DESC LIMIT 1`,
    [row],
  );
  const [last] = rows as { delta: string }[];
  return /<(n\d+)>/.exec(last?.delta ?? "")?.[1] ?? null;
}

/** A running server that holds agents. */
async function ownerOf(
  database: pg.Client,
  agents: readonly TrialAgent[],
  servers: readonly TrialServer[],
): Promise<TrialServer> {
  let owner: TrialServer | undefined;
  await until(
    "an agent has an owner",
    async () => {
      const agent = agents[Math.floor(Math.random() * agents.length)];
      const name = agent === undefined ? null : await speakerOf(database, agent);
      owner = servers.find((server) => server.name === name);
      return owner !== undefined && (await heldBy(database, owner)).length > 0;
    },
    20_000,
  );
  return owner ?? raise();
}

/** The agents whose last words are this server's. */
async function heldBy(database: pg.Client, { name }: TrialServer): Promise<readonly string[]> {
  const { rows } = await database.query(
    `SELECT a.id FROM agent a, LATERAL (SELECT payload ->> 'delta' AS delta FROM event e WHERE e.agent_id = a.id AND e.kind = 'TEXT_CHUNK' ORDER BY e.seq DESC LIMIT 1) last
     WHERE last.delta LIKE '%<' || $1 || '>%'`,
    [name],
  );
  return (rows as { id: string }[]).map(({ id }) => id);
}

/** After an agent was resumed by a server, no other speaks for it until it is resumed again. */
async function checkAgents(url: string, agents: readonly TrialAgent[], fail: TrialRun["fail"]): Promise<string> {
  let events = 0;
  let resumptions = 0;
  let stale = 0;
  for (const agent of agents) {
    const timeline = await timelineOf(url, agent);
    events += timeline.length;
    let speaker: string | null = null;
    const gone = new Set<string>();
    for (const [index, { seq, kind, delta }] of timeline.entries()) {
      if (seq !== index + 1) fail(`agent ${agent.row}: seq ${seq} is where ${index + 1} should be`);
      if (kind === "AGENT_RESUMED") {
        resumptions += 1;
        if (speaker !== null) gone.add(speaker);
        speaker = null;
      }
      const name = /<(n\d+)>/.exec(delta ?? "")?.[1];
      if (name === undefined) continue;
      if (speaker !== null && name !== speaker) stale += 1;
      speaker = name;
    }
    const before = timeline.length;
    await until(`agent ${agent.row} goes on`, async () => (await timelineOf(url, agent)).length > before + 20, 20_000).catch(
      (error: unknown) => fail(String(error)),
    );
  }
  if (stale > 0) fail(`${stale} events are of an old epoch`);
  return `${events} events, ${resumptions} resumptions, ${stale} events of an old epoch`;
}

function raise(): never {
  throw new Error("there is no server");
}
