import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createAgent, unpaired, type TrialAgent } from "../agents.ts";
import { Random } from "../hands/random.ts";
import { checkGapless, startPostgres } from "../postgres.ts";
import { ask, start, type TrialProcess } from "../processes.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";
import { checkCall, checkReminded } from "./checks.ts";
import { deathsOf, Fleet, TOKEN_BEGIN } from "./fleet.ts";
import { Giving, type OpenCall } from "./giving.ts";
import { checkFamily, readAgents } from "./families.ts";
import { roundsOf, treeOf, type Job, type PlannedAgent, type Round } from "./plan.ts";
import { POINTS } from "./points.ts";
import type { QueueReport } from "./queue.ts";
import { contradictions, readCalls, readEvents, readWaiting, tablesWith } from "./rows.ts";

/**
 * `npm run trial:company`: agents of three servers wait for a job queue that gives results in all ways (plan.ts), for people,
 * for their time to be up, for children, for an MCP server, and for schedules, while servers are killed around the order, the
 * wait, the result, the beginning and the return of children, the calls of the MCP server, and the reminders of schedules
 * (points.ts). Each call starts and ends once, the recorded result is the accepted one, all others are told the final state,
 * waits end once and in time, and agents that only wait have no owner. Each child runs, returns and is told once
 * (families.ts). The MCP server runs no call twice, and each schedule sends one reminder. With --planted a result is committed whatever the state of its call.
 * TRIAL_SEED repeats a plan.
 */
const SERVERS = 3;
/** The time between two messages, in ms: agents of all kinds work during the deaths. */
const PACE_MS = 20;
const FURTHER_MS = 100;
const LOOK_MS = 200;
/** The requests that the trial has under way at a time, where it makes many. */
const AT_ONCE = 6;
const TURNS_MS = 60_000;

const SEND =
  "mutation($id: ID!, $text: String!, $key: String!) { sendMessage(input: { agentId: $id, text: $text, idempotencyKey: $key }) { cursor } }";
const SCHEDULE =
  "mutation($id: ID!, $text: String!, $key: String!, $at: DateTime!) { createSchedule(input: { agentId: $id, text: $text, trigger: { at: $at }, idempotencyKey: $key }) { schedule { id } userErrors { code message } } }";

type Scheduled = {
  readonly createSchedule: { readonly userErrors: readonly { readonly code: string; readonly message: string }[] };
};

await trialInFolder("company", runCompany);

type World = {
  readonly fleet: Fleet;
  readonly queue: TrialProcess;
  readonly database: pg.Client;
  readonly people: Giving;
  readonly fail: TrialRun["fail"];
};

/** An agent that was told to work. */
type Working = PlannedAgent & { readonly agent: TrialAgent };

async function runCompany({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const seed = Number(process.env["TRIAL_SEED"] ?? Date.now() % 1_000_000);
  const random = new Random(seed);
  const rounds = roundsOf(seed, isShort ? 1 : 8, isPlanted);
  const people = new Giving(seed);
  const queue = start("trials/company/queue.ts", /http:\S+/, { TRIAL_SEED: String(seed) });
  const postgres = startPostgres();
  const environment = async (): Promise<Readonly<Record<string, string>>> => ({
    DATABASE_URL: (await postgres).url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("company.config.ts", import.meta.url)),
    TRIPLANE_DATA_DIR: folder,
    TRIAL_SEED: String(seed),
    TRIAL_ROUNDS: String(rounds.length),
    TRIAL_QUEUE: (await queue).said,
    ...(isPlanted ? { TRIAL_FAULT: "unconditional" } : {}),
  });
  const serve = (urls: readonly string[]): void => {
    people.serve(urls);
    void queue.then(({ tell }) => tell(`servers ${urls.join(" ")}`));
  };
  const fleet = new Fleet(environment(), serve, (error) => fail(String(error)));
  await fleet.begin(isPlanted ? 2 : SERVERS);
  const { url } = await postgres;
  const database = new pg.Client({ connectionString: url });
  // A trial that breaks off ends the database first.
  database.on("error", () => {});
  await database.connect();
  const world: World = { fleet, queue: await queue, database, people, fail };
  const looking = look(world);
  const told: Working[] = [];
  for (const round of rounds) {
    const deaths = isPlanted ? [] : deathsOf(random, isShort ? POINTS.length : 2 * POINTS.length);
    told.push(...(await work(world, round, deaths, random)));
  }
  await looking.stop();
  const counts = await checkAll(world, told);
  await checkGapless(url, fail);
  await Promise.all([database.end(), fleet.end()]);
  return `seed ${seed}: ${told.length} agents, ${counts}`;
}

