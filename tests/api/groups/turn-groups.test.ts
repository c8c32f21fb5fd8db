import fc from "fast-check";
import { isEnumType } from "graphql";
import { describe, expect, it } from "vitest";
import { schema } from "../../../src/schema/index.ts";
import {
  StepGroupsDocument,
  TurnGroupsDocument,
  type StepDimension,
  type StepGroupsQuery,
  type StepMeasure,
  type TurnGroupsQuery,
  type TurnMeasure,
} from "../../generated/documents.ts";
import { NEIGHBOURS } from "../../support/actors.ts";
import { startTestApp } from "../../support/app.ts";
import { foldAll } from "../../support/audit.ts";
import { connect, type TestClient } from "../../support/client.ts";

const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;

type Step = {
  readonly agent: number;
  readonly turn: number;
  readonly at: Date;
  readonly model: string;
  readonly tokens: number | null;
  readonly cost: number | null;
  readonly ms: number;
};

/** Days on which the clocks of the zone change, where they do. */
const ZONES = [
  ["Europe/Berlin", "2026-03-28T12:00:00Z"],
  ["Asia/Kathmandu", "2026-05-01T00:00:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T00:00:00Z"],
  ["America/New_York", "2026-10-31T12:00:00Z"],
] as const;
const SPAN_HOURS = 72;

const CREATORS = ["anna", "anna", "ben"] as const;

/** A server with these steps of three agents, of which the third is below the first, and clients of its actors. */
async function office(steps: readonly Step[], isFolded: boolean) {
  const app = await startTestApp({ config: NEIGHBOURS });
  const run = (text: string, values: readonly unknown[]) => app.database.sql.query({ name: "", text }, [...values]);
  for (const [index, creator] of CREATORS.entries())
    await run(
      `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at, turn, root_id)
       VALUES ($1, 'acme', 'assistant', 'm', '/tmp', $2, 'USER', '2026-01-01', '2026-01-01', 9, $3)`,
      [idOf(index), creator, index === 1 ? idOf(0) : null],
    );
  for (const [index, { agent, turn, at, model, tokens, cost, ms }] of steps.entries())
    await run(
      `INSERT INTO step (agent_id, step, tenant, turn, state, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, started_at, completed_at)
       VALUES ($1, $2, 'acme', $3, $4::step_state, $5, $6::int, $6::int, $6::int, $6::int, $7::float8, $8::timestamptz, $9::timestamptz)`,
      [
        idOf(agent),
        index + 1,
        turn,
        tokens === null ? "ABORTED" : "COMPLETED",
        model,
        tokens,
        cost,
        at,
        new Date(at.getTime() + ms),
      ],
    );
  await run("TRUNCATE audit_turn_fold, audit_step, audit_turn", []);
  if (isFolded) await foldAll(app.database.sql);
  return { as: (name: string): TestClient => connect(app.url, `${name}-token`) };
}

const STEPS = fc
  .array(
    fc.record({
      agent: fc.nat(2),
      hour: fc.double({ min: 0, max: SPAN_HOURS - 0.001, noNaN: true }),
      model: fc.constantFrom("large", "small"),
      tokens: fc.option(fc.integer({ min: 1, max: 9_999 }), { freq: 5 }),
      eighths: fc.option(fc.nat(800), { freq: 3 }),
      ms: fc.integer({ min: 0, max: 60_000 }),
    }),
    { minLength: 1, maxLength: 25 },
  )
  .map((steps) => steps.toSorted((one, other) => one.hour - other.hour));

type Figures = Pick<
  StepGroupsQuery["stepGroups"]["total"],
  "steps" | "completed" | "inputTokens" | "costUsd" | "unpricedSteps" | "cachedShare"
> & { readonly p50: number | null };

function counted(steps: readonly Step[]): Figures {
  const sum = (of: (step: Step) => number | null): number => steps.reduce((total, step) => total + (of(step) ?? 0), 0);
  const times = steps.filter(({ tokens }) => tokens !== null).map(({ ms }) => ms);
  const sorted = times.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  const [low = 0, high = 0] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return {
    steps: steps.length,
    completed: times.length,
    inputTokens: sum(({ tokens }) => tokens),
    costUsd: sum(({ cost }) => cost),
    unpricedSteps: steps.filter(({ tokens, cost }) => tokens !== null && cost === null).length,
    cachedShare: sum(({ tokens }) => tokens) === 0 ? null : 1 / 3,
    p50: sorted.length === 0 ? null : (low + high) / 2,
  };
}

function plain(figures: StepGroupsQuery["stepGroups"]["total"]): Figures {
  const { steps, completed, inputTokens, costUsd, unpricedSteps, cachedShare, durationMs } = figures;
  return {
    steps,
    completed,
    inputTokens,
    costUsd,
    unpricedSteps,
    cachedShare,
    p50: durationMs.p50 === null ? null : Number(durationMs.p50.toFixed(3)),
  };
}

