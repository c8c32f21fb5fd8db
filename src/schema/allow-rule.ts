import { allowAlways, allowRuleByRow, allowRuleProposal, allowRules, revokeAllowRule } from "../resolvers/allow-rule.ts";
import type { RuleProposal } from "../agent/approvals/always-allow.ts";
import { globalId } from "../lib/global-id.ts";
import { ActorRef } from "./actor.ts";
import { builder } from "./builder.ts";
import { connectionOf } from "./connection.ts";
import { payloadType } from "./payload.ts";

const AllowRule = builder.prismaNode("AllowRule", {
  id: { field: "id" },
  description: "A rule that a person stored with allowAlways: calls of the template that it takes in run without asking.",
  fields: (t) => ({
    rule: t.exposeString("rule"),
    templateId: t.exposeID("templateId"),
    approvalId: t.id({
      description: "The approval from which it was made.",
      select: { approvalId: true },
      resolve: ({ approvalId }) => globalId("Approval", approvalId),
    }),
    note: t.exposeString("note", { nullable: true }),
    createdBy: t.field({
      type: ActorRef,
      select: { createdBy: true, createdByKind: true },
      resolve: ({ createdBy, createdByKind }) => ({ id: createdBy, kind: createdByKind }),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
    revokedAt: t.expose("revokedAt", { type: "DateTime", nullable: true }),
    revokedBy: t.exposeString("revokedBy", { nullable: true }),
  }),
});

builder.queryField("allowRules", (t) =>
  t.prismaConnection(
    {
      type: AllowRule,
      cursor: "id",
      description: "The rules that people have stored, newest first.",
      args: { active: t.arg.boolean({ description: "Only those that hold now." }), templateId: t.arg.id() },
      resolve: (query, _root, args, context) => allowRules(context, args, query),
    },
    connectionOf("AllowRule", AllowRule),
  ),
);

const PastCalls = builder.objectRef<RuleProposal["past"]>("PastCalls").implement({
  description:
    "What a rule would have meant for the recorded calls of its tool and template in the last 30 days, at most 10,000.",
  fields: (t) => ({
    examined: t.exposeInt("examined"),
    matched: t.exposeInt("matched", { description: "Calls that it would have allowed." }),
    asked: t.exposeInt("asked", { description: "Those of them that people were asked for." }),
    denied: t.exposeInt("denied", { description: "Those of them that people denied." }),
  }),
});

const AllowRuleProposal = builder.objectRef<RuleProposal>("AllowRuleProposal").implement({
  description: "The narrowest rule by which calls like this one would run without asking: `allowAlways` stores it.",
  fields: (t) => ({ rule: t.exposeString("rule"), past: t.expose("past", { type: PastCalls }) }),
});

builder.queryField("allowRuleProposal", (t) =>
  t.field({
    type: AllowRuleProposal,
    nullable: true,
    description: "For those who may decide. Null if no narrow rule takes in the call.",
    args: { approvalId: t.arg.id({ required: true }) },
    resolve: (_root, { approvalId }, context) => allowRuleProposal(context, approvalId),
  }),
);

const AllowAlwaysInput = builder.inputType("AllowAlwaysInput", {
  fields: (t) => ({
    approvalId: t.id({ required: true }),
    rule: t.string({
      description: "Another rule than the proposed one. It must take in the approval's call and speak of its tool only.",
    }),
    note: t.string(),
  }),
});

const RevokeAllowRuleInput = builder.inputType("RevokeAllowRuleInput", {
  fields: (t) => ({ allowRuleId: t.id({ required: true }) }),
});

const allowRulePayload = (name: string) =>
  payloadType(name, (t) => ({
    allowRule: t.prismaField({
      type: AllowRule,
      nullable: true,
      resolve: (query, { rowId }, _args, context) => allowRuleByRow(context, rowId, query),
    }),
  }));

builder.mutationField("allowAlways", (t) =>
  t.field({
    type: allowRulePayload("AllowAlwaysPayload"),
    description:
      "Stores the rule by which calls like an approval's run without asking from now on: `allowRuleProposal`, or another. It decides nothing that is open, and deny rules still hold.",
    args: { input: t.arg({ type: AllowAlwaysInput, required: true }) },
    resolve: (_root, { input }, context) =>
      allowAlways(context, { approvalId: input.approvalId, rule: input.rule ?? null, note: input.note ?? null }),
  }),
);

builder.mutationField("revokeAllowRule", (t) =>
  t.field({
    type: allowRulePayload("RevokeAllowRulePayload"),
    description: "Takes a stored rule back, at once.",
    args: { input: t.arg({ type: RevokeAllowRuleInput, required: true }) },
    resolve: (_root, { input }, context) => revokeAllowRule(context, input.allowRuleId),
  }),
);
