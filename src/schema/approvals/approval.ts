import type { CallPreview } from "../../agent/calls/stages/preview.ts";
import type { Explanation } from "../../agent/policy/permission.ts";
import { namedHosts, outsidePaths, reachedPaths, type ReachedPath as Reached } from "../../agent/policy/rule-values.ts";
import type { BudgetQuestion as Asked } from "../../events/budgets/budget-question.ts";
import type { ToolQuestion as Question } from "../../events/tool-question.ts";
import { visibleJson, visibleLine, visibleLines } from "../../lib/escape-hidden.ts";
import type { Json } from "../../lib/json.ts";
import { type AskedHost, approvalsByRows, callsOfHost, viewerCannotDecide } from "../../resolvers/approval.ts";
import { ActorRef } from "../actor.ts";
import { agentsInOrder } from "../../resolvers/agent.ts";
import { builder, nodesSelection } from "../builder.ts";
import { ApprovalDecision, ApprovalKind, ApprovalState, CannotDecideReason, Risk } from "../enums.ts";
import { CommandPart } from "../explained.ts";
import { entries } from "../price.ts";
import { ToolCall } from "../tool-call.ts";
import { BudgetQuestion } from "./budget-question.ts";
import { ToolQuestion } from "./tool-question.ts";

/** The agents from the first of a tree to one that asks, as most trees are; a few have up to 9. */
const USUAL_LEVELS = 2;

const NetworkHost = builder.objectRef<AskedHost>("NetworkHost").implement({
  description:
    "A host that an agent wants to connect to. ALLOW stores a rule such as `network(host:example.com)` for this agent, which allows later connections.",
  fields: (t) => ({
    host: t.exposeString("host", {
      description:
        "Host name in lower-case ASCII (internationalised names begin with `xn--`), or an IP address, with IPv6 in brackets.",
    }),
    port: t.exposeInt("port", { description: "Port. The stored rule opens 443 and 80 together, and any other port alone." }),
    toolCalls: t.prismaField({
      type: [ToolCall],
      complexity: 10,
      description: "Calls that want to connect to the host, directly or through a background program, oldest first, at most 20.",
      resolve: (query, { approvalId }, _args, context) => callsOfHost(context, approvalId, query),
    }),
  }),
});

const ApprovalSubject = builder.unionType("ApprovalSubject", {
  description: "Subject of an approval. New types may be added: clients must ignore unknown ones.",
  types: [ToolCall, NetworkHost, ToolQuestion, BudgetQuestion],
  resolveType: (subject) => {
    if ("host" in subject) return NetworkHost;
    if ("raiseTo" in subject) return BudgetQuestion;
    return "fields" in subject ? ToolQuestion : ToolCall;
  },
});

const finalFields = { state: true, decisions: { orderBy: { decidedAt: "desc" }, take: 1 } } as const;

/** The latest decision on a closed approval; null while it is pending. */
function finalDecision<Row>({
  state,
  decisions: [decision],
}: {
  readonly state: string;
  readonly decisions: readonly Row[];
}): Row | null {
  return state === "PENDING" ? null : (decision ?? null);
}

export const ReachedPath = builder.objectRef<Reached>("ReachedPath").implement({
  description: "A file that a call accesses, or the folders that it searches.",
  fields: (t) => ({
    parameter: t.exposeString("parameter", { description: "Parameter of the tool that holds the path." }),
    names: t.stringList({
      description: "All names of the file in the workspace: as given, and with links resolved.",
      resolve: ({ names }) => [...names],
    }),
  }),
});

