import type { BudgetChangeEvent } from "../../events/budgets/budget-event.ts";
import type { BudgetPer } from "../../events/budgets/budget-question.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { actorRef, missingAbility, type Actor, type CommandRefusal, type Outcome } from "../actors/actor.ts";
import {
  budgetId,
  type Budget,
  type BudgetAction,
  type BudgetWindow,
  millionthsOf,
  MOST_TOKENS,
  MOST_USD,
  usdOf,
} from "../budgets/budget.ts";
import { isZoneOfDatabase } from "../../db/time-zone.ts";
import { readBudgets } from "../budgets/remembered-budgets.ts";
import type { AgentServices } from "../loop/scope.ts";
import { findAgent } from "./find-agent.ts";

/** `agentId` is the row's id. Of the three ids the one that `per` needs is given. */
export type SetBudget = {
  readonly per: BudgetPer;
  readonly agentId: string | null;
  readonly templateId: string | null;
  readonly requesterId: string | null;
  readonly usd: number | null;
  readonly tokens: number | null;
  readonly window: BudgetWindow;
  readonly timeZone: string | null;
  readonly warnAt: number;
  readonly action: BudgetAction;
};

type Services = Pick<AgentServices, "sql" | "log" | "clock" | "templates" | "budgets">;

/** The tries of a change that others were faster than. */
const TRIES = 10;

/** Sets the limits of a budget. Its spending so far counts. The same limits again have no effect. */
export async function setBudget(
  { sql, log, clock, ...services }: Services,
  actor: Actor,
  request: SetBudget,
): Promise<Result<Outcome, CommandRefusal>> {
  const missing = missingAbility(actor, "SET_BUDGETS");
  if (missing !== null) return refused(missing);
  const problem = problemOf(request);
  if (problem !== null) return refused({ code: "INVALID", ...problem });
  const subject = await subjectOf({ sql, ...services }, actor, request);
  if (!subject.ok) return subject;
  const { per, window, action, warnAt } = request;
  const timeZone = request.timeZone ?? "UTC";
  if (!(await isZoneOfDatabase(sql, timeZone)))
    return invalid(
      "timeZone",
      `there is no time zone ${JSON.stringify(timeZone)}: use a name such as \`Europe/Berlin\` or \`UTC\``,
    );
  const identity = { per, templateId: null, subject: subject.value, window, timeZone, action } as const;
  const id = budgetId(identity);
  const limits = { millionths: request.usd === null ? null : millionthsOf(request.usd), tokens: request.tokens };
  const at = clock.now();
  const { id: createdBy, kind: createdByKind } = actor;
  const outcome = await log.commitTenant(
    actor.tenant,
    [{ at, body: changed("BUDGET_SET", { id, ...identity, ...limits }, actor) }],
    {
      setBudget: {
        tenant: actor.tenant,
        id,
        per,
        subject: subject.value ?? "",
        ...limits,
        window,
        timeZone,
        warnAt,
        action,
        createdBy,
        createdByKind,
        createdAt: at,
        revokedAt: null,
        revokedBy: null,
        revokedByKind: null,
      },
    },
  );
  return accepted({ id, position: outcome.outcome === "COMMITTED" ? outcome.position : null });
}

/** Takes a budget back: the next steps do not count on it. Revoking it again has no effect. */
export async function revokeBudget(
  { sql, log, clock, budgets }: Services,
  actor: Actor,
  id: string,
): Promise<Result<Outcome, CommandRefusal>> {
  const missing = missingAbility(actor, "SET_BUDGETS");
  if (missing !== null) return refused(missing);
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const found = (await readBudgets(sql, actor.tenant, true)).find((each) => each.id === id);
    if (found === undefined) return refused(missingOf(budgets.configured, id));
    if (found.origin.kind === "ACTOR" && found.origin.revoked !== null) return accepted({ id, position: null });
    const at = clock.now();
    const { id: revokedBy, kind: revokedByKind } = actor;
    const outcome = await log.commitTenant(actor.tenant, [{ at, body: changed("BUDGET_REVOKED", found, actor) }], {
      revokeBudget: { id, revokedAt: at, revokedBy, revokedByKind },
    });
    if (outcome.outcome === "COMMITTED") return accepted({ id, position: outcome.position });
  }
  return refused({ code: "CONFLICT", field: null, message: "others change this budget at the same time: try again" });
}

function missingOf(configured: readonly Budget[], id: string): CommandRefusal {
  if (configured.some((budget) => budget.id === id))
    return { code: "INVALID", field: ["budgetId"], message: "the configuration has this budget: take it out there" };
  return { code: "NOT_FOUND", field: ["budgetId"], message: "there is no such budget: `budgets` lists them" };
}

type Problem = { readonly field: readonly string[]; readonly message: string };

function problemOf({ usd, tokens, window, timeZone, warnAt, per }: SetBudget): Problem | null {
  if (usd === null && tokens === null) return { field: ["usd"], message: "a budget needs a limit: give `usd`, `tokens` or both" };
  if (usd !== null && !(usd > 0 && usd <= MOST_USD))
    return { field: ["usd"], message: `must be more than 0 and at most ${MOST_USD}` };
  if (tokens !== null && !(Number.isInteger(tokens) && tokens >= 1 && tokens <= MOST_TOKENS))
    return { field: ["tokens"], message: `must be a whole number from 1 to ${MOST_TOKENS}` };
  if (!(warnAt > 0 && warnAt <= 1)) return { field: ["warnAt"], message: "must be more than 0 and at most 1" };
  if (per === "TURN" && window !== "NONE")
    return { field: ["window"], message: "a turn has its own beginning: leave the window out" };
  if (timeZone !== null && window === "NONE")
    return { field: ["timeZone"], message: "only a day or a month has a time zone: leave it out" };
  return null;
}

const SUBJECTS = {
  TURN: "agentId",
  AGENT: "agentId",
  TREE: "agentId",
  TEMPLATE: "templateId",
  TENANT: null,
  REQUESTER: "requesterId",
} as const;

/** The agent, template or actor for which the budget is; null for the tenant. */
async function subjectOf(
  { sql, templates }: Pick<Services, "sql" | "templates">,
  actor: Actor,
  request: SetBudget,
): Promise<Result<string | null, CommandRefusal>> {
  const needed = SUBJECTS[request.per];
  const stray = (["agentId", "templateId", "requesterId"] as const).find((name) => name !== needed && request[name] !== null);
  if (stray !== undefined) return invalid(stray, `a budget per ${request.per} has no \`${stray}\`: leave it out`);
  if (needed === null) return accepted(null);
  const subject = request[needed];
  if (subject === null || subject === "") return invalid(needed, `a budget per ${request.per} needs \`${needed}\``);
  if (needed === "agentId") {
    const found = await findAgent(sql, actor, subject);
    return found.ok ? accepted(subject) : found;
  }
  if (needed === "templateId" && !templates.has(subject))
    return refused({ code: "NOT_FOUND", field: ["templateId"], message: "there is no such template: `templates` lists them" });
  return accepted(subject);
}

function invalid(field: string, message: string): Result<never, CommandRefusal> {
  return refused({ code: "INVALID", field: [field], message });
}

type Limited = Pick<Budget, "id" | "per" | "subject" | "millionths" | "tokens">;

function changed(
  kind: BudgetChangeEvent["kind"],
  { id, per, subject, millionths, tokens }: Limited,
  actor: Actor,
): BudgetChangeEvent {
  return {
    kind,
    budgetId: id,
    per,
    subject,
    limitUsd: millionths === null ? null : usdOf(millionths),
    limitTokens: tokens,
    changedBy: actorRef(actor),
  };
}
