import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { CompleteToolCallDocument, RemindAgentDocument } from "../generated/documents.ts";
import { rowId } from "../../src/lib/global-id.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { startTestApp } from "../support/app.ts";
import { connect, type PageEvent } from "../support/client.ts";
import { permissions, scenarios, type Scenario } from "../support/gate-scenario.ts";
import { INPUT_SCHEMA, obedience, OBEDIENT, World, type Effect } from "../support/gate-world.ts";

const AUTO = { mode: "auto", deny: [], allow: [], ask: [] } as const;
const ASKS = { ...AUTO, mode: "approval" } as const;

/**
 * The ways by which calls come about that no person's message asks for, whose results come from elsewhere, or that the model
 * writes as calls of another tool.
 */
const ENTRANCES = ["child", "child in the background", "grandchild", "reminder", "later", "client", "bridge"] as const;
type Entrance = (typeof ENTRANCES)[number];
const TREES = new Set<Entrance>(["child", "child in the background", "grandchild"]);

type Life = {
  readonly entrance: Entrance;
  /** True if the first agent of the tree asks before each call. */
  readonly asksAbove: boolean;
  readonly template: number;
  readonly steps: Scenario["steps"];
  readonly answers: readonly boolean[];
};

type Made = readonly (readonly { readonly tool: string; readonly input: object }[])[];

