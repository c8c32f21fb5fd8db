import type { ApprovalSnapshot as Snapshot } from "../../events/snapshots.ts";
import { globalId } from "../../lib/global-id.ts";
import { builder } from "../builder.ts";
import { ApprovalKind, Risk } from "../enums.ts";
import { ToolCallSnapshot } from "../tool-call.ts";
import { BudgetQuestion } from "./budget-question.ts";
import { ToolQuestion } from "./tool-question.ts";

export const ApprovalSnapshot = builder.objectRef<Snapshot>("ApprovalSnapshot").implement({
  description:
    "An approval at the time of its request. It is not a node: the current approval is available as `approval` next to it. The subject is in `call`, in `call` with `question`, in `host` and `port`, or in `budget`; the other fields are null.",
  fields: (t) => ({
    approvalId: t.id({ description: "Id of the approval.", resolve: ({ approvalId }) => globalId("Approval", approvalId) }),
    kind: t.expose("kind", { type: ApprovalKind, description: "Kind of question." }),
    call: t.expose("call", {
      type: ToolCallSnapshot,
      nullable: true,
      description: "Tool call that it is about. Null for other kinds of subject.",
    }),
    host: t.exposeString("host", {
      nullable: true,
      description: "Name or address of the host that it is about. Null for other kinds of subject.",
    }),
    port: t.exposeInt("port", { nullable: true, description: "Port of the host. Null for other kinds of subject." }),
    question: t.field({
      type: ToolQuestion,
      nullable: true,
      description: "Question of a tool, with its form. Null for other kinds of subject.",
      resolve: ({ question = null }) => question,
    }),
    budget: t.field({
      type: BudgetQuestion,
      nullable: true,
      description: "Question whether a budget may be raised. Null for other kinds of subject.",
      resolve: ({ budget = null }) => budget,
    }),
    inputHash: t.exposeString("inputHash", {
      nullable: true,
      description:
        "Hash of the input. ALLOW and RETRY must return it, which binds the decision to this input. Null for kinds that do not need it.",
    }),
    reason: t.exposeString("reason", { nullable: true, description: "Reason why approval is needed. Null if it was erased." }),
    risk: t.field({
      type: Risk,
      description: "Risk of the action.",
      resolve: ({ risk }) => risk as (typeof Risk)["$inferType"],
    }),
    meta: t.field({
      type: "JSON",
      nullable: true,
      description: "Data that hooks provided for the people who decide. Null if there is none.",
      resolve: ({ meta }) => meta,
    }),
    quorum: t.exposeInt("quorum", { description: "Number of people who must allow it." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which the approval expires. Null if it never expires.",
    }),
  }),
});
