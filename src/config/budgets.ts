import { BUDGET_SETTINGS, budgetId, type Budget, type BudgetConfig, millionthsOf } from "../agent/budgets/budget.ts";
import { complete } from "../lib/setting.ts";
import { isTimeZone } from "../lib/time.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";

const ACTIONS = { warn: "WARN", ask: "ASK", stop: "STOP" } as const;
const WINDOWS = { day: "DAY", month: "MONTH" } as const;

/** The budgets of a template, or with null those of a tenant. Throws ConfigurationError with the place of each problem. */
export function budgetsOf(field: string, configs: readonly BudgetConfig[], templateId: string | null): readonly Budget[] {
  const problems = new Problems();
  const budgets = configs.map((config, index) => {
    problems.of(() => check(`${field}.${index}`, config, templateId));
    return budgetOf(config, templateId);
  });
  budgets.forEach(({ id }, index) => {
    const first = budgets.findIndex((other) => other.id === id);
    if (first < index)
      problems.of(() =>
        refuse(`${field}.${index}`, `is the same budget as ${field}.${first}: give one of them the limits of both`),
      );
  });
  problems.none({});
  return budgets;
}

function budgetOf(config: BudgetConfig, templateId: string | null): Budget {
  const { per, usd, tokens, window, timeZone, warnAt, then } = complete(BUDGET_SETTINGS, config);
  const identity = {
    per,
    templateId,
    subject: per === "TEMPLATE" ? templateId : null,
    window: window === undefined ? "NONE" : WINDOWS[window],
    timeZone,
    action: ACTIONS[then],
  } as const;
  return {
    id: budgetId(identity),
    ...identity,
    millionths: usd === undefined ? null : millionthsOf(usd),
    tokens: tokens ?? null,
    warnAt,
    origin: { kind: "CONFIGURATION" },
  };
}

function check(field: string, { per, usd, tokens, window, timeZone }: BudgetConfig, templateId: string | null): void {
  if (usd === undefined && tokens === undefined) refuse(field, "has no limit: give it `usd`, `tokens` or both");
  if (per === "TENANT" && templateId !== null)
    refuse(`${field}.per`, "limits the whole tenant, whatever the template: write it in `budgets` outside of templates");
  if (per === "TEMPLATE" && templateId === null)
    refuse(`${field}.per`, "limits the agents of one template: write it in the `budgets` of that template");
  if (per === "TURN" && window !== undefined)
    refuse(`${field}.window`, "has no use for a turn, which has its own beginning: leave it out");
  if (timeZone !== undefined && window === undefined) refuse(`${field}.timeZone`, "needs a `window` of a day or a month");
  if (timeZone !== undefined && !isTimeZone(timeZone))
    refuse(`${field}.timeZone`, `names no time zone: ${JSON.stringify(timeZone)}. Use a name such as Europe/Berlin or UTC`);
}

function refuse(field: string, message: string): never {
  throw new ConfigurationError(`${field} ${message}`);
}
