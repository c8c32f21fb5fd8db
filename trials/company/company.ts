import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createAgent } from "../agents.ts";
import { Random } from "../hands/random.ts";
import { checkGapless, startPostgres } from "../postgres.ts";
import { start } from "../processes.ts";
import { trialInFolder, type TrialRun } from "../trial.ts";
import { Deciding } from "./deciding.ts";
import { checkAll } from "./ending.ts";
import { deathOf, deathsOf, Fleet } from "./fleet.ts";
import { Giving, type OpenCall } from "./giving.ts";
import { FURTHER_WORK, roundsOf, treeOf, type Job, type PlannedAgent, type Round, type Size } from "./plan.ts";
import { POINTS, WORK_OF, type Point } from "./points.ts";
import { checkOnlyWaiting, ended } from "./resting.ts";
import { contradictions, readQuestions, readWaiting } from "./rows.ts";
import { SeenFaults } from "./seen.ts";
import { tell, type Working } from "./telling.ts";
import { eachOf, type World } from "./world.ts";

/**
 * `npm run trial:company`: agents of three servers wait for a job queue that gives results in all ways (plan.ts), for clients,
 * for their time to be up, for children, for MCP servers with their questions and tasks, and for schedules. Meanwhile servers
 * are killed at the points of points.ts. Each call starts and ends once, the recorded result is the accepted one, all others
 * are told the final state, waits end once and in time, and agents that only wait have no owner. Each child runs, returns and
 * is told once (families.ts). MCP servers run no call twice, each question is asked and answered once (mcp-checks.ts), and
 * each schedule sends one reminder. With --planted, servers have the faults of faults.ts, and each of them must be seen.
 * TRIAL_SEED repeats a plan.
 */
const SERVERS = 3;
const WHOLE = { rounds: 2, share: 1, reminders: 50 };
const SHORT = { rounds: 1, share: 0.3, reminders: 10 };
/** The time between two messages, in ms: agents of all kinds work during the deaths. */
const PACE_MS = 20;
const FURTHER_MS = 150;
const LOOK_MS = 200;
/** The point at which a server of a planted run dies. */
const PLANTED: Point = "between the result of an answered question and the end of its call";

await trialInFolder("company", runCompany);

async function runCompany({ isShort, isPlanted, fail: failTrial }: TrialRun, folder: string): Promise<string> {
  const seed = Number(process.env["TRIAL_SEED"] ?? Date.now() % 1_000_000);
  const random = new Random(seed);
  const size: Size = { ...(isShort ? SHORT : WHOLE), isSmall: isPlanted };
  const [people, deciding] = [new Giving(seed), new Deciding(seed)];
  const queue = start("trials/company/queue.ts", /http:\S+/, { TRIAL_SEED: String(seed) });
  const postgres = startPostgres();
  const environment = async (): Promise<Readonly<Record<string, string>>> => ({
    DATABASE_URL: (await postgres).url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("company.config.ts", import.meta.url)),
    TRIPLANE_DATA_DIR: folder,
    TRIAL_SEED: String(seed),
    TRIAL_SIZE: JSON.stringify(size),
    TRIAL_QUEUE: (await queue).said,
    ...(isPlanted ? { TRIAL_FAULTS: "all" } : {}),
  });
  const serve = (urls: readonly string[]): void => {
    people.serve(urls);
    deciding.serve(urls);
    void queue.then(({ tell }) => tell(`servers ${urls.join(" ")}`));
  };
  const seen = new SeenFaults(failTrial);
  const fail = isPlanted ? (problem: string) => seen.note(problem) : failTrial;
  const fleet = new Fleet(environment(), serve, (error) => fail(String(error)));
  await fleet.begin(isPlanted ? 2 : SERVERS);
  const { url } = await postgres;
  const database = new pg.Client({ connectionString: url });
  // A trial that breaks off ends the database first.
  database.on("error", () => {});
  await database.connect();
  const world: World = { fleet, queue: await queue, database, people, deciding, fail };
  const looking = look(world);
  const told: Working[] = [];
  for (const round of roundsOf(seed, size)) {
    const deaths = isPlanted ? deathOf(PLANTED) : deathsOf(random, isShort ? POINTS.length : 2 * POINTS.length);
    told.push(...(await work(world, round, deaths, random)));
  }
  await looking.stop();
  const counts = await checkAll(world, told);
  await checkGapless(url, fail);
  await Promise.all([database.end(), fleet.end()]);
  if (isPlanted) seen.check();
  return `seed ${seed}: ${told.length} agents, ${counts}`;
}