describe("groups of steps and turns", () => {
  it("are equal to a plain count in four zones, over days on which clocks change", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, fc.nat(3), fc.boolean(), async (drawn, which, isFolded) => {
        const [timeZone, begin] = ZONES[which] ?? ZONES[0];
        const from = new Date(begin);
        const steps = drawn.map(({ agent, hour, model, tokens, eighths, ms }, index): Step => ({
          agent,
          turn: index,
          at: new Date(from.getTime() + Math.floor(hour * 3_600_000)),
          model,
          tokens,
          cost: tokens === null || eighths === null ? null : eighths / 8,
          ms,
        }));
        const { as } = await office(steps, isFolded);
        const to = new Date(from.getTime() + SPAN_HOURS * 3_600_000);
        const bucket = { unit: which % 2 === 0 ? ("DAY" as const) : ("HOUR" as const), timeZone };
        const range = { from: from.toISOString(), to: to.toISOString(), bucket };
        const { stepGroups } = await as("vera").get(StepGroupsDocument, range);
        expect(plain(stepGroups.total)).toEqual(counted(steps));
        for (const { model, figures, series } of stepGroups.groups) {
          const own = steps.filter((step) => step.model === model);
          expect(plain(figures)).toEqual(counted(own));
          expect(series.map(plain)).toEqual(
            stepGroups.buckets.map((each) =>
              counted(own.filter(({ at }) => at >= new Date(each.from) && at < new Date(each.to))),
            ),
          );
        }
        expect(stepGroups.groupCount).toBe(new Set(steps.map(({ model }) => model)).size);
        const { turnGroups } = await as("vera").get(TurnGroupsDocument, { ...range, by: [] });
        const { inputTokens, costUsd, unpricedSteps } = counted(steps);
        expect(turnGroups.total).toMatchObject({ turns: steps.length, steps: steps.length, inputTokens, costUsd, unpricedSteps });
        expect(turnGroups.groups[0]?.series.reduce((sum, { turns }) => sum + turns, 0)).toBe(steps.length);
      }),
      // Each case keeps a server until the end of the test: smaller ones of a failure would take all connections.
      { numRuns: 8 },
    );
  });

  it("are sorted by each measure, those without one last", async () => {
    const at = new Date("2026-06-01T10:00:00Z");
    const steps = [
      { agent: 0, turn: 1, at, model: "large", tokens: 4, cost: 1, ms: 1_000 },
      { agent: 0, turn: 2, at, model: "small", tokens: null, cost: null, ms: 5 },
    ];
    const { as } = await office(steps, true);
    const valuesOf = (name: string): readonly string[] => {
      const type = schema.getType(name);
      return isEnumType(type) ? type.getValues().map((value) => value.name) : [];
    };
    for (const direction of ["ASC", "DESC"] as const) {
      for (const measure of valuesOf("StepMeasure") as readonly StepMeasure[]) {
        const { stepGroups } = await as("vera").get(StepGroupsDocument, { orderBy: { measure, direction } });
        expect(stepGroups.groupCount, measure).toBe(2);
        if (measure.startsWith("DURATION")) expect(stepGroups.groups.at(-1)?.model, measure).toBe("small");
      }
      for (const measure of valuesOf("TurnMeasure") as readonly TurnMeasure[])
        expect((await as("vera").get(TurnGroupsDocument, { orderBy: { measure, direction } })).turnGroups.groupCount).toBe(2);
    }
  });

  it("are those of the agents that the viewer may see, by each dimension, and add up to the total", async () => {
    const at = (minute: number): Date => new Date(Date.UTC(2026, 5, 1, 10, minute));
    const common = { model: "large", tokens: 4, cost: 1, ms: 1_000 };
    const { as } = await office(
      [
        { ...common, agent: 0, turn: 1, at: at(1) },
        { ...common, agent: 1, turn: 1, at: at(2), model: "small", cost: null },
        { ...common, agent: 1, turn: 1, at: at(3), tokens: null, cost: null },
        { ...common, agent: 2, turn: 1, at: at(4), cost: 5 },
      ],
      true,
    );
    const of = async (who: string, by: readonly StepDimension[]): Promise<StepGroupsQuery["stepGroups"]> =>
      (await as(who).get(StepGroupsDocument, { by: [...by], orderBy: { measure: "COST", direction: "DESC" } })).stepGroups;
    for (const [who, steps] of [
      ["anna", 3],
      ["ben", 1],
      ["vera", 4],
      ["zoe", 0],
    ] as const)
      for (const by of [["TEMPLATE"], ["AGENT", "MODEL"], ["STATE", "STOP_REASON"], ["REQUESTER"], ["ROOT_AGENT"]] as const) {
        const { groups, total } = await of(who, by);
        expect(total.steps, who).toBe(steps);
        expect(groups.reduce((sum, { figures }) => sum + figures.steps, 0)).toBe(steps);
      }
    const byPerson = (await of("vera", ["REQUESTER"])).groups;
    expect(byPerson.map(({ requestedBy, figures }) => [requestedBy?.actorId, figures.costUsd, figures.unpricedSteps])).toEqual([
      ["ben", 5, 0],
      ["anna", 1, 1],
    ]);
    const byTree = (await of("vera", ["ROOT_AGENT"])).groups;
    expect(byTree.map(({ rootAgent, figures }) => [rootAgent === null, figures.steps])).toEqual([
      [false, 1],
      [false, 3],
    ]);
    const turns: TurnGroupsQuery["turnGroups"] = (await as("anna").get(TurnGroupsDocument, { by: ["AGENT", "REASON"] }))
      .turnGroups;
    expect(turns.groups.map(({ figures }) => [figures.turns, figures.steps])).toEqual([
      [1, 1],
      [1, 2],
    ]);
    const ofOthers = await as("ben").get(StepGroupsDocument, { filter: { agentIds: [FIRST_AGENT] } });
    expect(ofOthers.stepGroups).toMatchObject({ groups: [], total: { steps: 0 } });
    const long = await as("anna").ask(TurnGroupsDocument, {
      from: "2000-01-01T00:00:00Z",
      bucket: { unit: "HOUR", timeZone: "UTC" },
    });
    expect(long.errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
  });
});

const FIRST_AGENT = Buffer.from(`Agent:${idOf(0)}`).toString("base64");
