import type { ApprovalSnapshot as Snapshot } from "../../events/snapshots.ts";
import type { DecideApproval } from "../../agent/approvals/decision.ts";
import type { Explanation } from "../../agent/policy/permission.ts";
import type { AskedHost } from "../../resolvers/approval.ts";
import { reachedPaths, type ReachedPath as Reached } from "../../agent/policy/rule-values.ts";
import {
  approvalByRow,
  approvals,
  callsOfHost,
  decideApproval,
  decideApprovals,
  type DecisionOutcome as Outcome,
  type DecisionOutcomes,
  viewerCannotDecide,
} from "../../resolvers/approval.ts";
import type { Json } from "../../lib/json.ts";
import type { CallPreview } from "../../agent/calls/stages/preview.ts";
import { visibleJson } from "../../lib/escape-hidden.ts";
import { globalId } from "../../lib/global-id.ts";
import { ActorRef } from "../actor.ts";
import { builder } from "../builder.ts";
import { connectionOf, nodesSelection } from "../connection.ts";
import { ApprovalDecision, ApprovalKind, ApprovalState, CannotDecideReason, Risk } from "../enums.ts";
import { CommandPart } from "../explained.ts";
import { TimeRangeInput } from "../inputs/time-range.ts";
import { ToolCall, ToolCallSnapshot } from "../tool-call.ts";
import { UserError } from "../user-error.ts";
import { payloadType } from "../payload.ts";
import { Preview } from "./preview.ts";

export const ApprovalSnapshot = builder.objectRef<Snapshot>("ApprovalSnapshot").implement({
  description:
    "An approval as it stood when it was asked for. No node: the live approval is beside it as `approval`. What is asked about stands in one of the fields `call` and `host`; the others are null.",
  fields: (t) => ({
    approvalId: t.id({ description: "The approval.", resolve: ({ approvalId }) => globalId("Approval", approvalId) }),
    kind: t.expose("kind", { type: ApprovalKind, description: "What is asked." }),
    call: t.expose("call", { type: ToolCallSnapshot, nullable: true, description: "The call that is asked about." }),
    host: t.exposeString("host", { nullable: true, description: "The name or address of the host that is asked about." }),
    port: t.exposeInt("port", { nullable: true, description: "The port of that host." }),
    inputHash: t.exposeString("inputHash", {
      nullable: true,
      description: "Give it back with ALLOW: the decision is bound to this input.",
    }),
    reason: t.exposeString("reason", { nullable: true, description: "Why it is asked; null where that was erased." }),
    risk: t.field({
      type: Risk,
      description: "How much it could change.",
      resolve: ({ risk }) => risk as (typeof Risk)["$inferType"],
    }),
    meta: t.field({
      type: "JSON",
      nullable: true,
      description: "What hooks said for those who decide.",
      resolve: ({ meta }) => meta,
    }),
    quorum: t.exposeInt("quorum", { description: "How many people must allow it." }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true, description: "Until when; null for without an end." }),
  }),
});

const NetworkHost = builder.objectRef<AskedHost>("NetworkHost").implement({
  description:
    "A host that an agent would reach. ALLOW keeps a rule for the agent: `network(host:…)`, which allows the host from then on.",
  fields: (t) => ({
    host: t.exposeString("host", {
      description:
        "Its name, in lower case and in ASCII: a name with other letters begins with `xn--`. Or its address, IPv6 in brackets.",
    }),
    port: t.exposeInt("port", { description: "The port. A rule without one allows 443 and 80." }),
    toolCalls: t.prismaField({
      type: [ToolCall],
      complexity: 10,
      description: "The calls that would reach it, themselves or by a program in the background: the first first, at most 20.",
      resolve: (query, { approvalId }, _args, context) => callsOfHost(context, approvalId, query),
    }),
  }),
});

const ApprovalSubject = builder.unionType("ApprovalSubject", {
  description: "What an approval is about. Types are added: clients ignore those that they do not know.",
  types: [ToolCall, NetworkHost],
  resolveType: (subject) => ("host" in subject ? NetworkHost : ToolCall),
});

const finalFields = { state: true, decisions: { orderBy: { decidedAt: "desc" }, take: 1 } } as const;

/** The decision that stands; null while the approval is open, whoever has spoken. */
function finalDecision<Row>({
  state,
  decisions: [decision],
}: {
  readonly state: string;
  readonly decisions: readonly Row[];
}): Row | null {
  return state === "PENDING" ? null : (decision ?? null);
}

const ReachedPath = builder.objectRef<Reached>("ReachedPath").implement({
  description: "A file that a call reaches, or the folders in which it searches.",
  fields: (t) => ({
    parameter: t.exposeString("parameter", { description: "The parameter of the tool that holds the path." }),
    names: t.stringList({
      description: "All names that it has in the workspace: as it is written, and with links resolved.",
      resolve: ({ names }) => [...names],
    }),
  }),
});

