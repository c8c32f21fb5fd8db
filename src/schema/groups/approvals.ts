import type { ApprovalDimension as Dimension } from "../../agent/approvals/groups/dimensions.ts";
import {
  NO_APPROVALS,
  type ApprovalFigures as Figures,
  type ApprovalMeasure as Measure,
} from "../../agent/approvals/groups/figures.ts";
import type { ApprovalGroup as Grouped } from "../../agent/approvals/groups/groups.ts";
import { RISKS } from "../../agent/tools/tool.ts";
import { ApprovalKind as Kinds, ApprovalState as States } from "../../db/generated/enums.ts";
import { globalId } from "../../lib/global-id.ts";
import { groupsOfApprovals, QUICK_MS } from "../../resolvers/groups/approvals.ts";
import { keyActor, keyAgent, keyAmong, keyText } from "../../resolvers/groups/keys.ts";
import { ActorRef } from "../actor.ts";
import { ApprovalFilter } from "../approvals/inbox.ts";
import { builder, described } from "../builder.ts";
import { ApprovalKind, ApprovalState, OrderDirection, Risk } from "../enums.ts";
import { Distribution, groupsPrice, groupsType, rangeArguments } from "./groups.ts";

const ApprovalDimension = builder.enumType("ApprovalDimension", {
  description: "Property by which approvals are grouped. Approvals without a value are of a group of their own.",
  values: described<Dimension>({
    DECIDER: "Actor that decided. The figures are of that actor's decisions, and an approval is of the group of each decider.",
    TOOL: "Tool of the call.",
    HOST: "Host of the question.",
    KIND: "Kind of question.",
    STATE: "State of the approval.",
    RISK: "Risk of the action.",
    TEMPLATE: "Template of the agent.",
    AGENT: "Agent whose work needs the approval.",
    ROOT_AGENT: "First agent of its tree.",
    REQUESTER: "Actor that created the agent.",
    HOUR_OF_DAY: "Hour of the request by the clocks of `timeZone`, from 0 to 23.",
  }),
});

const ApprovalMeasure = builder.enumType("ApprovalMeasure", {
  description: "Figure by which groups of approvals are sorted. Groups without it come last.",
  values: described<Measure>({
    APPROVALS: "`approvals`.",
    DECIDED: "`decided`.",
    DENIED: "`denied`.",
    EXPIRED: "`expired`.",
    QUICK: "`quick`.",
    DENIED_SHARE: "`deniedShare`.",
    EDITED_SHARE: "`editedShare`.",
    DECISION_MEAN: "Mean of `decisionMs`.",
    DECISION_P50: "Median of `decisionMs`.",
    DECISION_P95: "95th percentile of `decisionMs`.",
    HOURS_WAITED: "`hoursWaited`.",
  }),
});

const ApprovalGroupOrder = builder.inputType("ApprovalGroupOrder", {
  description: "Sort order for groups of approvals. Equal groups are sorted by their values.",
  fields: (t) => ({
    measure: t.field({ type: ApprovalMeasure, required: true, description: "Sort key." }),
    direction: t.field({ type: OrderDirection, required: true, description: "Sort direction." }),
  }),
});

function share(part: number, of: number): number | null {
  return of === 0 ? null : part / of;
}

const ApprovalFigures = builder.objectRef<Figures>("ApprovalFigures").implement({
  description: "Figures of approvals. Shares are null without a decided approval.",
  fields: (t) => ({
    approvals: t.exposeInt("approvals", { description: "Number of approvals." }),
    pending: t.exposeInt("pending", { description: "Approvals in state PENDING." }),
    decided: t.exposeInt("decided", { description: "Approvals in state ALLOWED, DENIED or RESOLVED." }),
    allowed: t.exposeInt("allowed", { description: "Decided approvals with the decision ALLOW." }),
    denied: t.exposeInt("denied", { description: "Decided approvals with the decision DENY." }),
    edited: t.exposeInt("edited", { description: "Decided approvals whose decision gave another input." }),
    expired: t.exposeInt("expired", { description: "Approvals in state EXPIRED." }),
    sealed: t.exposeInt("sealed", { description: "Approvals in state SEALED or STALE." }),
    allowedShare: t.float({
      nullable: true,
      description: "`allowed` as a share of `decided`.",
      resolve: ({ allowed, decided }) => share(allowed, decided),
    }),
    deniedShare: t.float({
      nullable: true,
      description: "`denied` as a share of `decided`.",
      resolve: ({ denied, decided }) => share(denied, decided),
    }),
    editedShare: t.float({
      nullable: true,
      description: "`edited` as a share of `decided`.",
      resolve: ({ edited, decided }) => share(edited, decided),
    }),
    quick: t.exposeInt("quick", { description: "Decisions made in less than `quickMs`." }),
    deniedThenAllowed: t.exposeInt("deniedThenAllowed", {
      description: "Denied approvals whose question the same agent asked again, with the answer ALLOW.",
    }),
    allowedThenDenied: t.exposeInt("allowedThenDenied", {
      description: "Allowed approvals whose question the same agent asked again, with the answer DENY.",
    }),
    decisionMs: t.expose("decision", {
      type: Distribution,
      complexity: 0,
      description: "Times from request to decision: to the last one, or with DECIDER to that actor's.",
    }),
    hoursWaited: t.exposeFloat("hoursWaited", {
      description: "Hours in which agents waited for these approvals. Approvals of one agent that were open together count once.",
    }),
    agentHours: t.exposeFloat("agentHours", {
      nullable: true,
      description:
        "Hours of the agents' turns, from the start of the first step to the end of the last. Turns count by their start. Null without turns, and unless all dimensions are properties of agents.",
    }),
    perAgentHour: t.float({
      nullable: true,
      description: "`approvals` for each of the `agentHours`. Null if these are null or 0.",
      resolve: ({ approvals, agentHours }) => (agentHours === null ? null : share(approvals, agentHours)),
    }),
  }),
});

