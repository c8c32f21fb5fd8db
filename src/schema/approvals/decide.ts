import type { DecideApproval } from "../../agent/approvals/decision.ts";
import {
  approvalByRow,
  decideApproval,
  decideApprovals,
  type DecisionOutcome as Outcome,
  type DecisionOutcomes,
} from "../../resolvers/approval.ts";
import { ActorRef } from "../actor.ts";
import { builder } from "../builder.ts";
import { ApprovalDecision } from "../enums.ts";
import { payloadType, UserError } from "../payload.ts";
import { Approval } from "./approval.ts";

builder.prismaObject("Decision", {
  name: "Decision",
  description: "Decision of one person on an approval.",
  fields: (t) => ({
    decision: t.expose("decision", { type: ApprovalDecision, description: "The decision." }),
    decidedBy: t.field({
      type: ActorRef,
      description: "Actor that decided.",
      select: { actorId: true, actorKind: true },
      resolve: ({ actorId, actorKind }) => ({ id: actorId, kind: actorKind }),
    }),
    onBehalfOf: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor on whose behalf it was decided. Null if the actor decided in their own name.",
      select: { onBehalfOf: true, onBehalfOfKind: true },
      resolve: ({ onBehalfOf, onBehalfOfKind }) =>
        onBehalfOf === null ? null : { id: onBehalfOf, kind: onBehalfOfKind ?? "USER" },
    }),
    note: t.exposeString("note", { nullable: true, description: "Note given with the decision." }),
    input: t.expose("input", {
      type: "JSON",
      nullable: true,
      description:
        "Input that was allowed instead of the requested one, or the values of a form. Null if the decision did not change it.",
    }),
    decidedAt: t.expose("decidedAt", { type: "DateTime", description: "Time of the decision." }),
    erasedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Time at which note and input were erased, together with those of the approval. Null if they were not erased.",
      select: { approval: { select: { erasedAt: true } } },
      resolve: ({ approval }) => approval.erasedAt,
    }),
  }),
});

const RaiseToInput = builder.inputType("RaiseToInput", {
  description: "Limits to which a budget is raised for its present period.",
  fields: (t) => ({
    usd: t.float({ description: "US dollars, at least the present limit. It stays if omitted." }),
    tokens: t.float({ description: "Tokens, a whole number, at least the present limit. It stays if omitted." }),
  }),
});

const DecideApprovalInput = builder.inputType("DecideApprovalInput", {
  description: "A decision on one approval.",
  fields: (t) => ({
    approvalId: t.id({ required: true, description: "`id` of the approval." }),
    decision: t.field({
      type: ApprovalDecision,
      required: true,
      description:
        "The decision. ALLOW and DENY, or DONE, RETRY and FAIL for an OUTCOME_UNKNOWN. DENY of a TOOL_INPUT declines its question.",
    }),
    note: t.string({ description: "Reason, at most 4,000 characters. The model reads the note of a denial." }),
    inputHash: t.string({
      description:
        "`inputHash` of the approval that the person saw. Required for ALLOW and RETRY; HASH_MISMATCH if it does not match.",
    }),
    result: t.string({
      description:
        "Result of the call for the model to read. Required for DONE, and only allowed there. At most 16,000 characters.",
    }),
    values: t.field({
      type: "JSON",
      description:
        'Values of the form by field, with ALLOW of a TOOL_INPUT: an object, such as `{ "city": "Bonn" }`. A field that is left out has its default; null leaves an optional field empty. Each wrong field is an error of its own with the path `["values", FIELD]`.',
    }),
    raiseTo: t.field({
      type: RaiseToInput,
      description:
        "New limits for the present period, with ALLOW of a BUDGET. Those of `BudgetQuestion.raiseTo` if omitted. INVALID if several people must allow them.",
    }),
    input: t.field({
      type: "JSON",
      description:
        "Another input to run, with ALLOW of a TOOL_CALL. It is validated and checked against the permission: DENIED_BY_POLICY if a rule denies it. INVALID if several people must allow the call. Without self-approval, a new approval asks another person about it.",
    }),
  }),
});

const decidedApproval = {
  type: Approval,
  nullable: true,
  description: "The approval. Null if it does not exist or the viewer may not see it.",
} as const;

builder.mutationField("decideApproval", (t) =>
  t.field({
    type: payloadType("DecideApprovalPayload", (fields) => ({
      approval: fields.prismaField({
        ...decidedApproval,
        resolve: (query, { rowId }, _args, context) => approvalByRow(context, rowId, query),
      }),
    })),
    description:
      "Decides an approval, once. Repeating the same decision returns the same result. A different one fails with ALREADY_DECIDED. Other errors: HASH_MISMATCH, SELF_APPROVAL, DENIED_BY_POLICY, EXPIRED, SEALED, STALE, FORBIDDEN.",
    args: { input: t.arg({ type: DecideApprovalInput, required: true, description: "The decision." }) },
    resolve: (_root, { input }, context) => decideApproval(context, requestOf(input)),
  }),
);

const DecideApprovalsInput = builder.inputType("DecideApprovalsInput", {
  description: "Input of `decideApprovals`.",
  fields: (t) => ({
    decisions: t.field({
      type: [DecideApprovalInput],
      required: true,
      description: "Decisions, at most 100. TOO_LARGE if there are more.",
    }),
  }),
});

const DecisionOutcome = builder.objectRef<Outcome>("DecisionOutcome").implement({
  description: "Result of one decision.",
  fields: (t) => ({
    approval: t.prismaField({
      ...decidedApproval,
      resolve: (query, { rowId }, _args, context) => approvalByRow(context, rowId, query),
    }),
    userErrors: t.field({
      type: [UserError],
      description: "Why this decision failed. Empty if it succeeded.",
      resolve: ({ userErrors }) => [...userErrors],
    }),
  }),
});

builder.mutationField("decideApprovals", (t) =>
  t.field({
    type: payloadType<DecisionOutcomes>("DecideApprovalsPayload", (fields) => ({
      outcomes: fields.field({
        type: [DecisionOutcome],
        description: "Results of the decisions, one for each, in the given order.",
        resolve: ({ outcomes }) => [...outcomes],
      }),
    })),
    description: "Decides up to 100 approvals in the given order. Each decision succeeds or fails independently.",
    args: { input: t.arg({ type: DecideApprovalsInput, required: true, description: "The decisions." }) },
    resolve: (_root, { input }, context) => decideApprovals(context, input.decisions.map(requestOf)),
  }),
);

function requestOf(given: (typeof DecideApprovalInput)["$inferInput"]): DecideApproval {
  const { approvalId, decision, note, inputHash, input, values, raiseTo, result } = given;
  return {
    approvalId,
    decision,
    note: note ?? null,
    inputHash: inputHash ?? null,
    input: input ?? null,
    values: values ?? null,
    raiseTo: raiseTo == null ? null : { usd: raiseTo.usd ?? null, tokens: raiseTo.tokens ?? null },
    result: result ?? null,
  };
}