export const Approval = builder.prismaNode("Approval", {
  id: { field: "id", description: "The approval's id." },
  description: "A question to a person, and its answer.",
  fields: (t) => ({
    kind: t.expose("kind", { type: ApprovalKind, description: "What is asked." }),
    state: t.expose("state", { type: ApprovalState, description: "What became of it." }),
    subject: t.field({
      type: ApprovalSubject,
      nullable: true,
      description: "What is asked about; null where that is of a kind that is not described.",
      select: (_args, _context, nestedSelection) => ({ host: true, port: true, toolCall: nestedSelection(true) }),
      resolve: ({ id, host, port, toolCall }) => (host === null || port === null ? toolCall : { approvalId: id, host, port }),
    }),
    toolCall: t.relation("toolCall", {
      nullable: true,
      description: "The call that is asked about; null where something else is.",
    }),
    agent: t.relation("agent", { description: "The agent that asks." }),
    input: t.expose("input", {
      type: "JSON",
      nullable: true,
      description:
        "What was asked for: exactly what will run, unless a decision says otherwise. Null where there is no input, or it was erased.",
    }),
    inputText: t.string({
      nullable: true,
      description:
        "The whole input for people to read: JSON in which nothing hides. Control characters, bidirectional overrides and long runs of spaces stand as escapes. Null where `input` is.",
      select: { input: true },
      resolve: ({ input }) => (input === null ? null : visibleJson(input as Json)),
    }),
    preview: t.field({
      type: Preview,
      complexity: 0,
      nullable: true,
      description:
        "What the call would change, as things stood when it was asked for: the input of a decision may say otherwise. Null if the tool cannot say that, or where it was erased.",
      select: { preview: true },
      resolve: ({ preview }) => preview as CallPreview | null,
    }),
    inputHash: t.exposeString("inputHash", {
      nullable: true,
      description: "SHA-256 over the RFC 8785 form of all that decides what will run; null where nothing runs.",
    }),
    reason: t.exposeString("reason", { nullable: true, description: "Why it is asked; null where that was erased." }),
    risk: t.field({
      type: Risk,
      description: "How much it could change.",
      select: { risk: true },
      resolve: ({ risk }) => risk as (typeof Risk)["$inferType"],
    }),
    meta: t.expose("meta", { type: "JSON", nullable: true, description: "What hooks said for those who decide." }),
    quorum: t.int({
      description: "How many people must allow it. One is enough to deny it.",
      select: { quorum: true },
      resolve: ({ quorum }) => quorum ?? 1,
    }),
    missingDecisions: t.int({
      description: "How many people must still allow it; 0 once nothing is left to decide.",
      select: { id: true },
      resolve: async ({ id }, _args, { loaders }) => {
        const approval = await loaders.approvals.load(id);
        // One that denies it decides it: the decisions on what is pending allow it.
        return approval?.state === "PENDING" ? approval.quorum - approval.decisions.length : 0;
      },
    }),
    decisions: t.relation("decisions", {
      query: { orderBy: { decidedAt: "asc" } },
      description: "All that was said, in order; as many as must allow it, at most.",
    }),
    paths: t.field({
      type: [ReachedPath],
      description:
        "The files that the call's paths lead to, one for each path, links resolved, as they were when it was asked or decided.",
      select: { toolCall: { select: { ruleValues: true } } },
      resolve: ({ toolCall }) => (toolCall === null ? [] : reachedPaths(toolCall.ruleValues)),
    }),
    commandParts: t.field({
      type: [CommandPart],
      description: "The parts of the call's lines that are asked about, at most 50; of another input, if it was allowed.",
      select: { toolCall: { select: { explanation: true } } },
      resolve: ({ toolCall }) => [...((toolCall?.explanation as Explanation | null | undefined)?.parts ?? [])],
    }),
    decision: t.field({
      type: ApprovalDecision,
      nullable: true,
      description: "The decision that stands; null while it is open.",
      select: finalFields,
      resolve: (approval) => finalDecision(approval)?.decision ?? null,
    }),
    decidedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Who made it.",
      select: finalFields,
      resolve: (approval) => {
        const decision = finalDecision(approval);
        return decision === null ? null : { id: decision.actorId, kind: decision.actorKind };
      },
    }),
    decidedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "When it was made.",
      select: finalFields,
      resolve: (approval) => finalDecision(approval)?.decidedAt ?? null,
    }),
    note: t.string({
      nullable: true,
      description: "What was noted with it.",
      select: finalFields,
      resolve: (approval) => finalDecision(approval)?.note ?? null,
    }),
    requestedBy: t.field({
      type: [ActorRef],
      description: "Who asked for it, each once: the senders of the messages that the turns answer whose calls ask.",
      select: { id: true },
      resolve: async ({ id }, _args, { loaders }) => [...((await loaders.approvals.load(id))?.requesters ?? [])],
    }),
    viewerCanDecide: t.boolean({
      description: "Whether who asks may decide on it now.",
      select: { id: true },
      resolve: async ({ id }, _args, context) => (await viewerCannotDecide(context, id)).length === 0,
    }),
    viewerCannotDecideReasons: t.field({
      type: [CannotDecideReason],
      description: "Why who asks may not decide on it now; empty if they may.",
      select: { id: true },
      resolve: async ({ id }, _args, context) => [...(await viewerCannotDecide(context, id))],
    }),
    requestedAt: t.expose("requestedAt", { type: "DateTime", description: "When it was asked." }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true, description: "Until when; null for without an end." }),
    closedAt: t.expose("closedAt", { type: "DateTime", nullable: true, description: "Since when nothing is left to decide." }),
    erasedAt: t.expose("erasedAt", {
      type: "DateTime",
      nullable: true,
      description: "When its input was erased; null for one that has it.",
    }),
  }),
});

