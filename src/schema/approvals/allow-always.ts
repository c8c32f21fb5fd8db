import { allowAlways, allowRuleByRow, alsoAnsweredBy, revokeAllowRule } from "../../resolvers/allow-rule.ts";
import { builder } from "../builder.ts";
import { payloadType, type PayloadFields } from "../payload.ts";
import { AllowRule } from "./allow-rule.ts";
import { Approval } from "./approval.ts";

const AllowAlwaysInput = builder.inputType("AllowAlwaysInput", {
  description: "Input of `allowAlways`.",
  fields: (t) => ({
    approvalId: t.id({ required: true, description: "`id` of the approval whose call or host the rule must match." }),
    rule: t.string({
      description:
        "Rule to store instead of the proposed one, at most 1,000 characters. It must match the call of the approval, let it run, and name no other tool.",
    }),
    note: t.string({ description: "Reason, at most 4,000 characters." }),
    expiresAt: t.field({
      type: "DateTime",
      description: "First moment at which the rule no longer applies. It never expires if this and `expiresInDays` are omitted.",
    }),
    expiresInDays: t.int({ description: "Days until the rule expires, instead of `expiresAt`: 1 to 3,650." }),
  }),
});

const RevokeAllowRuleInput = builder.inputType("RevokeAllowRuleInput", {
  description: "Input of `revokeAllowRule`.",
  fields: (t) => ({ allowRuleId: t.id({ required: true, description: "`id` of the rule." }) }),
});

const allowRuleField = (t: PayloadFields) =>
  t.prismaField({
    type: AllowRule,
    nullable: true,
    description: "The rule. Null if the mutation failed.",
    resolve: (query, { rowId }, _args, context) => allowRuleByRow(context, rowId, query),
  });

builder.mutationField("allowAlways", (t) =>
  t.field({
    type: payloadType("AllowAlwaysPayload", (fields) => ({
      allowRule: allowRuleField(fields),
      alsoAnswers: fields.prismaField({
        type: [Approval],
        complexity: 100,
        description:
          "Other pending approvals that the rule covers and that the viewer may decide, oldest first, at most 100. Pass them to `decideApprovals`.",
        resolve: (query, { rowId }, _args, context) => alsoAnsweredBy(context, rowId, query),
      }),
    })),
    description:
      "Stores a rule for the agents of the template: matching calls run without asking. `allowRuleProposal` is the default. Pending approvals are not decided, and deny rules still apply. INVALID if the rule would not let this call run. FORBIDDEN if several people must allow the call and the viewer is not an administrator, or decides only as a delegate. TOO_LARGE if the template already has 300 active stored rules.",
    args: { input: t.arg({ type: AllowAlwaysInput, required: true, description: "Approval and rule." }) },
    resolve: (_root, { input }, context) =>
      allowAlways(context, {
        approvalId: input.approvalId,
        rule: input.rule ?? null,
        note: input.note ?? null,
        end: { at: input.expiresAt ?? null, inDays: input.expiresInDays ?? null },
      }),
  }),
);

builder.mutationField("revokeAllowRule", (t) =>
  t.field({
    type: payloadType("RevokeAllowRulePayload", (fields) => ({ allowRule: allowRuleField(fields) })),
    description: "Revokes a stored rule on all servers, effective immediately. Revoking it again changes nothing.",
    args: { input: t.arg({ type: RevokeAllowRuleInput, required: true, description: "Rule to revoke." }) },
    resolve: (_root, { input }, context) => revokeAllowRule(context, input.allowRuleId),
  }),
);