const ApprovalGroup = builder.objectRef<Grouped>("ApprovalGroup").implement({
  description:
    "Approvals with the same values of the dimensions. A value is null if its dimension was not requested, or if the approvals have none.",
  fields: (t) => ({
    decidedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "DECIDER.",
      resolve: (group) => keyActor(group, "DECIDER"),
    }),
    tool: t.string({ nullable: true, description: "TOOL.", resolve: (group) => keyText(group, "TOOL") }),
    host: t.string({ nullable: true, description: "HOST.", resolve: (group) => keyText(group, "HOST") }),
    kind: t.field({
      type: ApprovalKind,
      nullable: true,
      description: "KIND.",
      resolve: (group) => keyAmong(group, "KIND", Object.values(Kinds)),
    }),
    state: t.field({
      type: ApprovalState,
      nullable: true,
      description: "STATE.",
      resolve: (group) => keyAmong(group, "STATE", Object.values(States)),
    }),
    risk: t.field({ type: Risk, nullable: true, description: "RISK.", resolve: (group) => keyAmong(group, "RISK", RISKS) }),
    templateId: t.id({ nullable: true, description: "TEMPLATE.", resolve: (group) => keyText(group, "TEMPLATE") }),
    agentId: t.id({
      nullable: true,
      description: "AGENT: `id` of the agent.",
      resolve: (group) => {
        const id = keyText(group, "AGENT");
        return id === null ? null : globalId("Agent", id);
      },
    }),
    agent: t.prismaField({
      type: "Agent",
      nullable: true,
      description: "AGENT.",
      resolve: (query, group, _args, context) => keyAgent(context, group, "AGENT", query),
    }),
    rootAgent: t.prismaField({
      type: "Agent",
      nullable: true,
      description: "ROOT_AGENT. Null if the viewer may not see it.",
      resolve: (query, group, _args, context) => keyAgent(context, group, "ROOT_AGENT", query),
    }),
    requestedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "REQUESTER.",
      resolve: (group) => keyActor(group, "REQUESTER"),
    }),
    hourOfDay: t.int({
      nullable: true,
      description: "HOUR_OF_DAY.",
      resolve: (group) => {
        const hour = keyText(group, "HOUR_OF_DAY");
        return hour === null ? null : Number(hour);
      },
    }),
    figures: t.expose("figures", { type: ApprovalFigures, complexity: 1, description: "Figures of all its approvals." }),
    series: t.field({
      type: [ApprovalFigures],
      complexity: 0,
      description: "Figures by bucket, one for each of `buckets` in their order. Empty without `bucket`.",
      resolve: ({ series }) => [...(series ?? [])],
    }),
  }),
});

const ApprovalGroups = groupsType<Grouped, Figures>("ApprovalGroups", "approvals", ApprovalGroup, (t) =>
  t.field({
    type: ApprovalFigures,
    complexity: 0,
    description: "Figures of all approvals, those of groups beyond `first` included. Each one counts once.",
    resolve: ({ total }) => total ?? NO_APPROVALS,
  }),
);

builder.queryField("approvalGroups", (t) =>
  t.field({
    type: ApprovalGroups,
    complexity: groupsPrice,
    description:
      "Figures of the approvals that the viewer may see, by dimensions and time. Erased approvals, and those of deleted agents, count as before. TOO_BUSY if too many statistics of the tenant are being computed.",
    args: {
      by: t.arg({
        type: [ApprovalDimension],
        required: true,
        defaultValue: ["DECIDER"],
        description: "Dimensions. An empty list makes one group of all approvals.",
      }),
      ...rangeArguments(t.arg, "Approvals requested"),
      filter: t.arg({ type: ApprovalFilter, description: "Filter. All approvals if omitted." }),
      orderBy: t.arg({ type: ApprovalGroupOrder, description: "Sort order. Most approvals first if omitted." }),
      quickMs: t.arg.float({ defaultValue: QUICK_MS, description: "Time in ms below which a decision is `quick`." }),
      timeZone: t.arg.string({ defaultValue: "UTC", description: "IANA zone of HOUR_OF_DAY." }),
    },
    resolve: (_root, args, context, info) => groupsOfApprovals(context, args, info),
  }),
);
