import type { StorageOutage as Outage } from "../events/log-page.ts";
import {
  cursorAt,
  MAX_EVENTS,
  ofPlane,
  subscribe,
  subscribeControl,
  timeline,
  type TimelinePage as Page,
} from "../resolvers/timeline.ts";
import { builder } from "./builder.ts";
import { Channel, EventKind } from "./events/enums.ts";
import { TimelineEvent } from "./events/event.ts";
import { sizeOf, USUAL_EVENTS } from "./price.ts";
import { MOST_CHILDREN } from "../resolvers/agent.ts";

export const StorageOutage = builder.objectRef<Outage>("StorageOutage").implement({
  description: "An outage of the database: events wait to be committed.",
  fields: (t) => ({
    since: t.expose("since", { type: "DateTime", description: "Start of the outage." }),
    bufferedEvents: t.exposeInt("bufferedEvents", {
      description: "Number of events of this server's agents that wait to be committed.",
    }),
  }),
});

const TimelinePage = builder.objectRef<Page>("TimelinePage").implement({
  description: "A page of events, in order. Continue from `cursor`.",
  fields: (t) => ({
    events: t.field({ type: [TimelineEvent], description: "Events, at most 500.", resolve: (page) => [...page.events] }),
    cursor: t.expose("cursor", {
      type: "Cursor",
      description: "Position up to which the page is complete: all requested events up to it have been delivered.",
    }),
    startCursor: t.expose("startCursor", {
      type: "Cursor",
      description:
        "Position before the page: `events` contains every requested event after it, up to `cursor`. Pass it as `to`, with `last`, to read older events. If it equals the given `to`, there are none.",
    }),
    caughtUp: t.exposeBoolean("caughtUp", { description: "True if `cursor` was the end of the log." }),
    outage: t.field({
      type: StorageOutage,
      // It occurs once a page, and the page counts each field below it for every event.
      complexity: 0,
      nullable: true,
      description: "Current outage of the database. No new events arrive until a page has null here.",
      resolve: ({ outage }) => outage,
    }),
  }),
});

type TreeArguments = { readonly agentIds?: unknown; readonly agentId?: unknown; readonly withDescendants?: unknown };

/** The price of the agents below those that are named: a page reads which there are. */
function treesOf({ agentIds, agentId, withDescendants }: TreeArguments): number {
  if (withDescendants !== true) return 0;
  const named = Array.isArray(agentIds) ? agentIds.length : Number(typeof agentId === "string");
  return named * MOST_CHILDREN;
}

const DESCENDANTS =
  "True for the agents and all agents below them. A child's events come after the AGENT_SPAWNED of its parent. Without an agent it has no effect.";
const SINCE = "Deliver every event after this cursor. If omitted, start with new events.";
const KINDS = "Only these kinds. All kinds if omitted.";
const UNTIL = "End the stream after the first event of one of these kinds. If omitted, it does not end.";

builder.queryField("timeline", (t) =>
  t.field({
    type: TimelinePage,
    complexity: (args) => ({ field: 1 + treesOf(args), multiplier: sizeOf(args, MAX_EVENTS, MAX_EVENTS) }),
    description: "Events of one or more planes, by polling. Reads forwards from `since`, or backwards with `last` and `to`.",
    args: {
      agentIds: t.arg.idList({ description: "Only these agents, at most 100. If omitted, all agents that the viewer may see." }),
      withDescendants: t.arg.boolean({ defaultValue: false, description: DESCENDANTS }),
      channels: t.arg({ type: [Channel], description: "Only these planes. All planes if omitted." }),
      kinds: t.arg({ type: [EventKind], description: KINDS }),
      since: t.arg({ type: "Cursor", description: "Only events after this cursor. The earliest event kept if omitted." }),
      to: t.arg({
        type: "Cursor",
        description:
          "Only events up to and including this cursor. The end of the log if omitted. With `since` at the same cursor, a subscription delivers exactly the events that follow.",
      }),
      first: t.arg.int({
        description: "Maximum number of events, counted from the oldest, 1 to 500. 500 if `first` and `last` are omitted.",
      }),
      last: t.arg.int({
        description:
          "Maximum number of events, counted from the newest, 1 to 500; they are returned oldest first. A page may have fewer although older events exist: continue with `startCursor`.",
      }),
    },
    resolve: (_root, args, context) => timeline(context, args),
  }),
);

