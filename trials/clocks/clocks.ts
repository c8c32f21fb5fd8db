import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { allow, createAgent, send, stateOf, type TrialAgent } from "../agents.ts";
import { startPostgres } from "../postgres.ts";
import { ask, SERVER_READY, start, TRIAL_TOKEN, type TrialProcess } from "../processes.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";

/**
 * `npm run trial:clocks`: three servers on one database, of which one is right, one a year ahead, and one a year behind. Agents of each
 * ask people, delegations are given on each, and all three look for what is to be removed, expires or ends: nothing is. What a
 * person is asked on one is answered on the others. With --planted the database itself takes policies to be a year later.
 */
const YEAR_MS = 365 * 24 * 60 * 60 * 1_000;
const SHIFTS_MS = { right: 0, ahead: YEAR_MS, behind: -YEAR_MS } as const;
/** How long all three look: each looks for what has expired once a second. */
const LOOKS_MS = { short: 4_000, long: 60_000 };

await trialInFolder("clocks", runClocks);

async function runClocks({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const postgres = await startPostgres();
  const workspace = join(folder, "work");
  await mkdir(workspace);
  const servers: { readonly name: string; readonly process: TrialProcess; readonly skew: number }[] = [];
  for (const [name, shiftMs] of Object.entries(SHIFTS_MS)) {
    const env = {
      DATABASE_URL: postgres.url,
      TRIPLANE_CONFIG: fileURLToPath(new URL("clocks.config.ts", import.meta.url)),
      TRIPLANE_DATA_DIR: join(folder, name),
      TRIAL_SHIFT_MS: String(shiftMs),
      TRIAL_WORKSPACE: workspace,
    };
    const process = await start("trials/clocks/server.ts", SERVER_READY, env);
    servers.push({ name, process, skew: await skewOf(process.said) });
  }
  const database = new pg.Client({ connectionString: postgres.url });
  database.on("error", () => {});
  await database.connect();
  const asked: { readonly agent: TrialAgent; readonly on: string }[] = [];
  for (const { process, skew, name } of servers) {
    const shift = SHIFTS_MS[name as keyof typeof SHIFTS_MS] / 1_000;
    if (Math.abs(skew - shift) > 2) fail(`the server that is ${name} says that it is ${skew} s ahead, not ${shift}`);
    const agent = await createAgent(process.said);
    await send(process.said, agent, "ask");
    await until("an agent asks", async () => (await stateOf(process.said, agent)).pendingApprovals.length === 1, 10_000);
    asked.push({ agent, on: process.said });
    const { delegateApprovals } = await ask<{ delegateApprovals: { userErrors: readonly object[] } }>(
      process.said,
      'mutation($until: DateTime!) { delegateApprovals(input: { toActorId: "vera", until: $until }) { userErrors { message } } }',
      { until: new Date(Date.now() + 60 * 60 * 1_000).toISOString() },
    );
    if (delegateApprovals.userErrors.length > 0)
      fail(`no delegation on the server that is ${name}: ${JSON.stringify(delegateApprovals.userErrors)}`);
  }
  if (isPlanted)
    await database.query(
      "CREATE OR REPLACE FUNCTION policy_time() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT statement_timestamp() + interval '1 year' $$",
    );
  await delay(isShort ? LOOKS_MS.short : LOOKS_MS.long);
  await checkNothingGone(database, fail);
  for (const [index, { agent }] of asked.entries()) {
    const elsewhere = asked[(index + 1) % asked.length]?.on ?? "";
    const [open] = (await stateOf(elsewhere, agent)).pendingApprovals;
    if (open === undefined) fail("a question is gone");
    else for (const code of await allow(elsewhere, open)) fail(`a question could not be answered on another server: ${code}`);
  }
  await database.end();
  return `${asked.length} questions and as many delegations on servers that are right, a year ahead and a year behind`;
}

/** What a server says of its machine's clock, in s. */
async function skewOf(url: string): Promise<number> {
  const response = await fetch(url.replace("/graphql", "/metrics"), { headers: { authorization: `Bearer ${TRIAL_TOKEN}` } });
  return Number(/^triplane_clock_skew_seconds (\S+)$/m.exec(await response.text())?.[1]);
}

async function checkNothingGone(database: pg.Client, fail: TrialRun["fail"]): Promise<void> {
  const { rows } = await database.query<{ floor: number; missing: number; closed: number; ended: number; wrong: number }>(
    `SELECT (SELECT max(floor)::int FROM tenant_log) AS floor,
      (SELECT (max(position) - count(*))::int FROM event) AS missing,
      (SELECT count(*)::int FROM approval WHERE state <> 'PENDING') AS closed,
      (SELECT count(*)::int FROM delegation WHERE ended_at IS NOT NULL) AS ended,
      (SELECT count(*)::int FROM event WHERE abs(extract(epoch FROM at - clock_timestamp())) > 600) AS wrong`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the database answers nothing");
  if (row.floor > 0 || row.missing > 0) fail(`the floor of the log is ${row.floor}, and ${row.missing} events are gone`);
  if (row.closed > 0) fail(`${row.closed} questions were closed, which nobody answered`);
  if (row.ended > 0) fail(`${row.ended} delegations have ended`);
  if (row.wrong > 0) fail(`${row.wrong} events have a time that is far from the database's`);
}
