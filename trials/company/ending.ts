import { unpaired } from "../agents.ts";
import { until } from "../trial.ts";
import { checkCall, checkReminded, LATE_MS } from "./checks.ts";
import { checkFamily, givenUp, readAgents, without } from "./families.ts";
import { TOKEN_BEGIN } from "./fleet.ts";
import { isOfMcp, treeOf } from "./plan.ts";
import { POINTS } from "./points.ts";
import type { QueueReport } from "./queue.ts";
import { contradictions, readCalls, readEvents, tablesWith } from "./rows.ts";
import type { Working } from "./telling.ts";
import { eachOf, type World } from "./world.ts";

const GIVEN_MS = 120_000;

/** Checks all rows, results and answers at the end. Returns their counts in words. */
export async function checkAll(
  { fleet, queue, database, people, deciding, fail }: World,
  worked: readonly Working[],
): Promise<string> {
  const report = async (): Promise<QueueReport> => (await (await fetch(queue.said)).json()) as QueueReport;
  const { attempts, tokens, counts } = await settledAttempts();
  const [rows, events, agents] = [await readCalls(database), await readEvents(database), await readAgents(database)];
  const unbegun = givenUp(worked, rows);
  const told = worked.map((each) => without(each, unbegun));
  const trees = told.flatMap(treeOf);
  const planned = new Map(trees.flatMap(({ calls }) => calls.map((call) => [call.job, call] as const)));
  const started = new Set([...unbegun, ...trees.flatMap(({ children }) => children.map(({ text }) => text))]);
  const given = Map.groupBy(attempts, ({ callId }) => callId);
  const decided = Map.groupBy(deciding.tries, ({ callId }) => callId);
  const byCall = Map.groupBy(events, ({ callId }) => callId);
  const deaths = fleet.deaths.map(({ at }) => at);
  const interruptions = [...deaths, ...fleet.returns];
  // On a busy machine all takes longer.
  const mayBeLateMs = LATE_MS + fleet.slowestStartMs;
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
      decided: decided.get(row.id) ?? [],
      counts: {
        asked: counts.asked[row.job] ?? 0,
        ran: counts.ran[row.job] ?? 0,
        refused: counts.refused[row.job] ?? 0,
        cancelled: counts.cancelled[row.job] ?? 0,
      },
      interruptions,
      mayBeLateMs,
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
    checkReminded({ text: working.text, events: byAgent.get(agent.id) ?? [], interruptions, mayBeLateMs }, fail);
  }
  for (const problem of await contradictions(database)) fail(problem);
  const { rows: left } = await database.query<{ n: number }>("SELECT count(*)::int AS n FROM wait WHERE settled_at IS NULL");
  if (left[0]?.n !== 0) fail(`${left[0]?.n} waits are open at the end`);
  for (const table of await tablesWith(database, TOKEN_BEGIN)) fail(`a token is in the table ${table}`);
  if (fleet.tokenInOutput !== null) fail(`a token is in the output of a server: ${fleet.tokenInOutput}`);
  const points = POINTS.map((point) => [point, fleet.deaths.filter((death) => death.point === point).length] as const);
  for (const [point, count] of points) if (count === 0 && deaths.length > 0) fail(`no server died ${point}`);
  const ofMcp: Record<string, number> = {};
  for (const { job } of rows) {
    const tool = planned.get(job)?.tool;
    if (tool !== undefined && isOfMcp(tool)) ofMcp[tool] = (ofMcp[tool] ?? 0) + 1;
  }
  const outcomes: Record<string, number> = {};
  for (const { outcome } of attempts) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  return (
    `${children} children, ${unbegun.size} given up, ${reminders} reminders, calls of MCP servers ${JSON.stringify(ofMcp)}, ${rows.length} calls ${JSON.stringify(states)}, ${tokens} of them ordered; results ${JSON.stringify(outcomes)}; ` +
    `${lateMs.length} waits ended by time, at most ${Math.max(0, ...lateMs).toFixed(0)} ms after their time, or after the last death, of ${mayBeLateMs.toFixed(0)} allowed; ` +
    `${deaths.length} servers died ${JSON.stringify(Object.fromEntries(points))}, and ${fleet.failedStarts} starts failed; ${fleet.lines} lines of output`
  );

  /** The attempts of queue and people, once all results and answers are given. */
  async function settledAttempts() {
    const isSettled = async (): Promise<boolean> => (await report()).open + people.open + deciding.open === 0;
    await until("all results are given", isSettled, GIVEN_MS).catch((error: unknown) => fail(String(error)));
    const latest = await report();
    for (const problem of latest.problems) fail(problem);
    return { attempts: [...latest.attempts, ...people.attempts], tokens: latest.tokens, counts: latest.counts };
  }
}