export const Approval = builder.prismaNode("Approval", {
  id: { field: "id", description: "Relay id of the approval." },
  description: "A question to a person, with its decisions.",
  fields: (t) => ({
    kind: t.expose("kind", { type: ApprovalKind, description: "Kind of question." }),
    state: t.expose("state", { type: ApprovalState, description: "State of the approval." }),
    subject: t.field({
      type: ApprovalSubject,
      nullable: true,
      description: "Subject of the approval. Null if its kind has no type in this schema.",
      select: (_args, _context, nestedSelection) => ({
        kind: true,
        input: true,
        host: true,
        port: true,
        question: true,
        toolCall: nestedSelection(true),
      }),
      resolve: ({ id, kind, input, host, port, question, toolCall }) => {
        if (kind === "BUDGET") return input as unknown as Asked | null;
        if (question !== null) return question as unknown as Question;
        return host === null || port === null ? toolCall : { approvalId: id, host, port };
      },
    }),
    toolCall: t.relation("toolCall", {
      nullable: true,
      description: "Tool call that it is about. Null for other kinds of subject.",
    }),
    agent: t.relation("agent", { description: "Agent whose work needs the approval." }),
    agentPath: t.prismaField({
      type: ["Agent"],
      complexity: entries(USUAL_LEVELS),
      description: "Agents from the first of the tree to the one whose work needs the approval, at most 9.",
      select: { agent: { select: { id: true, ancestors: true } } },
      resolve: (query, { agent: { id, ancestors } }, _args, context) => agentsInOrder(context, [...ancestors, id], query),
    }),
    input: t.expose("input", {
      type: "JSON",
      nullable: true,
      description:
        "Input to approve. Exactly this input runs, unless a decision replaces it. Null if there is no input or it was erased.",
    }),
    inputText: t.string({
      nullable: true,
      description:
        "`input` as JSON text for people. Control characters, bidirectional overrides and long runs of spaces are shown as escapes, so that nothing is hidden. Null if `input` is null.",
      select: { input: true },
      resolve: ({ input }) => (input === null ? null : visibleJson(input as Json)),
    }),
    preview: t.field({
      type: Preview,
      complexity: 0,
      nullable: true,
      description:
        "Changes that the call would make, as of the request. A decision with another input may change them. Null if the tool cannot preview its changes, or if they were erased.",
      select: { preview: true },
      resolve: ({ preview }) => preview as CallPreview | null,
    }),
    inputHash: t.exposeString("inputHash", {
      nullable: true,
      description:
        "SHA-256 over the RFC 8785 form of everything that determines the approved action. ALLOW and RETRY must return it. Null for kinds that do not need it.",
    }),
    reason: t.string({
      nullable: true,
      description: "Reason why approval is needed. Null if it was erased.",
      select: { reason: true, erasedAt: true },
      resolve: ({ reason, erasedAt }) => (erasedAt === null ? reason : null),
    }),
    risk: t.field({
      type: Risk,
      description: "Risk of the action.",
      select: { risk: true },
      resolve: ({ risk }) => risk as (typeof Risk)["$inferType"],
    }),
    meta: t.expose("meta", {
      type: "JSON",
      nullable: true,
      description: "Data that hooks provided for the people who decide. Null if there is none.",
    }),
    quorum: t.int({
      description: "Number of people who must allow it. One person can deny it.",
      select: { quorum: true },
      resolve: ({ quorum }) => quorum ?? 1,
    }),
    missingDecisions: t.int({
      description: "Number of people who must still allow it. 0 once the approval is closed.",
      select: { id: true },
      resolve: async ({ id }, _args, { loaders }) => {
        const approval = await loaders.approvals.load(id);
        // A denial closes the approval: all decisions on a pending one allow it.
        return approval?.state === "PENDING" ? approval.quorum - approval.decisions.length : 0;
      },
    }),
    decisions: t.relation("decisions", {
      query: { orderBy: { decidedAt: "asc" } },
      description: "All decisions in order, at most `quorum` of them.",
    }),
    paths: t.field({
      type: [ReachedPath],
      description:
        "Files that the paths of the call lead to, one for each path. Links are resolved as of the request or decision.",
      select: { toolCall: { select: { ruleValues: true } } },
      resolve: ({ toolCall }) => (toolCall === null ? [] : reachedPaths(toolCall.ruleValues)),
    }),
    outsidePaths: t.stringList({
      description: "Known paths of the call's command lines that lead out of the workspace, as written. Programs may use others.",
      select: { toolCall: { select: { ruleValues: true } } },
      resolve: ({ toolCall }) => [...outsidePaths(toolCall?.ruleValues)],
    }),
    hosts: t.stringList({
      description:
        "Hosts of the addresses in the call's command lines. An unclear authority is given as written, for example `a@b@c.example`. The programs may connect to others.",
      select: { toolCall: { select: { ruleValues: true } } },
      resolve: ({ toolCall }) => [...namedHosts(toolCall?.ruleValues)],
    }),
    commandParts: t.field({
      type: [CommandPart],
      description:
        "Parts of the call's command lines that need approval, at most 50. If another input was allowed, the parts of that input.",
      select: { toolCall: { select: { explanation: true } } },
      resolve: ({ toolCall }) => [...((toolCall?.explanation as Explanation | null | undefined)?.parts ?? [])],
    }),
    decision: t.field({
      type: ApprovalDecision,
      nullable: true,
      description: "Latest decision on a closed approval. Null while it is pending, or if nobody decided.",
      select: finalFields,
      resolve: (approval) => finalDecision(approval)?.decision ?? null,
    }),
    decidedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor that made `decision`.",
      select: finalFields,
      resolve: (approval) => {
        const decision = finalDecision(approval);
        return decision === null ? null : { id: decision.actorId, kind: decision.actorKind };
      },
    }),
    decidedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Time of `decision`.",
      select: finalFields,
      resolve: (approval) => finalDecision(approval)?.decidedAt ?? null,
    }),
    isEdited: t.boolean({
      description: "True if a decision allowed another input than the requested one.",
      select: { decisions: { where: { inputHash: { not: null } }, select: { inputHash: true }, take: 1 } },
      resolve: ({ decisions }) => decisions.some(({ inputHash }) => inputHash !== null),
    }),
    hasEditedInput: t.boolean({
      description: "True if another person edited the input of the call before: this approval asks about that input.",
      select: {
        id: true,
        toolCall: {
          select: { approvals: { where: { decisions: { some: { inputHash: { not: null } } } }, select: { id: true }, take: 2 } },
        },
      },
      resolve: ({ id, toolCall }) => toolCall?.approvals.some((other) => other.id !== id) ?? false,
    }),
    note: t.string({
      nullable: true,
      description: "Note given with `decision`.",
      select: finalFields,
      resolve: (approval) => finalDecision(approval)?.note ?? null,
    }),
    requestedBy: t.field({
      type: [ActorRef],
      description:
        "Actors that asked for it, each once: senders of the messages that the turn answers, and those who edited the input.",
      select: { id: true },
      resolve: async ({ id }, _args, { loaders }) => [...((await loaders.approvals.load(id))?.requesters ?? [])],
    }),
    viewerCanDecide: t.boolean({
      description: "Whether the viewer may decide now.",
      select: { id: true },
      resolve: async ({ id }, _args, context) => (await viewerCannotDecide(context, id)).length === 0,
    }),
    viewerCannotDecideReasons: t.field({
      type: [CannotDecideReason],
      description: "Reasons why the viewer may not decide now. Empty if they may.",
      select: { id: true },
      resolve: async ({ id }, _args, context) => [...(await viewerCannotDecide(context, id))],
    }),
    requestedAt: t.expose("requestedAt", { type: "DateTime", description: "Time of the request." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which the approval expires. Null if it never expires.",
    }),
    closedAt: t.expose("closedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which the approval was closed. Null while it is pending.",
    }),
    erasedAt: t.expose("erasedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which the input was erased. Null if it was not erased.",
    }),
  }),
});

