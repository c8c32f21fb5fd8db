import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admit, limitsOf, type Expected, type PeriodState, type Standing } from "../../../src/agent/budgets/admission.ts";
import { BUDGET_ACTIONS, budgetId, millionthsOf, type Budget } from "../../../src/agent/budgets/budget.ts";

const AMOUNT = fc.integer({ min: 0, max: 1_000_000 });
const LIMIT = fc.option(fc.integer({ min: 1, max: 2_000_000 }), { nil: null });

const PERIOD: PeriodState = {
  budgetId: "one",
  ref: "",
  startsAt: "1970-01-01T00:00:00.000Z",
  endsAt: null,
  spentMillionths: 0,
  spentTokens: 0,
  estimatedMillionths: 0,
  heldMillionths: 0,
  heldTokens: 0,
  isUnpriced: false,
  hasWarned: false,
  raisedMillionths: null,
  raisedTokens: null,
};

const BUDGET: Budget = {
  id: "one",
  per: "TENANT",
  templateId: null,
  subject: null,
  window: "NONE",
  timeZone: "UTC",
  warnAt: 0.8,
  action: "STOP",
  millionths: 1_000_000,
  tokens: null,
  origin: { kind: "CONFIGURATION" },
};

const standing = (budget: Partial<Budget>, period: Partial<PeriodState> = {}): Standing => ({
  budget: { ...BUDGET, ...budget },
  ref: "",
  period: { ...PERIOD, ...period },
});

const STANDING: fc.Arbitrary<Standing> = fc
  .record({
    action: fc.constantFrom(...BUDGET_ACTIONS),
    millionths: LIMIT,
    tokens: LIMIT,
    spentMillionths: AMOUNT,
    spentTokens: AMOUNT,
    heldMillionths: AMOUNT,
    heldTokens: AMOUNT,
    raisedMillionths: LIMIT,
    raisedTokens: LIMIT,
    hasWarned: fc.boolean(),
  })
  .map(({ action, millionths, tokens, ...period }) => standing({ action, millionths, tokens }, period));

const EXPECTED: fc.Arbitrary<Expected> = fc.record({
  millionths: fc.option(AMOUNT, { nil: null }),
  tokens: AMOUNT,
});

/** Whether the step fits, said in another way. */
function fits(each: Standing, { millionths, tokens }: Expected): boolean {
  const limits = limitsOf(each);
  const usd = each.period.spentMillionths + each.period.heldMillionths + (millionths ?? 0);
  const all = each.period.spentTokens + each.period.heldTokens + tokens;
  const isFree = (millionths ?? 0) === 0;
  return (isFree || usd <= (limits.millionths ?? Infinity)) && (tokens === 0 || all <= (limits.tokens ?? Infinity));
}

describe("the admission of a step", () => {
  it("never refuses what fits on each budget, and never admits beyond one that asks or stops", () => {
    fc.assert(
      fc.property(fc.array(STANDING, { maxLength: 5 }), EXPECTED, (chain, expected) => {
        const binding = chain.filter(({ budget }) => budget.action !== "WARN");
        expect(admit(chain, expected).kind === "ADMITTED").toBe(binding.every((each) => fits(each, expected)));
      }),
    );
  });

  it("stops before it asks, by a budget that does not fit", () => {
    fc.assert(
      fc.property(fc.array(STANDING, { maxLength: 5 }), EXPECTED, (chain, expected) => {
        const admission = admit(chain, expected);
        if (admission.kind === "ADMITTED") return;
        expect(fits(admission.by, expected)).toBe(false);
        expect(admission.by.budget.action).toBe(admission.kind === "ASKED" ? "ASK" : "STOP");
        const stops = chain.some((each) => each.budget.action === "STOP" && !fits(each, expected));
        expect(admission.kind).toBe(stops ? "STOPPED" : "ASKED");
      }),
    );
  });

  it("holds the whole expected cost on each budget, and warns where nobody has", () => {
    fc.assert(
      fc.property(fc.array(STANDING, { maxLength: 5 }), EXPECTED, (chain, expected) => {
        const admission = admit(chain, expected);
        if (admission.kind !== "ADMITTED") return;
        expect(admission.holds.map(({ tokens }) => tokens)).toEqual(chain.map(() => expected.tokens));
        expect(admission.holds.every(({ millionths }) => millionths === (expected.millionths ?? 0))).toBe(true);
        expect(admission.warned.every(({ period }) => !period.hasWarned)).toBe(true);
        expect(admission.holds.filter(({ warns }) => warns)).toHaveLength(admission.warned.length);
      }),
    );
  });

  it("warns from the share of a limit on, and of a model without a price that only money limits", () => {
    const warns = (each: Standing, millionths: number | null): boolean => {
      const admission = admit([each], { millionths, tokens: 1 });
      return admission.kind === "ADMITTED" && admission.warned.length === 1;
    };
    expect(warns(standing({}, { spentMillionths: 700_000 }), 99_999)).toBe(false);
    expect(warns(standing({}, { spentMillionths: 700_000 }), 100_000)).toBe(true);
    expect(warns(standing({}, { spentMillionths: 700_000, hasWarned: true }), 100_000)).toBe(false);
    expect(warns(standing({}), null)).toBe(true);
    expect(warns(standing({ tokens: 1_000 }), null)).toBe(false);
  });

  it("lets a raised limit hold, and never lowers one by it", () => {
    expect(limitsOf(standing({}, { raisedMillionths: 3_000_000 })).millionths).toBe(3_000_000);
    expect(limitsOf(standing({}, { raisedMillionths: 3 })).millionths).toBe(1_000_000);
    expect(limitsOf(standing({ millionths: null, tokens: 5 }, { raisedMillionths: 3 }))).toEqual({ millionths: null, tokens: 5 });
  });
});

describe("amounts", () => {
  it("are whole millionths, never less than the dollars", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), (millionths) => {
        expect(millionthsOf(millionths / 1_000_000)).toBe(millionths);
      }),
    );
    expect(millionthsOf(0.1 + 0.2)).toBe(300_000);
    expect(millionthsOf(0.000_000_4)).toBe(1);
  });

  it("belong to one budget, whatever its limits", () => {
    expect(budgetId(BUDGET)).toBe(budgetId(standing({ millionths: 5, tokens: 3, warnAt: 0.5 }).budget));
    expect(budgetId(BUDGET)).not.toBe(budgetId({ ...BUDGET, action: "ASK" }));
    expect(budgetId(BUDGET)).toBe(budgetId({ ...BUDGET, timeZone: "Europe/Berlin" }));
  });
});
