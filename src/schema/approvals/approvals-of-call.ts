import { builder } from "../builder.ts";
import { ToolCall } from "../tool-call.ts";
import { Approval } from "./approval.ts";

/** The most approvals about a call itself, and the most about its hosts. */
const MOST_APPROVALS = 20;

builder.prismaObjectField(ToolCall, "approvals", (t) =>
  t.field({
    type: [Approval],
    description:
      "Approvals about the call in order, at most 20. Then those about hosts that it, or a background program of it, wants to reach, at most 20.",
    select: (_args, _context, nestedSelection) => ({
      approvals: nestedSelection({ orderBy: { requestedAt: "asc" }, take: MOST_APPROVALS }),
      hostRequests: {
        select: { approval: nestedSelection() },
        distinct: ["approvalId"],
        orderBy: { approvalId: "asc" },
        take: MOST_APPROVALS,
      },
    }),
    resolve: ({ approvals, hostRequests }) => [...approvals, ...hostRequests.map(({ approval }) => approval)],
  }),
);