/** Looks at the rows all the time, and gives the calls for people to people. */
function look({ database, people, fail }: World): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const seen = new Set<string>();
  const looking = (async () => {
    while (!stopping.signal.aborted) {
      for (const problem of await contradictions(database)) fail(problem);
      for (const { id, input } of await readWaiting(database)) {
        if (seen.has(id)) continue;
        seen.add(id);
        const call: OpenCall = { ...(input as Job), callId: id, token: null };
        void people.give(call).catch((error: unknown) => fail(String(error)));
      }
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

/** One round: agents work while servers die; then all turns end, those of patient agents last. */
async function work(
  world: World,
  { agents, further }: Round,
  deaths: ReturnType<typeof deathsOf>,
  random: Random,
): Promise<readonly Working[]> {
  const { fleet, fail } = world;
  const made = await eachOf(agents, async (planned): Promise<Working> => {
    return { ...planned, agent: await createAgent(random.of(fleet.urls), planned.template) };
  });
  fleet.kill(deaths);
  const told: Working[] = [];
  for (const working of made) {
    void tell(fleet, working, random).catch((error: unknown) => fail(String(error)));
    told.push(working);
    await delay(PACE_MS);
  }
  for (const planned of further) {
    if (!fleet.isKilling) break;
    await delay(FURTHER_MS);
    // Without a server, or with one that dies meanwhile, nobody is told.
    const agent = await createAgent(random.of([...fleet.urls, "http://127.0.0.1:1"]), planned.template).catch(() => null);
    if (agent === null) continue;
    const working = { ...planned, agent };
    told.push(working);
    void tell(fleet, working, random).catch((error: unknown) => fail(String(error)));
  }
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

/** Does something for each item, for a few at a time. */
async function eachOf<Item, Made>(items: readonly Item[], act: (item: Item, place: number) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  const left = items.entries();
  const worker = async (): Promise<void> => {
    for (const [place, item] of left) made[place] = await act(item, place);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return made;
}

/** Tells an agent to work, once, whichever server lives: at once, or by a schedule. */
async function tell(fleet: Fleet, { agent: { id }, text, remindedAfterMs }: Working, random: Random): Promise<void> {
  const deadline = performance.now() + TURNS_MS;
  for (;;) {
    try {
      if (remindedAfterMs === null) await ask(random.of(fleet.urls), SEND, { id, text, key: text });
      else await schedule(random.of(fleet.urls), { id, text, afterMs: remindedAfterMs });
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(200);
    }
  }
}

/** Makes a schedule, once: a key that was used with another time says that there is one. */
async function schedule(url: string, { id, text, afterMs }: { id: string; text: string; afterMs: number }): Promise<void> {
  const at = new Date(Date.now() + afterMs).toISOString();
  const { createSchedule } = await ask<Scheduled>(url, SCHEDULE, { id, text, key: text, at });
  for (const { code, message } of createSchedule.userErrors) if (code !== "IDEMPOTENCY_KEY_REUSED") throw new Error(message);
}

/** Agents and all below them are at rest: their turns have ended, and each end of a child is told. */
async function ended({ database, fail }: World, told: readonly Working[]): Promise<void> {
  const open = async (): Promise<readonly { id: string; state: string; turn: number }[]> =>
    (
      await database.query<{ id: string; state: string; turn: number }>(
        `SELECT id, state::text, turn FROM agent a WHERE (id = ANY ($1) OR root_id = ANY ($1)) AND (state <> 'READY' OR turn = 0
           OR EXISTS (SELECT FROM wait w WHERE w.agent_id = a.id AND w.settled_at IS NULL)
           OR EXISTS (SELECT FROM notice n WHERE n.agent_id = a.id AND n.source = 'CHILD' AND n.told_at_step IS NULL))`,
        [told.map(({ agent }) => agent.row)],
      )
    ).rows;
  await until("all turns end", async () => (await open()).length === 0, TURNS_MS).catch(async (error: unknown) =>
    fail(`${String(error)}: ${JSON.stringify((await open()).slice(0, 3))}`),
  );
}

/** Agents that only wait, for an order or for a child, have no owner, and no server is to continue them. */
async function checkOnlyWaiting({ database, fail }: World, patient: readonly Working[]): Promise<void> {
  const rows = patient.map(({ agent }) => agent.row);
  const busy = async () =>
    (
      await database.query<{ id: string; waiting: number }>(
        `SELECT a.id, a.state::text, a.lease_owner, a.runnable_at, (SELECT count(*)::int FROM tool_call t WHERE t.agent_id = a.id AND t.state = 'WAITING') AS waiting FROM agent a WHERE (a.id = ANY ($1) OR a.root_id = ANY ($1) AND a.done_reason IS NULL)
         AND NOT (a.state = 'PAUSED' AND a.lease_owner IS NULL AND a.runnable_at IS NULL AND EXISTS (SELECT FROM tool_call t WHERE t.agent_id = a.id AND t.state = 'WAITING'))`,
        [rows],
      )
    ).rows;
  await until("agents that wait have no owner", async () => (await busy()).length === 0, 15_000).catch(async (error: unknown) =>
    fail(`${String(error)}: ${JSON.stringify(await busy())}`),
  );
  // They stay so.
  await delay(300);
  for (const agent of await busy()) fail(`an agent that only waits does not rest: ${JSON.stringify(agent)}`);
}

async function checkAll({ fleet, queue, database, people, fail }: World, told: readonly Working[]): Promise<string> {
  const report = async (): Promise<QueueReport> => (await (await fetch(queue.said)).json()) as QueueReport;
  const trees = told.flatMap(treeOf);
  const planned = new Map(trees.flatMap(({ calls }) => calls.map((call) => [call.job, call] as const)));
  const started = new Set(trees.flatMap(({ children }) => children.map(({ text }) => text)));
  const { attempts, tokens, measured } = await settledAttempts(report, people);
  const given = Map.groupBy(attempts, ({ callId }) => callId);
  const [rows, events, agents] = [await readCalls(database), await readEvents(database), await readAgents(database)];
  const byCall = Map.groupBy(events, ({ callId }) => callId);
  const deaths = fleet.deaths.map(({ at }) => at);
  const interruptions = [...deaths, ...fleet.returns];
  const lateMs: number[] = [];
  const states: Record<string, number> = {};
  for (const row of rows) {
    if (started.has(row.job)) continue;
    const call = planned.get(row.job);
    if (call === undefined) throw new Error(`nobody planned the call ${row.job}`);
    const record = {
      planned: call,
      row,
      events: byCall.get(row.id) ?? [],
      attempts: given.get(row.id) ?? [],
      measured: measured[row.job] ?? 0,
      interruptions,
    };
    const late = checkCall(record, fail);
    if (late !== null) lateMs.push(late);
    states[row.state] = (states[row.state] ?? 0) + 1;
  }
  if (rows.length !== planned.size + started.size)
    fail(`there are ${rows.length} calls, not ${planned.size} and ${started.size} that start children`);
  const byAgent = Map.groupBy(events, ({ agentId }) => agentId);
  const urls = fleet.urls;
  await eachOf(agents, async ({ id: row }, place) => {
    (byAgent.get(row) ?? []).forEach(({ seq }, index) => {
      if (seq !== index + 1) fail(`agent ${row}: seq ${seq} is where ${index + 1} should be`);
    });
    const url = urls[place % urls.length] ?? "";
    const problem = await unpaired(url, { id: Buffer.from(`Agent:${row}`).toString("base64"), row });
    if (problem !== null) fail(`agent ${row}: ${problem}`);
  });
  let [children, reminders] = [0, 0];
  for (const working of told) {
    const agent = agents.find(({ id }) => id === working.agent.row);
    if (agent === undefined) throw new Error(`the agent ${working.text} has no row`);
    children += checkFamily(working, agent, { agents, calls: rows, events }, fail);
    if (working.remindedAfterMs === null) continue;
    reminders += 1;
    checkReminded({ text: working.text, events: byAgent.get(agent.id) ?? [], interruptions }, fail);
  }
  for (const problem of await contradictions(database)) fail(problem);
  const { rows: left } = await database.query<{ n: number }>("SELECT count(*)::int AS n FROM wait WHERE settled_at IS NULL");
  if (left[0]?.n !== 0) fail(`${left[0]?.n} waits are open at the end`);
  for (const table of await tablesWith(database, TOKEN_BEGIN)) fail(`a token is in the table ${table}`);
  if (fleet.tokenInOutput !== null) fail(`a token is in the output of a server: ${fleet.tokenInOutput}`);
  const points = POINTS.map((point) => [point, fleet.deaths.filter((death) => death.point === point).length] as const);
  for (const [point, count] of points) if (count === 0 && deaths.length > 0) fail(`no server died ${point}`);
  const outcomes: Record<string, number> = {};
  for (const { outcome } of attempts) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  return (
    `${children} children, ${reminders} reminders, ${Object.keys(measured).length} calls of the MCP server, ${rows.length} calls ${JSON.stringify(states)}, ${tokens} of them ordered; results ${JSON.stringify(outcomes)}; ` +
    `${lateMs.length} waits ended by time, at most ${Math.max(0, ...lateMs).toFixed(0)} ms after their time, or after the last death; ` +
    `${deaths.length} servers died ${JSON.stringify(Object.fromEntries(points))}; ${fleet.lines} lines of output`
  );

  /** The attempts of queue and people, once all results are given. */
  async function settledAttempts(read: () => Promise<QueueReport>, byPeople: Giving) {
    const isSettled = async (): Promise<boolean> => (await read()).open + byPeople.open === 0;
    await until("all results are given", isSettled, TURNS_MS).catch((error: unknown) => fail(String(error)));
    const latest = await read();
    for (const problem of latest.problems) fail(problem);
    return { attempts: [...latest.attempts, ...byPeople.attempts], tokens: latest.tokens, measured: latest.measured };
  }
}
