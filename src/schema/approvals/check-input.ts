import type { InputCheck } from "../../agent/approvals/check-input.ts";
import { reachedPaths } from "../../agent/policy/rule-values.ts";
import { checkApprovalInput } from "../../resolvers/approval.ts";
import { builder } from "../builder.ts";
import { UserError } from "../payload.ts";
import { PermissionExplanation } from "../permission.ts";
import { ReachedPath } from "./approval.ts";

const ApprovalInputCheck = builder.objectRef<InputCheck>("ApprovalInputCheck").implement({
  description: "The result that ALLOW with an edited input, or with the values of a form, would have.",
  fields: (t) => ({
    problems: t.field({
      type: [UserError],
      description:
        "Errors that `decideApproval` would return, at most 20. Each error of the tool's schema has the path of its value, such as `input.path` or `values.city`; a missing value has that of its object. Empty if the input may be allowed.",
      resolve: ({ problems }) => [...problems],
    }),
    explanation: t.field({
      type: PermissionExplanation,
      nullable: true,
      description: "Verdict of the current rules on the input. Null if it does not fit the tool, or for the values of a form.",
      resolve: ({ explanation }) => explanation,
    }),
    paths: t.field({
      type: [ReachedPath],
      description: "Files that the paths of the input lead to, one for each path, with links resolved.",
      resolve: ({ explanation }) => reachedPaths(explanation?.values ?? null),
    }),
    inputHash: t.exposeString("inputHash", {
      nullable: true,
      description: "Hash of the input that would be approved. Null if there are problems, or for the values of a form.",
    }),
    isChanged: t.exposeBoolean("isChanged", {
      description: "False if the input is the requested one, with defaults applied.",
    }),
    asksAnother: t.exposeBoolean("asksAnother", {
      description: "True if the template forbids self-approval: a new approval would ask another person about the input.",
    }),
  }),
});

builder.queryField("checkApprovalInput", (t) =>
  t.field({
    type: ApprovalInputCheck,
    complexity: 10,
    description:
      "Checks an edited input as `decideApproval` with ALLOW would, as a dry run for the viewer. Hooks are not run: they are asked when the call starts.",
    args: {
      approvalId: t.arg.id({ required: true, description: "`id` of the approval." }),
      input: t.arg({ type: "JSON", description: "Another input to run, for an approval of a call." }),
      values: t.arg({ type: "JSON", description: "Values of the form by field, for a TOOL_INPUT, instead of `input`." }),
    },
    resolve: (_root, { approvalId, input, values }, context) => checkApprovalInput(context, approvalId, { input, values }),
  }),
);