it("no way round the gate by children, reminders, later results, clients and call_tool: each effect has a verdict from before it", async () => {
  const world = await World.open();
  onTestFinished(() => world.close());
  const templates = [AUTO, ASKS, ...fc.sample(permissions, 4)].map(({ mode, deny, allow, ask }): TemplateConfig => ({
    systemPrompt: "You obey.",
    model: "test",
    selfApproval: true,
    permission: { mode, deny: [...deny], allow: [...allow], ask: [...ask] },
    clientTools: { acts: { description: "The test's client acts.", inputSchema: INPUT_SCHEMA, readOnly: false } },
    hooks: { preToolUse: [obedience()] },
  }));
  const names = templates.map((_template, index) => `t${index}`);
  const above = (permission: TemplateConfig["permission"]): TemplateConfig => ({
    systemPrompt: "You lead.",
    model: "test",
    selfApproval: true,
    permission: permission ?? {},
    subagents: { templates: ["middle", ...names], depth: 2, atOnce: 8 },
  });
  const tokens = new Map<string, string>();
  const app = await startTestApp({
    model: OBEDIENT,
    config: {
      tools: [...world.tools(), world.laterTool("posts", (callId, token) => tokens.set(callId, token))],
      templates: {
        ...Object.fromEntries(templates.map((template, index) => [`t${index}`, template])),
        free: above({ ...AUTO, deny: [], allow: [], ask: [] }),
        asking: above({ mode: "approval" }),
        middle: above({ mode: "auto" }),
      },
    },
  });
  world.sql = app.database.sql;
  // Agents that may be given tools later have the bridge.
  app.services.of("local").tools.setServerUnavailable("gh", "it is away");
  const client = connect(app.url);
  /** The agents of each entrance. */
  const reached = new Map<string, Entrance>();
  const refused: string[] = [];

  const complete = async (callId: string) =>
    (await client.get(CompleteToolCallDocument, { input: { callId, result: { done: true } } })).completeToolCall;
  const post = async (callId: string, token: string) =>
    fetch(new URL("/tool-calls/result", app.url), {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ result: `done ${callId}` }),
    });

  const handle = async (event: PageEvent, answers: boolean[]): Promise<void> => {
    if (event.__typename === "PermissionRequired") {
      const { approvalId, inputHash, call } = event.request;
      // A result before the permission is no way in.
      for (const error of (await complete(call?.callId ?? "")).userErrors) refused.push(error.code);
      const isAllowed = call?.name === "task_run" || (answers.shift() ?? true);
      const input = isAllowed
        ? ({ approvalId, decision: "ALLOW", inputHash } as const)
        : ({ approvalId, decision: "DENY" } as const);
      expect((await client.decide(input)).userErrors).toEqual([]);
    }
    if (event.__typename !== "ToolWaiting") return;
    const { callId, name } = event.call;
    if (name === "acts") {
      await world.clientActs(callId, name, event.toolCall?.input);
      expect((await complete(callId)).userErrors).toEqual([]);
    }
    const token = tokens.get(callId);
    if (token !== undefined) expect((await post(callId, token)).status).toBe(200);
  };

  /** Follows a tree until its first agent has ended a turn that knows of all its children's ends, and answers what it asks. */
  const through = async (id: string, since: string, answers: boolean[], entrance: Entrance): Promise<void> => {
    let working = TREES.has(entrance) ? 1 : 0;
    let isFirst = true;
    for await (const { events } of client.timeline({ agentIds: [id], withDescendants: true, since }))
      for (const event of events) {
        await handle(event, answers);
        if (event.__typename === "AgentReturned") working -= 1;
        if (event.__typename === "AgentSpawned") {
          reached.set(rowId("Agent", event.childId) ?? "", entrance);
          if (!isFirst) working += 1;
          isFirst = false;
        }
        if (event.__typename === "Done" && event.agent?.id === id && working === 0) return;
      }
  };

  const made = ({ entrance, template, steps }: Life): Made => {
    const first = { n: 1, hook: "none" };
    if (entrance === "later") return [[{ tool: "posts", input: first }]];
    if (entrance === "client") return [[{ tool: "acts", input: first }]];
    if (entrance === "reminder") return JSON.parse(world.asks(steps)) as Made;
    if (entrance === "bridge")
      return (JSON.parse(world.asks(steps)) as Made).map((calls) => calls.map((call) => ({ tool: "call_tool", input: call })));
    const start = (agentTemplateId: string, prompt: string, background = false): Made => [
      [{ tool: "task_run", input: { description: "work", prompt, agentTemplateId, background } }],
    ];
    const below = start(`t${template}`, world.asks(steps), entrance === "child in the background");
    return entrance === "grandchild" ? start("middle", JSON.stringify(below)) : below;
  };
  const live = async (life: Life): Promise<void> => {
    const { entrance, asksAbove, template, answers } = life;
    const isTree = TREES.has(entrance);
    const templateId = isTree ? (asksAbove ? "asking" : "free") : `t${template}`;
    const { id, cursor } = await client.createAgent({ templateId });
    const text = JSON.stringify(made(life));
    if (entrance === "reminder") await client.get(RemindAgentDocument, { input: { agentId: id, text, startsTurn: true } });
    else await client.send(id, text);
    if (!isTree) reached.set(rowId("Agent", id) ?? "", entrance);
    await through(id, cursor, [...answers], entrance);
  };

  const all = async (lives: readonly Life[]): Promise<unknown> =>
    Promise.race([world.broken.promise, Promise.all(lives.map(live))]);
  const plain = [[{ tool: "adds", input: { n: 1, hook: "none" } }]] as const;
  await all(
    ENTRANCES.flatMap((entrance) =>
      [0, 1].map((template): Life => ({ entrance, asksAbove: false, template, steps: plain, answers: [] })),
    ),
  );
  const asked = world.effects.length;
  await all(
    ENTRANCES.slice(0, 3).map((entrance): Life => ({ entrance, asksAbove: true, template: 0, steps: plain, answers: [] })),
  );
  // The tools of the trial need no person in t0: the agent above asks.
  const bound = world.effects.slice(asked);
  expect(bound.map(({ committed }) => committed?.verdict)).toEqual(["ask", "ask", "ask"]);
  const lives = scenarios(templates.length).chain(({ template, steps }) =>
    fc.record({
      entrance: fc.constantFrom(...ENTRANCES),
      asksAbove: fc.boolean(),
      template: fc.constant(template),
      steps: fc.constant(
        steps.map((calls) => calls.filter(({ tool }) => tool !== "bash_run")).filter((calls) => calls.length > 0),
      ),
      answers: fc.array(fc.boolean(), { maxLength: 4 }),
    }),
  );
  const asking = lives.filter(({ steps }) => steps.length > 0);
  await fc.assert(
    fc.asyncProperty(fc.array(asking, { minLength: 6, maxLength: 6 }), async (some) => void (await all(some))),
    { numRuns: 2 },
  );
  const by = (entrance: Entrance): readonly Effect[] =>
    world.effects.filter(({ committed }) => reached.get(committed?.agentId ?? "") === entrance);
  expect(ENTRANCES.filter((entrance) => by(entrance).length === 0)).toEqual([]);
  expect(world.effects.some(({ kind }) => kind === "client")).toBe(true);
  expect(new Set(refused)).toEqual(new Set(["NOT_WAITING"]));
}, 60_000);