/** Looks at the rows all the time, and gives the calls and the questions for people to people. */
function look({ database, people, deciding, fail }: World): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const seen = new Set<string>();
  const isNew = ({ id }: { readonly id: string }): boolean => !seen.has(id) && seen.add(id).has(id);
  const looking = (async () => {
    while (!stopping.signal.aborted) {
      for (const problem of await contradictions(database)) fail(problem);
      for (const { id, input } of (await readWaiting(database)).filter(isNew)) {
        const call: OpenCall = { ...(input as Job), callId: id, token: null };
        void people.give(call).catch((error: unknown) => fail(String(error)));
      }
      for (const question of (await readQuestions(database)).filter(isNew))
        void deciding.answer(question).catch((error: unknown) => fail(String(error)));
      await delay(LOOK_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  // A trial that breaks off ends the database first.
  looking.catch(() => {});
  return {
    stop: async () => {
      stopping.abort();
      await looking;
    },
  };
}

function isReminded({ remindedAfterMs }: PlannedAgent): boolean {
  return remindedAfterMs !== null;
}

/** One round: agents work while servers die; then all turns end, those of patient agents last. */
async function work(
  world: World,
  { agents, further }: Round,
  deaths: ReturnType<typeof deathsOf>,
  random: Random,
): Promise<readonly Working[]> {
  const { fleet, fail } = world;
  // The reminders of these agents are due at the same instant: they come first.
  const [reminded, others] = [agents.filter(isReminded), agents.filter((agent) => !isReminded(agent))];
  const made = await eachOf([...reminded, ...others], async (planned): Promise<Working> => {
    return { ...planned, agent: await createAgent(random.of(fleet.urls), planned.template), remindedAt: null };
  });
  fleet.kill(deaths);
  const told: Working[] = [];
  const since = Date.now();
  for (const { remindedAfterMs, ...planned } of made) {
    const remindedAt = remindedAfterMs === null ? null : since + remindedAfterMs;
    const working = { ...planned, remindedAfterMs, remindedAt };
    void tell(fleet, working, random, fleet.urls[told.length % SERVERS] ?? "").catch((error: unknown) => fail(String(error)));
    told.push(working);
    await delay(PACE_MS);
  }
  // A planted run has none.
  if (FURTHER_WORK.some((kind) => further[kind].length > 0)) told.push(...(await tellFurther(world, further, random)));
  const isPatient = (agent: PlannedAgent): boolean =>
    treeOf(agent).some(({ calls }) => calls.some(({ way }) => way === "when released"));
  await ended(
    world,
    told.filter((working) => !isPatient(working)),
  );
  fleet.spare();
  await checkOnlyWaiting(world, told.filter(isPatient));
  world.queue.tell("release");
  await ended(world, told);
  return told;
}

/** Tells agents whose work comes to the points at which servers are still to die. */
async function tellFurther({ fleet, fail }: World, further: Round["further"], random: Random): Promise<readonly Working[]> {
  const told: Working[] = [];
  const unused = new Map(FURTHER_WORK.map((kind) => [kind, further[kind].values()]));
  while (fleet.isKilling) {
    await delay(FURTHER_MS);
    const { awaited } = fleet;
    if (awaited.length === 0) continue;
    const { url, point } = random.of(awaited);
    const planned = unused.get(WORK_OF[point])?.next().value;
    if (planned === undefined) {
      fail(`no server died ${point}, though all agents of its work were told`);
      break;
    }
    // With a server that dies meanwhile, nobody is told.
    const agent = await createAgent(url, planned.template).catch(() => null);
    if (agent === null) continue;
    const remindedAt = planned.remindedAfterMs === null ? null : Date.now() + planned.remindedAfterMs;
    const working = { ...planned, agent, remindedAt };
    told.push(working);
    void tell(fleet, working, random, url).catch((error: unknown) => fail(String(error)));
  }
  return told;
}
