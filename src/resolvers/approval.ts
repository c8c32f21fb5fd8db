import { eachProblem, readsTenant } from "../agent/actors/actor.ts";
import { cannotDecide, type CannotDecideReason } from "../agent/approvals/approval.ts";
import { checkApprovalInput as check, type InputCheck } from "../agent/approvals/check-input.ts";
import { decideApproval as decide } from "../agent/approvals/decide.ts";
import type { DecideApproval } from "../agent/approvals/decision.ts";
import {
  delegateApprovals as delegate,
  revokeDelegation as revoke,
  type DelegateApprovals,
} from "../agent/approvals/delegate.ts";
import type { Approval, Prisma, ToolCall, Delegation } from "../db/generated/client.ts";
import { StorageUnavailable } from "../db/storage-error.ts";
import { formatCursor } from "../events/cursor.ts";
import { rowId } from "../lib/global-id.ts";
import type { Json } from "../lib/json.ts";
import { accepted } from "../lib/result.ts";
import { type ActorNameOrId, actorNamed } from "./actor.ts";
import { connection, type Connection, type PageArguments, type Order } from "./connection.ts";
import { clientError, type Context, type UserError, payloadOf, type Payload } from "./context.ts";

type ApprovalSelection = Pick<Prisma.ApprovalFindUniqueArgs, "include" | "select">;

const MOST_PENDING = 100;

/** The pending approvals of an agent, oldest first. The caller has checked its visibility. */
export async function pendingApprovalsOf(
  { prisma }: Context,
  agentId: string,
  selection: ApprovalSelection,
): Promise<Approval[]> {
  const orderBy = [{ requestedAt: "asc" }, { id: "asc" }] as Prisma.ApprovalOrderByWithRelationInput[];
  return prisma.approval.findMany({ ...selection, where: { agentId, state: "PENDING" }, orderBy, take: MOST_PENDING });
}

export async function approvalByRow(
  { prisma }: Context,
  id: string | null,
  selection: ApprovalSelection,
): Promise<Approval | null> {
  return id === null ? null : prisma.approval.findUnique({ ...selection, where: { id } });
}

/** Approvals by their row ids, in this order. */
export async function approvalsByRows(
  { prisma }: Context,
  ids: readonly string[],
  selection: ApprovalSelection,
): Promise<Approval[]> {
  if (ids.length === 0) return [];
  return prisma.approval.findMany({ ...selection, where: { id: { in: [...ids] } }, orderBy: { id: "asc" } });
}

export type AskedHost = { readonly approvalId: string; readonly host: string; readonly port: number };

const MOST_CALLS = 20;

/** The calls that wait for an approval's host, oldest first. The caller has checked its visibility. */
export async function callsOfHost(
  { prisma }: Context,
  approvalId: string,
  selection: Pick<Prisma.ToolCallFindManyArgs, "include" | "select">,
): Promise<ToolCall[]> {
  const orderBy = [{ createdAt: "asc" }, { id: "asc" }] as Prisma.ToolCallOrderByWithRelationInput[];
  return prisma.toolCall.findMany({ ...selection, where: { waits: { some: { ref: approvalId } } }, orderBy, take: MOST_CALLS });
}

type Decided = DecisionOutcome & { readonly position: number | null };

async function decided(context: Context, request: DecideApproval): Promise<Decided> {
  const approvalId = rowId("Approval", request.approvalId);
  const result = await decide(context.services, context.actor, { ...request, approvalId });
  if (!result.ok) {
    const { refusal } = result;
    return { rowId: refusal.code === "NOT_FOUND" ? null : approvalId, position: null, userErrors: eachProblem(refusal) };
  }
  context.wake(result.value.agentId);
  return { rowId: approvalId, position: result.value.position, userErrors: [] };
}

/** Decides on an approval. The payload names it even if the decision was refused. */
export async function decideApproval(context: Context, request: DecideApproval): Promise<Payload> {
  const { rowId: id, position, userErrors } = await decided(context, request);
  const { cursor } = await payloadOf(context, accepted({ id: id ?? "", position }));
  return { rowId: id, cursor, userErrors };
}

const MOST_DECISIONS = 100;

export type DecisionOutcome = { readonly rowId: string | null; readonly userErrors: readonly UserError[] };

export type DecisionOutcomes = Omit<Payload, "rowId"> & { readonly outcomes: readonly DecisionOutcome[] };