/** The most approvals about a call itself, and the most about its hosts. */
const MOST_APPROVALS = 20;

builder.prismaObjectField(ToolCall, "approvals", (t) =>
  t.field({
    type: [Approval],
    description:
      "Approvals about the call in order, at most 20. Then those about hosts that it, or a background program of it, wants to reach, at most 20.",
    select: (_args, _context, nestedSelection) => ({
      approvals: nestedSelection({ orderBy: { requestedAt: "asc" }, take: MOST_APPROVALS }),
      waits: {
        where: { kind: { in: ["HOST", "SHELL_HOST"] } },
        select: { ref: true },
        distinct: ["ref"],
        orderBy: { ref: "asc" },
        take: MOST_APPROVALS,
      },
    }),
    resolve: async ({ approvals, waits }, _args, context, info) => {
      const hosts = waits.map(({ ref }) => ref);
      return [...approvals, ...(await approvalsByRows(context, hosts, nodesSelection(context, info, null)))];
    },
  }),
);

const FilePreview = builder.objectRef<CallPreview["files"][number]>("FilePreview").implement({
  description: "Change that a call would make to one file.",
  fields: (t) => ({
    path: t.string({
      description: "Path in the workspace, with links resolved.",
      resolve: ({ path }) => visibleLine(path),
    }),
    diff: t.string({
      nullable: true,
      description:
        "Unified diff for people. Control characters, bidirectional overrides and long runs of spaces within a line are shown as escapes. Null if the diff is too large or the file is not text.",
      resolve: ({ diff }) => (diff === null ? null : visibleLines(diff)),
    }),
  }),
});

const Preview = builder.objectRef<CallPreview>("CallPreview").implement({
  description: "Changes that a call would make, as of the approval request.",
  fields: (t) => ({
    files: t.field({
      type: [FilePreview],
      complexity: { field: 0, multiplier: 1 },
      description: "Files that the call would change, at most 100. Empty if unknown.",
      resolve: ({ files }) => [...files],
    }),
    problem: t.string({
      nullable: true,
      description:
        "Why the changes are unknown or incomplete; the call may fail for the same reason. Null if the preview is complete.",
      resolve: ({ problem }) => (problem === null ? null : visibleLines(problem)),
    }),
  }),
});