builder.queryField("cursorAt", (t) =>
  t.field({
    type: "Cursor",
    description:
      "Log position of a time. Events `since` it happened at that time or later, events up to it happened earlier. Times mostly rise with the cursor. Events buffered during an outage, or written by a server with a wrong clock, may be slightly out of order.",
    args: { time: t.arg({ type: "DateTime", required: true, description: "The time." }) },
    resolve: (_root, { time }, context) => cursorAt(context, time),
  }),
);

builder.subscriptionField("progress", (t) =>
  t.field({
    type: TimelinePage,
    complexity: (args) => ({ field: 1 + treesOf(args), multiplier: USUAL_EVENTS }),
    description: "Events of the PROGRESS plane of one agent.",
    args: {
      agentId: t.arg.id({ required: true, description: "`id` of the agent." }),
      withDescendants: t.arg.boolean({ defaultValue: false, description: DESCENDANTS }),
      since: t.arg({ type: "Cursor", description: SINCE }),
      kinds: t.arg({ type: [EventKind], description: KINDS }),
      until: t.arg({ type: [EventKind], description: UNTIL }),
    },
    subscribe: (_root, args, context) => subscribe(context, ofPlane(args, "PROGRESS")),
    resolve: (page) => page,
  }),
);

builder.subscriptionField("control", (t) =>
  t.field({
    type: TimelinePage,
    complexity: (args) => ({ field: 1 + treesOf(args), multiplier: USUAL_EVENTS }),
    description: "Events of the CONTROL plane: approvals and decisions. Without `since`, pending approvals are delivered first.",
    args: {
      agentId: t.arg.id({ description: "`id` of one agent. If omitted, all agents that the viewer may see." }),
      withDescendants: t.arg.boolean({ defaultValue: false, description: DESCENDANTS }),
      since: t.arg({ type: "Cursor", description: SINCE }),
      kinds: t.arg({ type: [EventKind], description: KINDS }),
      until: t.arg({ type: [EventKind], description: UNTIL }),
    },
    subscribe: (_root, args, context) => subscribeControl(context, ofPlane(args, "CONTROL")),
    resolve: (page) => page,
  }),
);

builder.subscriptionField("monitor", (t) =>
  t.field({
    type: TimelinePage,
    complexity: (args) => ({ field: 1 + treesOf(args), multiplier: USUAL_EVENTS }),
    description: "Events of the MONITOR plane for operators, audit and BI, including those of the tenant itself.",
    args: {
      agentId: t.arg.id({ description: "`id` of one agent. If omitted, all agents that the viewer may see." }),
      withDescendants: t.arg.boolean({ defaultValue: false, description: DESCENDANTS }),
      since: t.arg({ type: "Cursor", description: SINCE }),
      kinds: t.arg({ type: [EventKind], description: KINDS }),
      until: t.arg({ type: [EventKind], description: UNTIL }),
    },
    subscribe: (_root, args, context) => subscribe(context, ofPlane(args, "MONITOR")),
    resolve: (page) => page,
  }),
);

builder.subscriptionField("timeline", (t) =>
  t.field({
    type: TimelinePage,
    complexity: (args) => ({ field: 1 + treesOf(args), multiplier: USUAL_EVENTS }),
    description: "Events of several planes and agents, in one order.",
    args: {
      agentIds: t.arg.idList({ description: "Only these agents, at most 100. If omitted, all agents that the viewer may see." }),
      withDescendants: t.arg.boolean({ defaultValue: false, description: DESCENDANTS }),
      channels: t.arg({ type: [Channel], description: "Only these planes. All planes if omitted." }),
      since: t.arg({ type: "Cursor", description: SINCE }),
      kinds: t.arg({ type: [EventKind], description: KINDS }),
      until: t.arg({ type: [EventKind], description: UNTIL }),
    },
    subscribe: (_root, args, context) => subscribe(context, args),
    resolve: (page) => page,
  }),
);
