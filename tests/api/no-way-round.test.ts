import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { ForkAgentDocument, InterruptAgentDocument, RetryTurnDocument } from "../generated/documents.ts";
import type { Sql } from "../../src/db/sql.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { startTestApp } from "../support/app.ts";
import { connect, type EventOf, type TestClient } from "../support/client.ts";
import {
  permissions,
  scenarios,
  type AskedCall,
  type HookName,
  type PersonsAnswer,
  type Scenario,
  type ToolName,
} from "../support/gate-scenario.ts";
import { obedience, OBEDIENT, World, type Effect } from "../support/gate-world.ts";

/** A template that asks for nothing, and one that asks for everything. */
const AUTO = { mode: "auto", deny: [], allow: [], ask: [] } as const;
const ASKS = { ...AUTO, mode: "approval" } as const;

/** As if the holder had died: its lease has run out, and a new epoch has begun. */
async function loseLease(sql: Sql, agentRow: string): Promise<void> {
  const text = "UPDATE agent SET lease_epoch = lease_epoch + 1, lease_owner = NULL, lease_until = NULL WHERE id = $1";
  await sql.query({ name: "lose_lease", text }, [agentRow]);
}

/** The part of a question that tells of its call. */
type Asked = { readonly kind: string; readonly call?: { readonly inputPreview: string | null } | null };

/** True for a question whether a call with `n: 2` may run, which a listener decides. */
function isListeners({ kind, call }: Asked): boolean {
  return kind === "TOOL_CALL" && call?.inputPreview?.includes('"n":2,') === true;
}

type Trial = { readonly client: TestClient; readonly world: World };

/** Waits until the shells that an agent left running have ended by themselves. */
async function shellsEnded(client: TestClient, agentId: string): Promise<void> {
  const running = async () => (await client.agent(agentId)).shells.filter(({ state }) => state === "RUNNING");
  await expect.poll(running, { timeout: 20_000 }).toEqual([]);
}

/** A person's answer to a question: what may not be allowed is denied. What is the listener's is left alone. */
async function answer(
  { client, world }: Trial,
  agentId: string,
  { request }: EventOf<"PermissionRequired">,
  said: PersonsAnswer,
) {
  const { approvalId, inputHash, kind } = request;
  if (isListeners(request)) return null;
  if (said === "interrupt") return client.get(InterruptAgentDocument, { input: { agentId } });
  if (kind === "OUTCOME_UNKNOWN") return client.decide({ approvalId, decision: said === "deny" ? "FAIL" : "RETRY", inputHash });
  const input = said === "edit" ? world.edited(request.call?.name ?? "") : null;
  const allowed = said === "deny" ? null : await client.decide({ approvalId, decision: "ALLOW", inputHash, input });
  return allowed?.userErrors.length === 0 ? allowed : client.decide({ approvalId, decision: "DENY" });
}

/** Follows an agent to the end of its turn, and answers what it asks. */
async function through(trial: Trial, agentId: string, since: string, answers: PersonsAnswer[]): Promise<void> {
  for await (const { events } of trial.client.timeline({ agentId, since }))
    for (const event of events) {
      if (event.__typename === "Done") return;
      if (event.__typename === "PermissionRequired") await answer(trial, agentId, event, answers.shift() ?? "allow");
    }
}

const call = (tool: ToolName, hook: HookName = "none", n = 1): AskedCall => ({ tool, input: { n, hook } });
const shell = (name: string, hook: HookName = "none"): AskedCall => ({
  tool: "bash_run",
  input: { env: { NAME: name, HOOK: hook } },
});
const SCENARIO: Scenario = { template: 0, steps: [[call("adds")]], answers: [], diesIn: null, after: "nothing" };
/** One of each entrance, whatever else is generated. */
const ENTRANCES: readonly Scenario[] = [
  SCENARIO,
  { ...SCENARIO, steps: [[call("looks"), call("counts"), call("looks", "input")]] },
  { ...SCENARIO, template: 1 },
  { ...SCENARIO, template: 1, answers: ["edit"] },
  { ...SCENARIO, template: 1, steps: [[call("adds", "none", 2)]] },
  { ...SCENARIO, template: 1, steps: [[call("adds", "input")], [call("looks")]], answers: ["interrupt"], after: "retry" },
  { ...SCENARIO, steps: [[call("sets")]], diesIn: 1 },
  { ...SCENARIO, steps: [[call("adds")]], diesIn: 1 },
  { ...SCENARIO, after: "fork" },
  { ...SCENARIO, steps: [[call("recalls")], [call("recalls")], [call("recalls", "input")], [call("recalls", "input")]] },
  { ...SCENARIO, steps: [[call("recalls", "once")], [call("recalls", "once")]] },
  { ...SCENARIO, steps: [[shell("plain")], [call("recalls")], [shell("hooked", "input")], [shell("denied", "deny")]] },
  { ...SCENARIO, template: 1, steps: [[shell("asked")], [shell("to be edited")]], answers: ["allow", "edit"] },
];

