import { decideApproval as decide } from "../agent/commands/decide-approval.ts";
import type { Approval, Prisma } from "../db/generated/client.ts";
import type { ApprovalDecision, ApprovalState } from "../db/generated/enums.ts";
import { formatCursor } from "../events/cursor.ts";
import type { Context } from "./context.ts";
import type { UserError } from "./errors.ts";
import { rowId } from "./global-id.ts";
import { checkPage } from "./page.ts";
import { visibleAgents } from "./visibility.ts";

/** An approval of a payload, by its row id; null where the actor may not see it. */
export type ApprovalPayload = {
  readonly approvalId: string | null;
  readonly cursor: string;
  readonly userErrors: readonly UserError[];
};

type Arguments = {
  state?: ApprovalState | null | undefined;
  first?: number | null | undefined;
  last?: number | null | undefined;
};

/** The approvals that the actor may see, oldest first: what has waited longest is on top. */
export async function approvals(context: Context, args: Arguments, selection: Prisma.ApprovalFindManyArgs): Promise<Approval[]> {
  checkPage(args);
  await context.snapshot();
  return context.prisma.approval.findMany({
    ...selection,
    where: { tenant: context.actor.tenant, agent: visibleAgents(context.actor), ...(args.state ? { state: args.state } : {}) },
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

export async function decideApproval(
  context: Context,
  request: { approvalId: string; decision: ApprovalDecision; note: string | null; inputHash: string | null },
): Promise<ApprovalPayload> {
  const approvalId = rowId("Approval", request.approvalId) ?? "";
  const result = await decide(context.parts, context.actor, { ...request, approvalId });
  if (result.ok) context.wake(result.value.agentId);
  const head = await context.snapshot();
  const position = result.ok ? (result.value.position ?? head.position) : head.position;
  const isShown = result.ok || result.refusal.code !== "NOT_FOUND";
  return {
    approvalId: isShown ? approvalId : null,
    cursor: formatCursor(head, position),
    userErrors: result.ok ? [] : [result.refusal],
  };
}
