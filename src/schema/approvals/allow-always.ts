import { allowAlways, allowRuleByRow, alsoAnsweredBy, revokeAllowRule } from "../../resolvers/allow-rule.ts";
import { builder } from "../builder.ts";
import { payloadType, type PayloadFields } from "../payload.ts";
import { AllowRule } from "./allow-rule.ts";
import { Approval } from "./approval.ts";

const AllowAlwaysInput = builder.inputType("AllowAlwaysInput", {
  description: "What shall run without asking from now on.",
  fields: (t) => ({
    approvalId: t.id({ required: true, description: "The approval whose call is an example of it." }),
    rule: t.string({
      description:
        "Another rule than the proposed one. It must take in the approval's call, let it run, and speak of its tool only. At most 1,000 characters.",
    }),
    note: t.string({ description: "Why. At most 4,000 characters." }),
  }),
});

const RevokeAllowRuleInput = builder.inputType("RevokeAllowRuleInput", {
  description: "Which rule to take back.",
  fields: (t) => ({ allowRuleId: t.id({ required: true, description: "The rule." }) }),
});

const allowRuleField = (t: PayloadFields) =>
  t.prismaField({
    type: AllowRule,
    nullable: true,
    description: "The rule, if the mutation was carried out.",
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
          "Other approvals that wait and would not be asked for by the rule, of those that you may decide: the oldest first, at most 100. `decideApprovals` takes them.",
        resolve: (query, { rowId }, _args, context) => alsoAnsweredBy(context, rowId, query),
      }),
    })),
    description:
      "Stores the rule by which calls like an approval's run without asking from now on: `allowRuleProposal`, or another. It decides nothing that is open: `alsoAnswers` lists what it would answer. Deny rules still hold. At most 300 hold for a template: one more is refused with TOO_LARGE.",
    args: { input: t.arg({ type: AllowAlwaysInput, required: true, description: "What, and why." }) },
    resolve: (_root, { input }, context) =>
      allowAlways(context, { approvalId: input.approvalId, rule: input.rule ?? null, note: input.note ?? null }),
  }),
);

builder.mutationField("revokeAllowRule", (t) =>
  t.field({
    type: payloadType("RevokeAllowRulePayload", (fields) => ({ allowRule: allowRuleField(fields) })),
    description: "Takes a stored rule back, at once.",
    args: { input: t.arg({ type: RevokeAllowRuleInput, required: true, description: "Which." }) },
    resolve: (_root, { input }, context) => revokeAllowRule(context, input.allowRuleId),
  }),
);
