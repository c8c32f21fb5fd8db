import type { PermissionSource } from "../agent/gate/permission-source.ts";
import type { CallExplanation } from "../agent/gate/explain.ts";
import type { Consideration } from "../agent/gate/policy.ts";
import { explainPermission } from "../resolvers/permission.ts";
import { builder } from "./builder.ts";
import { PermissionVerdict } from "./enums.ts";

/** A permission block as clients write it. */
export const PermissionInput = builder.inputType("PermissionInput", {
  description: "A permission block, as in the configuration: docs/permissions.md.",
  fields: (t) => ({
    mode: t.string({ description: "auto, approval (ask), readonly, deny, default, or one of the configuration's own." }),
    deny: t.stringList({ description: "Rules such as fs_read(path:.env)." }),
    allow: t.stringList(),
    ask: t.stringList(),
    allowTools: t.stringList({ description: "Where given, every other tool is denied." }),
    denyTools: t.stringList(),
    autoAllowTools: t.stringList(),
    requireApprovalTools: t.stringList(),
  }),
});

/** The block without what the client left out. */
export function permissionSource(input: (typeof PermissionInput)["$inferInput"]): PermissionSource {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
}

const PermissionConsideration = builder.objectRef<Consideration>("PermissionConsideration").implement({
  description: "A rule, a list, a mode or a hook that was asked what it says of a call.",
  fields: (t) => ({
    rule: t.exposeString("rule"),
    place: t.exposeString("place", { description: "Where it stands in the configuration." }),
    verdict: t.field({
      type: PermissionVerdict,
      nullable: true,
      description: "Null where it said nothing of the call.",
      resolve: ({ verdict }) => (verdict === "no match" ? null : verdict),
    }),
  }),
});

const PermissionExplanation = builder.objectRef<CallExplanation>("PermissionExplanation").implement({
  description: "Why a call would be allowed, asked or denied.",
  fields: (t) => ({
    verdict: t.expose("verdict", { type: PermissionVerdict }),
    decidedBy: t.exposeString("decidedBy"),
    place: t.exposeString("place", { description: "Where the deciding rule stands in the configuration." }),
    reason: t.exposeString("reason"),
    considered: t.field({ type: [PermissionConsideration], resolve: ({ considered }) => [...considered] }),
    values: t.expose("values", { type: "JSON", description: "The values as rules see them: paths resolved, defaults applied." }),
    hooks: t.stringList({
      description: "Hooks that would be asked besides. They only tighten, and are not run here.",
      resolve: ({ hooks }) => [...hooks],
    }),
  }),
});

builder.queryField("explainPermission", (t) =>
  t.field({
    type: PermissionExplanation,
    description: "What would become of a call, and why. Nothing is run or recorded.",
    args: {
      agentId: t.arg.id({ required: true }),
      tool: t.arg.string({ required: true }),
      input: t.arg({ type: "JSON", required: true }),
    },
    resolve: (_root, { agentId, tool, input }, context) => explainPermission(context, { agentId, tool, input: input ?? {} }),
  }),
);
