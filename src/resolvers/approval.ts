import { decideApproval as decide } from "../agent/approvals/decide.ts";
import type { DecideApproval } from "../agent/approvals/decision.ts";
import type { Approval, Prisma } from "../db/generated/client.ts";
import type { ApprovalState } from "../db/generated/enums.ts";
import { StorageUnavailable } from "../db/storage-error.ts";
import type { Context } from "./context.ts";
import { clientError } from "./errors.ts";
import { accepted } from "../lib/result.ts";
import { rowId } from "../lib/global-id.ts";
import { checkPage } from "./page.ts";
import { payloadOf, type Payload } from "./payload.ts";
import { namesIn } from "./tool-call.ts";
import { visibleAgents } from "./visibility.ts";

/** Which approvals are asked for; all conditions that are present must hold. */
export type ApprovalFilter = {
  readonly states?: readonly ApprovalState[] | null | undefined;
  readonly agentId?: string | null | undefined;
  readonly templateIds?: readonly string[] | null | undefined;
  readonly tools?: readonly string[] | null | undefined;
  readonly requestedAfter?: Date | null | undefined;
  readonly requestedBefore?: Date | null | undefined;
};

type Arguments = {
  state?: ApprovalState | null | undefined;
  filter?: ApprovalFilter | null | undefined;
  first?: number | null | undefined;
  last?: number | null | undefined;
};

/** The approvals that the actor may see, oldest first: what has waited longest is on top. */
export async function approvals(context: Context, args: Arguments, selection: Prisma.ApprovalFindManyArgs): Promise<Approval[]> {
  checkPage(args);
  await context.snapshot();
  const { states, agentId, templateIds, tools, requestedAfter, requestedBefore } = args.filter ?? {};
  return context.prisma.approval.findMany({
    ...selection,
    where: {
      tenant: context.actor.tenant,
      agent: { ...visibleAgents(context.actor), ...(templateIds ? { templateId: { in: namesIn(templateIds) ?? [] } } : {}) },
      ...(args.state ? { state: args.state } : {}),
      ...(states ? { AND: { state: { in: [...states] } } } : {}),
      ...(typeof agentId === "string" ? { agentId: rowId("Agent", agentId) ?? "" } : {}),
      ...(tools ? { toolCall: { name: { in: namesIn(tools) ?? [] } } } : {}),
      requestedAt: { ...(requestedAfter ? { gt: requestedAfter } : {}), ...(requestedBefore ? { lt: requestedBefore } : {}) },
    },
    orderBy: [{ requestedAt: "asc" }, { id: "asc" }],
  });
}

/** The approval as it stands now, beside an event's snapshot of it. */
export async function approvalByRow(
  { prisma }: Context,
  id: string | null,
  selection: Pick<Prisma.ApprovalFindUniqueArgs, "include" | "select">,
): Promise<Approval | null> {
  return id === null ? null : prisma.approval.findUnique({ ...selection, where: { id } });
}

/** The decision of a person, as clients send it. */
export type DecideRequest = Omit<DecideApproval, "approvalId"> & { readonly approvalId: string };

/** The payload names the approval even if the decision was refused, but not to an actor who may not see it. */
export async function decideApproval(context: Context, request: DecideRequest): Promise<Payload> {
  const approvalId = rowId("Approval", request.approvalId) ?? "";
  const result = await decide(context.services, context.actor, { ...request, approvalId });
  if (result.ok) context.wake(result.value.agentId);
  const payload = await payloadOf(context, result.ok ? accepted({ ...result.value, id: approvalId }) : result);
  return result.ok || result.refusal.code === "NOT_FOUND" ? payload : { ...payload, rowId: approvalId };
}

/** The most approvals that are decided at once. */
const MOST_DECISIONS = 100;

/** Each decision by itself, in the order given: one that is refused leaves the others alone. */
export async function decideApprovals(context: Context, requests: readonly DecideRequest[]): Promise<readonly Payload[]> {
  if (requests.length > MOST_DECISIONS)
    throw clientError("BAD_USER_INPUT", `at most ${MOST_DECISIONS} approvals are decided at once, not ${requests.length}`);
  const payloads: Payload[] = [];
  for (const request of requests) payloads.push(await decideOrSay(context, request));
  return payloads;
}

/** A database that does not answer concerns this decision alone: others before it are made. */
async function decideOrSay(context: Context, request: DecideRequest): Promise<Payload> {
  try {
    return await decideApproval(context, request);
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    const message = "the database does not answer: whether this was decided is unknown, decide it again";
    return { rowId: null, cursor: "0", userErrors: [{ code: "UNAVAILABLE", field: null, message }] };
  }
}
