import { readsTenant } from "../agent/actors/actor.ts";
import { limitsOf, type Standing } from "../agent/budgets/admission.ts";
import type { Budget, BudgetLimits } from "../agent/budgets/budget.ts";
import { chainOf, type Link } from "../agent/budgets/chain.ts";
import { readStandings } from "../agent/budgets/periods.ts";
import { readBudgets } from "../agent/budgets/remembered-budgets.ts";
import { readSpender } from "../agent/budgets/spender.ts";
import { revokeBudget as revoke, setBudget as set, type SetBudget } from "../agent/commands/budgets.ts";
import type { Agent } from "../db/generated/client.ts";
import type { BudgetPer } from "../events/budgets/budget-question.ts";
import { rowId } from "../lib/global-id.ts";
import { actorIds } from "./actor.ts";
import { payloadOf, type Context, type Payload } from "./context.ts";

/** The most budgets of a list, and the most of one agent, actor or template. */
const MOST_LISTED = 1_000;
const MOST_STANDINGS = 100;

export type BudgetFilter = {
  readonly pers?: readonly BudgetPer[] | null | undefined;
  readonly isRevoked?: boolean | null | undefined;
};

/** The budgets of the tenant: those of the configuration, then those that were set. Empty for actors who do not read the tenant. */
export async function budgets(context: Context, { pers, isRevoked }: BudgetFilter): Promise<readonly Budget[]> {
  if (!readsTenant(context.actor)) return [];
  const all = isRevoked === true ? await revokedBudgets(context) : await context.services.budgets.of(context.tenant);
  return all.filter(({ per }) => pers == null || pers.includes(per)).slice(0, MOST_LISTED);
}

async function revokedBudgets({ services, tenant }: Context): Promise<readonly Budget[]> {
  return (await readBudgets(services.reads, tenant, true)).filter(
    ({ origin }) => origin.kind === "ACTOR" && origin.revoked !== null,
  );
}

/** A budget of the tenant by its id, also one that is revoked; null for actors who do not read the tenant. */
export async function budgetById(context: Context, id: string): Promise<Budget | null> {
  if (!readsTenant(context.actor)) return null;
  const holding = (await context.services.budgets.of(context.tenant)).find((budget) => budget.id === id);
  return holding ?? (await revokedBudgets(context)).find((budget) => budget.id === id) ?? null;
}

/** The spending on a budget that has one at a time; null if each turn, agent or actor has its own. */
export async function standingOf(context: Context, budget: Budget): Promise<Standing | null> {
  const ref = budget.per === "TENANT" ? "" : budget.per === "TURN" ? null : budget.subject;
  if (ref === null) return null;
  const [standing] = await readStandings(context.services.reads, context.tenant, [{ budget, ref }]);
  return standing ?? null;
}

/** The budgets on which an agent spends. Actors who do not read the tenant see none that others spend on. */
export async function budgetsOfAgent(
  context: Context,
  agent: Pick<Agent, "id" | "turn" | "templateId" | "depth">,
): Promise<readonly Standing[]> {
  const { services, tenant, actor } = context;
  const all = await services.budgets.of(tenant);
  if (all.length === 0) return [];
  const spender = await readSpender(services.reads, agent, all);
  const isOwn = ({ budget: { per }, ref }: Link): boolean =>
    per === "TURN" || per === "AGENT" || per === "TREE" || (per === "REQUESTER" && ref === actor.id);
  const chain = chainOf(all, spender).filter((link) => readsTenant(actor) || isOwn(link));
  return readStandings(services.reads, tenant, chain.slice(0, MOST_STANDINGS));
}

/** The budgets on which the actor's own turns spend. */
export async function budgetsOfViewer(context: Context): Promise<readonly Standing[]> {
  const { services, tenant, actor } = context;
  const all = (await services.budgets.of(tenant)).filter(
    ({ per, subject }) => per === "REQUESTER" && (subject === null || subject === actor.id),
  );
  return readStandings(
    services.reads,
    tenant,
    all.slice(0, MOST_STANDINGS).map((budget) => ({ budget, ref: actor.id })),
  );
}

/** The budgets that the agents of a template share. Empty for actors who do not read the tenant. */
export async function budgetsOfTemplate(context: Context, templateId: string): Promise<readonly Standing[]> {
  const { services, tenant, actor } = context;
  if (!readsTenant(actor)) return [];
  const all = (await services.budgets.of(tenant)).filter(({ per, subject }) => per === "TEMPLATE" && subject === templateId);
  return readStandings(
    services.reads,
    tenant,
    all.slice(0, MOST_STANDINGS).map((budget) => ({ budget, ref: templateId })),
  );
}

/** The limits minus the spent and held amounts, at least 0. */
export function leftOf(standing: Standing): BudgetLimits {
  const { millionths, tokens } = limitsOf(standing);
  const { spentMillionths, heldMillionths, spentTokens, heldTokens } = standing.period;
  return {
    millionths: millionths === null ? null : Math.max(0, millionths - spentMillionths - heldMillionths),
    tokens: tokens === null ? null : Math.max(0, tokens - spentTokens - heldTokens),
  };
}

export async function setBudget(context: Context, request: SetBudget): Promise<Payload> {
  const agentId = request.agentId === null ? null : rowId("Agent", request.agentId);
  const [requesterId = ""] = request.requesterId === null ? [null] : actorIds([request.requesterId]);
  return payloadOf(context, await set(context.services, context.actor, { ...request, agentId, requesterId }));
}

export async function revokeBudget(context: Context, budgetId: string): Promise<Payload> {
  return payloadOf(context, await revoke(context.services, context.actor, rowId("Budget", budgetId)));
}