it("no way round the gate: each effect has a verdict from before it, bound to exactly its input, whatever the entrance", async () => {
  const world = await World.open();
  onTestFinished(() => world.close());
  const hook = obedience();
  const templates = [AUTO, ASKS, ...fc.sample(permissions, 10)].map(({ mode, deny, allow, ask }): TemplateConfig => ({
    systemPrompt: "You obey.",
    model: "test",
    selfApproval: true,
    unknownOutcome: "ask",
    permission: { mode, deny: [...deny], allow: [...allow], ask: [...ask] },
    hooks: { preToolUse: [hook] },
  }));
  const byListener: string[] = [];
  const app = await startTestApp({
    model: OBEDIENT,
    config: {
      tools: world.tools(),
      templates: Object.fromEntries(templates.map((template, index) => [`t${index}`, template])),
      on: {
        PERMISSION_REQUIRED: async ({ request }, { decide }) => {
          const { approvalId, inputHash, call } = request;
          if (call === null || !isListeners(request)) return;
          const allowed = await decide({ as: "listener", approvalId, decision: "ALLOW", inputHash });
          if (allowed.ok) byListener.push(call.callId);
          else await decide({ as: "listener", approvalId, decision: "DENY" });
        },
      },
    },
    overrides: { leaseTimes: { ttlMs: 1_500, renewMs: 100, startMs: 1_000 } },
  });
  world.sql = app.database.sql;
  const client = connect(app.url);
  const trial = { client, world };
  const forks: string[] = [];
  const retried: string[] = [];

  const turn = async (id: string, steps: Scenario["steps"], since: string, answers: readonly PersonsAnswer[]): Promise<void> => {
    await client.send(id, world.asks(steps));
    await through(trial, id, since, [...answers]);
  };
  const ended = async (id: string): Promise<void> => {
    await shellsEnded(client, id);
    await world.lookAtGiven(rowOf(id));
  };
  const live = async ({ template, steps, answers, diesIn, after }: Scenario): Promise<void> => {
    const { id, cursor } = await client.createAgent({ templateId: `t${template}` });
    if (diesIn !== null) world.dieIn(rowOf(id), diesIn, () => loseLease(app.database.sql, rowOf(id)));
    await turn(id, steps, cursor, answers);
    if (after === "retry") {
      const { retryTurn } = await client.get(RetryTurnDocument, { input: { agentId: id } });
      if (retryTurn.userErrors.length === 0) {
        retried.push(rowOf(id));
        await through(trial, id, retryTurn.cursor ?? "", []);
      }
    }
    await ended(id);
    if (after === "fork") {
      const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: id } });
      const fork = forkAgent.agent?.id ?? "";
      forks.push(rowOf(fork));
      await turn(fork, steps, forkAgent.cursor ?? "", []);
      await ended(fork);
    }
  };
  const all = async (some: readonly Scenario[]): Promise<unknown> =>
    Promise.race([world.broken.promise, Promise.all(some.map(live))]);
  await all(ENTRANCES);
  await fc.assert(
    fc.asyncProperty(
      fc.array(scenarios(templates.length), { minLength: 8, maxLength: 8 }),
      async (some) => void (await all(some)),
    ),
    {
      numRuns: 5,
    },
  );

  const of = (is: (effect: Effect) => boolean): number => world.effects.filter(is).length;
  const times = (effect: Effect): number => of(({ callId }) => callId === effect.callId);
  const says = (input: unknown, text: string): boolean => JSON.stringify(input).includes(text);
  const entrances = {
    plain: of(({ committed }) => committed?.verdict === "allow" && committed.hookVerdict === null),
    asked: of(({ committed }) => committed?.allowed !== null),
    edited: of(({ input }) => says(input, '"edited":true')),
    rewritten: of(({ input }) => says(input, '"hook":"input"')),
    listener: of(({ callId }) => byListener.includes(callId)),
    resumed: of((effect) => effect.committed?.attempt === 2 && times(effect) === 2),
    retried: of(({ committed }) => retried.includes(committed?.agentId ?? "")),
    cached: of(({ kind }) => kind === "given"),
    "cached, rewritten": of(({ kind, input }) => kind === "given" && says(input, '"hook":"input"')),
    background: of(({ kind }) => kind === "background"),
    "background, edited": of(({ kind, input }) => kind === "background" && says(input, "-edited")),
    "background, rewritten": of(({ kind, input }) => kind === "background" && says(input, "-rewritten")),
    forked: of(({ committed }) => forks.includes(committed?.agentId ?? "")),
  };
  expect(Object.entries(entrances).filter(([, effects]) => effects === 0)).toEqual([]);
  // A call of the same that the policy no longer allows is given nothing.
  expect(await deniedSince(app.database.sql)).toBeGreaterThan(0);
  expect(world.effects.filter(({ input, committed }) => says(input, "denied") || committed?.verdict === "deny")).toEqual([]);
  // Effects of calls that are copies happened once, in the agent that was forked.
  expect(of(({ committed }) => committed?.copiedFrom !== null)).toBe(0);
  const attempts = world.effects.map(({ callId, committed }) => `${callId} ${committed?.attempt}`);
  expect(attempts.filter((attempt, index) => attempts.indexOf(attempt) !== index)).toEqual([]);
}, 60_000);

/** The number of calls that were denied, though one of the same had run before. */
async function deniedSince(sql: Sql): Promise<number> {
  const text = `SELECT count(*)::int AS denied FROM tool_call d WHERE d.state = 'DENIED' AND d.cached_from IS NULL AND d.effective_input ->> 'hook' = 'once'
    AND EXISTS (SELECT FROM tool_call r WHERE r.agent_id = d.agent_id AND r.name = d.name AND r.state = 'COMPLETED' AND r.effective_input::text = d.effective_input::text)`;
  const [row] = await sql.query<{ denied: number }, []>({ name: "denied_since", text }, []);
  return row?.denied ?? 0;
}

/** The id of an agent's row. */
function rowOf(id: string): string {
  return Buffer.from(id, "base64").toString().split(":")[1] ?? "";
}
