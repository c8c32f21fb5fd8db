import { expect, it } from "vitest";
import { NO_TOKENS, type Model, type ModelEvent } from "../../../src/agent/models/model.ts";
import { budgetOffice, PRICE, spends } from "../../support/budgets.ts";
import { ofType } from "../../support/client.ts";
import { loseLeases, SHORT_LEASES } from "../../support/lost-leases.ts";
import { callsWith } from "../../support/models.ts";
import { ownTool } from "../../support/tools.ts";

const CHILDREN = 20;
const USAGE = { ...NO_TOKENS, inputTokens: 1_000, outputTokens: 100 };

const TASK = { description: "count", prompt: "Count the files.", agentTemplateId: "worker" };

/** Calls the tool, for 1,000 tokens. */
async function* looks(): AsyncGenerator<ModelEvent> {
  yield { type: "tool_use", block: 0, id: "look", name: "look", arguments: "{}" };
  yield { type: "end", stopReason: "tool_use", usage: USAGE };
}

async function* starts(): AsyncGenerator<ModelEvent> {
  for await (const event of callsWith(...Array.from({ length: CHILDREN }, () => ["task_run", TASK] as const)))
    yield event.type === "end" ? { ...event, usage: USAGE } : event;
}

/** A lead that starts children, which look without end; `during` runs in each call. The number of calls is counted. */
function teamThatSpends(during: (call: number, signal: AbortSignal) => Promise<void>): Model & { readonly made: () => number } {
  let made = 0;
  return {
    name: "spends",
    price: PRICE,
    made: () => made,
    async *stream(request, signal) {
      made += 1;
      await during(made, signal);
      if (request.system === "worker") yield* looks();
      else yield* JSON.stringify(request.messages).includes("tool_result") ? spends() : starts();
    },
  };
}

async function tree(usd: number, during: Parameters<typeof teamThatSpends>[0]) {
  const model = teamThatSpends(during);
  const look = ownTool("look", () => "nothing");
  const assistant = {
    systemPrompt: "lead",
    model: "test",
    tools: ["task_run"],
    permission: { mode: "auto" },
    subagents: { templates: ["worker"], atOnce: CHILDREN },
    toolConcurrency: CHILDREN,
    budgets: [{ per: "TREE", usd, then: "stop" }],
  } as const;
  const worker = { systemPrompt: "worker", model: "test", tools: ["look"], permission: { mode: "auto" } } as const;
  const office = await budgetOffice({
    model,
    config: { tools: [look], templates: { assistant, worker } },
    overrides: { leaseTimes: SHORT_LEASES },
  });
  return { ...office, model };
}

const REASONS = {
  name: "reasons_of_children",
  text: "SELECT done_reason AS reason, count(*)::int AS agents FROM agent WHERE parent_id IS NOT NULL GROUP BY 1",
} as const;

/** Steps that have ended, and the money of their own rows. */
const STEPS = {
  name: "cost_of_steps",
  text: "SELECT coalesce(sum(cost_usd), 0)::float8 AS usd, count(*) FILTER (WHERE state = 'STARTED')::int AS open FROM step",
} as const;

it(
  "20 children on one budget spend no more than the limit and a step each, and hold nothing afterwards",
  { timeout: 60_000 },
  async () => {
    const { app, as, spending, model } = await tree(4, async () => {});
    const { id } = await as("anna").createAgent();
    const events = await as("anna").turn(id, "go");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "BUDGET" }]);
    const reasons = await app.database.sql.query<{ reason: string; agents: number }, []>(REASONS, []);
    expect(reasons).toEqual([{ reason: "BUDGET", agents: CHILDREN }]);
    const { spent, held } = await spending();
    expect(held).toBe(0);
    expect(spent).toBe(model.made() * 100_000);
    // Only the first step of each agent costs more than expected.
    expect(spent).toBeLessThanOrEqual(4_000_000 + (CHILDREN + 1) * 100_000);
    expect(spent).toBeGreaterThan(3_500_000);
    const [steps] = await app.database.sql.query<{ usd: number; open: number }, []>(STEPS, []);
    expect(steps?.usd).toBeCloseTo(spent / 1_000_000, 6);
  },
);

it(
  "the same while servers die in the midst of calls: an unknown cost is estimated, and no hold stays",
  { timeout: 90_000 },
  async () => {
    const deaths = new Set([9, 17, 26]);
    const { app, as, spending, model } = await tree(4, async (call, signal) => {
      if (!deaths.has(call)) return;
      await loseLeases(app);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    });
    const { id } = await as("anna").createAgent();
    const events = await as("anna").turn(id, "go");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "BUDGET" }]);
    const { spent, held } = await spending();
    const [steps] = await app.database.sql.query<{ usd: number; open: number }, []>(STEPS, []);
    expect({ held, open: steps?.open }).toEqual({ held: 0, open: 0 });
    expect(spent).toBeLessThanOrEqual(4_000_000 + CHILDREN * 100_000);
    expect(model.made()).toBeGreaterThan(26);
    const charged = Math.round((steps?.usd ?? 0) * 1_000_000);
    const [estimated] = await app.database.sql.query<{ estimated: number }, []>(
      { name: "estimated", text: "SELECT estimated_millionths::float8 AS estimated FROM budget_period" },
      [],
    );
    expect(estimated?.estimated).toBeGreaterThan(0);
    // Lost calls are charged as they were expected, beside the steps whose cost is known.
    expect(spent).toBe(charged + (estimated?.estimated ?? 0));
  },
);
