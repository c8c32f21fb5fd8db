import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { Type } from "typebox";
import { BUDGET_PERS, type BudgetPer } from "../../events/budgets/budget-question.ts";
import type { ActorRef } from "../../events/snapshots.ts";
import { withDefault, type Written } from "../../lib/setting.ts";

export const BUDGET_WINDOWS = ["NONE", "DAY", "MONTH"] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/** The treatment of a step that does not fit: it runs all the same, a person is asked, or the turn ends. */
export const BUDGET_ACTIONS = ["WARN", "ASK", "STOP"] as const;
export type BudgetAction = (typeof BUDGET_ACTIONS)[number];

/** Money is counted in integers, in millionths of a US dollar. Null for no such limit. */
export type BudgetLimits = { readonly millionths: number | null; readonly tokens: number | null };

export type BudgetOrigin =
  | { readonly kind: "CONFIGURATION" }
  | { readonly kind: "ACTOR"; readonly setBy: ActorRef; readonly setAt: string; readonly revoked: Revoked | null };

type Revoked = { readonly by: ActorRef; readonly at: string };

export type Budget = BudgetLimits & {
  readonly id: string;
  readonly per: BudgetPer;
  /** The template to whose agents it applies; null for all agents. */
  readonly templateId: string | null;
  /** The only agent, template or actor for which it is; null for each of them. */
  readonly subject: string | null;
  readonly window: BudgetWindow;
  readonly timeZone: string;
  readonly warnAt: number;
  readonly action: BudgetAction;
  readonly origin: BudgetOrigin;
};

type Identity = Pick<Budget, "per" | "templateId" | "subject" | "window" | "timeZone" | "action">;

/** The id of a budget. With other limits it is the same budget, with the same spending. */
export function budgetId({ per, templateId, subject, window, timeZone, action }: Identity): string {
  const digest = createHash("sha256")
    .update(canonicalize([per, templateId, subject, window, window === "NONE" ? "" : timeZone, action]) ?? "")
    .digest("hex");
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export const MILLIONTHS = 1_000_000;

/** Dollars as millionths, rounded up: a step that costs something counts. */
export function millionthsOf(usd: number): number {
  // A sum of doubles is a little above the integer that it stands for.
  return Math.ceil(Math.round(usd * MILLIONTHS * 1_000) / 1_000);
}

export function usdOf(millionths: number): number {
  return millionths / MILLIONTHS;
}

/** The largest limits: sums of them stay exact. */
export const MOST_USD = 1_000_000_000;
export const MOST_TOKENS = 1_000_000_000_000;

/** The share of a limit at which a budget warns, if it has no other. */
export const WARN_AT = 0.8;

/** The most budgets of one template, and of one tenant in the configuration. */
export const MOST_BUDGETS = 20;

export const BUDGET_SETTINGS = {
  /**
   * The sharing of the limit: `TURN`, `AGENT`, `TREE`, `TEMPLATE` (only in a template), `TENANT` (only outside of templates) or
   * `REQUESTER` (docs/budgets.md). Must be given.
   */
  per: Type.Enum([...BUDGET_PERS]),
  /** The limit in US dollars. Without one, `tokens` must be given. */
  usd: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: MOST_USD })),
  /** The limit in tokens: input, output and those of the cache together. Without one, `usd` must be given. */
  tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_TOKENS })),
  /** The calendar `day` or `month` after which the counting begins anew. It never does if omitted. */
  window: Type.Optional(Type.Enum(["day", "month"])),
  /** The IANA zone of the days and months, with `window` only. `UTC` if omitted. */
  timeZone: withDefault(Type.String({ minLength: 1 }), "UTC"),
  /** The share of the limit from which on BUDGET_WARNED is reported, above 0 and up to 1. 0.8 if omitted. */
  warnAt: withDefault(Type.Number({ exclusiveMinimum: 0, maximum: 1 }), WARN_AT),
  /**
   * The end of the money: `warn` lets steps run on, `ask` asks a person for a higher limit, `stop` ends the turn. `ask` if
   * omitted.
   */
  then: withDefault(Type.Enum(["warn", "ask", "stop"]), "ask"),
};

export type BudgetConfig = Written<typeof BUDGET_SETTINGS>;