/** Decides one by one, in the given order: a refusal does not affect the others. */
export async function decideApprovals(context: Context, requests: readonly DecideApproval[]): Promise<DecisionOutcomes> {
  context.anew();
  const head = await context.snapshot();
  if (requests.length > MOST_DECISIONS) {
    const message = `at most ${MOST_DECISIONS} decisions are allowed in one request, not ${requests.length}`;
    return {
      outcomes: [],
      cursor: formatCursor(head, head.position),
      userErrors: [{ code: "TOO_LARGE", field: ["decisions"], message }],
    };
  }
  const outcomes: DecisionOutcome[] = [];
  // Refused and repeated decisions do not move the cursor: events after the committed ones come after it.
  let reached = head.position;
  for (const request of requests) {
    const { rowId: id, position, userErrors } = await decideOrSay(context, request);
    outcomes.push({ rowId: id, userErrors });
    reached = Math.max(reached, position ?? 0);
  }
  context.anew();
  return { outcomes, cursor: formatCursor(head, reached), userErrors: [] };
}

/** An outage affects only this decision: earlier ones are committed. */
async function decideOrSay(context: Context, request: DecideApproval): Promise<Decided> {
  try {
    return await decided(context, request);
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    const message = "the database does not answer, and the outcome of this decision is unknown: send it again";
    return { rowId: null, position: null, userErrors: [{ code: "UNAVAILABLE", field: null, message }] };
  }
}

/** Why the viewer may not decide on an approval at present; a missing one is closed. */
export async function viewerCannotDecide(
  { actor, loaders, services }: Context,
  id: string,
): Promise<readonly CannotDecideReason[]> {
  const found = await loaders.approvals.load(id);
  if (found === null) return ["CLOSED"];
  const held = await services.heldTemplate(found);
  return cannotDecide(actor, found, "missing" in held ? undefined : held);
}

/** The answer that an ALLOW of the viewer with another input, or with the values of a form, would get. */
export async function checkApprovalInput(
  { services, actor }: Context,
  approvalId: string,
  given: { readonly input: unknown; readonly values: unknown },
): Promise<InputCheck> {
  const input = (given.input ?? null) as Json;
  const values = (given.values ?? null) as Json;
  if ((input === null) === (values === null)) throw clientError("BAD_USER_INPUT", "give `input` or `values`");
  return check(services, actor, rowId("Approval", approvalId), { input, values });
}

export type DelegationFilter = { readonly isActive?: boolean | null | undefined };

type DelegationSelection = Pick<Prisma.DelegationFindUniqueArgs, "select">;

const NEWEST_FIRST: Order<Delegation> = {
  name: "delegations",
  columns: [
    { name: "createdAt", direction: "desc", holds: "time", nulls: "never" },
    { name: "id", direction: "desc", holds: "text", nulls: "never" },
  ],
};

/** The visible delegations, newest first: all for readers of the tenant, otherwise those from and to the actor. */
export async function delegations(
  context: Context,
  args: PageArguments & { readonly filter?: DelegationFilter | null | undefined },
  selection: DelegationSelection,
): Promise<Connection<Delegation>> {
  await context.snapshot();
  const { actor, prisma, services, tenant } = context;
  const at = services.clock.now();
  const active = { revokedAt: null, endsAt: { gt: at } };
  const isActive = args.filter?.isActive ?? null;
  return connection<Delegation, Prisma.DelegationWhereInput, Prisma.DelegationOrderByWithRelationInput>(args, {
    order: NEWEST_FIRST,
    where: {
      tenant,
      ...(readsTenant(actor) ? {} : { OR: [{ fromId: actor.id }, { toId: actor.id }] }),
      ...(isActive === null ? {} : isActive ? active : { NOT: active }),
    },
    read: async (query) => prisma.delegation.findMany({ ...selection, ...query }),
    count: async (query) => prisma.delegation.count(query),
  });
}

export async function delegationByRow(
  { prisma }: Context,
  id: string | null,
  selection: DelegationSelection,
): Promise<Delegation | null> {
  return id === null ? null : prisma.delegation.findUnique({ ...selection, where: { id } });
}

export type DelegateRequest = Omit<DelegateApprovals, "to"> & { readonly toActorId: ActorNameOrId };

export async function delegateApprovals(context: Context, { toActorId, ...request }: DelegateRequest): Promise<Payload> {
  return payloadOf(context, await delegate(context.services, context.actor, { ...request, to: actorNamed(toActorId) }));
}

export async function revokeDelegation(context: Context, delegationId: string): Promise<Payload> {
  return payloadOf(context, await revoke(context.services, context.actor, rowId("Delegation", delegationId)));
}