const ApprovalFilter = builder.inputType("ApprovalFilter", {
  description: "All conditions that are given must hold.",
  fields: (t) => ({
    states: t.field({ type: [ApprovalState], description: "In one of these states." }),
    kinds: t.field({ type: [ApprovalKind], description: "That ask one of these things." }),
    risks: t.field({ type: [Risk], description: "Of one of these risks." }),
    agentIds: t.idList({ description: "Of one of these agents." }),
    templateIds: t.idList({ description: "Of an agent of one of these templates." }),
    tools: t.stringList({ description: "About a call of one of these tools." }),
    requested: t.field({ type: TimeRangeInput, description: "Asked in this span." }),
    decided: t.field({ type: TimeRangeInput, description: "On which somebody decided in this span." }),
    decidedBy: t.idList({ description: "On which one of these actors decided: ids of ActorRefs, or the actors' own." }),
  }),
});

builder.queryField("approvals", (t) =>
  t.connection(
    {
      type: Approval,
      description: "The inbox: what has waited longest is on top.",
      args: { filter: t.arg({ type: ApprovalFilter, description: "Which; all if omitted." }) },
      resolve: (_root, args, context, info) => approvals(context, args, nodesSelection(context, info)),
    },
    connectionOf("Approval", Approval),
  ),
);

const DecideApprovalInput = builder.inputType("DecideApprovalInput", {
  description: "A decision.",
  fields: (t) => ({
    approvalId: t.id({ required: true, description: "On which approval." }),
    decision: t.field({ type: ApprovalDecision, required: true, description: "What is decided." }),
    note: t.string({ description: "Why; the model reads it with a denial. At most 4,000 characters." }),
    inputHash: t.string({ description: "Required for ALLOW and RETRY: the hash of the input that the person saw." }),
    result: t.string({
      description: "With DONE, for an outcome that is unknown: what came of the call, as the model shall read it.",
    }),
    input: t.field({
      type: "JSON",
      description: "With ALLOW of a call: what shall run instead. It is validated and judged, and both inputs are kept.",
    }),
  }),
});

const decidedApproval = { type: Approval, nullable: true, description: "The approval, if it may be seen." } as const;

builder.mutationField("decideApproval", (t) =>
  t.field({
    type: payloadType("DecideApprovalPayload", (fields) => ({
      approval: fields.prismaField({
        ...decidedApproval,
        resolve: (query, { rowId }, _args, context) => approvalByRow(context, rowId, query),
      }),
    })),
    description: "Decides an approval, once. The same decision again answers the same; another one is told which stands.",
    args: { input: t.arg({ type: DecideApprovalInput, required: true, description: "The decision." }) },
    resolve: (_root, { input }, context) => decideApproval(context, requestOf(input)),
  }),
);

const DecideApprovalsInput = builder.inputType("DecideApprovalsInput", {
  description: "Several decisions.",
  fields: (t) => ({
    decisions: t.field({ type: [DecideApprovalInput], required: true, description: "The decisions, at most 100." }),
  }),
});

const DecisionOutcome = builder.objectRef<Outcome>("DecisionOutcome").implement({
  description: "What came of one decision of several.",
  fields: (t) => ({
    approval: t.prismaField({
      ...decidedApproval,
      resolve: (query, { rowId }, _args, context) => approvalByRow(context, rowId, query),
    }),
    userErrors: t.field({
      type: [UserError],
      description: "Why this decision was not carried out; empty if it was.",
      resolve: ({ userErrors }) => [...userErrors],
    }),
  }),
});

builder.mutationField("decideApprovals", (t) =>
  t.field({
    type: payloadType<DecisionOutcomes>("DecideApprovalsPayload", (fields) => ({
      outcomes: fields.field({
        type: [DecisionOutcome],
        description: "What came of the decisions, one for each, in the order given.",
        resolve: ({ outcomes }) => [...outcomes],
      }),
    })),
    description: "Decides up to 100 approvals, each by itself and with its own outcome, in the order given.",
    args: { input: t.arg({ type: DecideApprovalsInput, required: true, description: "The decisions." }) },
    resolve: (_root, { input }, context) => decideApprovals(context, input.decisions.map(requestOf)),
  }),
);

function requestOf(given: (typeof DecideApprovalInput)["$inferInput"]): DecideApproval {
  const { approvalId, decision, note, inputHash, input, result } = given;
  return { approvalId, decision, note: note ?? null, inputHash: inputHash ?? null, input: input ?? null, result: result ?? null };
}
