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
import { sizeOf } from "./price.ts";

const StorageOutage = builder.objectRef<Outage>("StorageOutage").implement({
  description: "The database does not answer: events wait to be committed.",
  fields: (t) => ({
    since: t.expose("since", { type: "DateTime", description: "Since when." }),
    bufferedEvents: t.exposeInt("bufferedEvents", { description: "How many events of this server's agents wait." }),
  }),
});

const TimelinePage = builder.objectRef<Page>("TimelinePage").implement({
  description: "The next events, in order. Continue from `cursor`.",
  fields: (t) => ({
    events: t.field({ type: [TimelineEvent], description: "The events; at most 500.", resolve: (page) => [...page.events] }),
    cursor: t.expose("cursor", {
      type: "Cursor",
      description: "Everything up to here was delivered or is outside of what was asked for.",
    }),
    startCursor: t.expose("startCursor", {
      type: "Cursor",
      description:
        "Everything of what was asked for after this and up to `cursor` is in `events`. Given as `to`, with `last`, one goes on backwards; if it is `to` again, nothing is before it.",
    }),
    caughtUp: t.exposeBoolean("caughtUp", { description: "Whether `cursor` was the end of the log." }),
    outage: t.field({
      type: StorageOutage,
      // It stands once in a page, which counts what is below it for each event.
      complexity: 0,
      nullable: true,
      description: "The database does not answer since then: nothing new comes until a page says null again.",
      resolve: ({ outage }) => outage,
    }),
  }),
});

const SINCE = "Everything after this cursor. From now on if omitted.";
const KINDS = "Only these kinds. All if omitted.";
const UNTIL = "The stream ends after the first event of one of these kinds.";

builder.queryField("timeline", (t) =>
  t.field({
    type: TimelinePage,
    complexity: (sizes) => ({ field: 1, multiplier: sizeOf(sizes, MAX_EVENTS, MAX_EVENTS) }),
    description: "The polling twin of the subscriptions, which also reads backwards: `last` with `to`.",
    args: {
      agentIds: t.arg.idList({ description: "Only these agents, at most 100. All that you may see if omitted." }),
      channels: t.arg({ type: [Channel], description: "Only these planes. All if omitted." }),
      kinds: t.arg({ type: [EventKind], description: KINDS }),
      since: t.arg({ type: "Cursor", description: "Everything after this cursor. From the earliest event if omitted." }),
      to: t.arg({
        type: "Cursor",
        description:
          "Everything up to this cursor, with the event whose cursor it is: what `since` the same cursor brings begins behind it. Up to now if omitted.",
      }),
      first: t.arg.int({ description: "At most so many events, the oldest of them, 1 to 500." }),
      last: t.arg.int({
        description:
          "At most so many events, the newest of them, 1 to 500, in their order. Fewer, or none, if they lie far apart: go on with `startCursor`.",
      }),
    },
    resolve: (_root, args, context) => timeline(context, args),
  }),
);

builder.queryField("cursorAt", (t) =>
  t.field({
    type: "Cursor",
    description:
      "The place of a time: what comes `since` this cursor happened then or later, and what lies up to it before. As far as times grow with places: events that waited for the database, or come from a server whose clock differs, may stand a little aside.",
    args: { time: t.arg({ type: "DateTime", required: true, description: "The time." }) },
    resolve: (_root, { time }, context) => cursorAt(context, time),
  }),
);

builder.subscriptionField("progress", (t) =>
  t.field({
    type: TimelinePage,
    description: "What an agent does.",
    args: {
      agentId: t.arg.id({ required: true, description: "The agent." }),
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
    description: "What people must decide, and what they decided. Where `since` is omitted, the open requests come first.",
    args: {
      agentId: t.arg.id({ description: "One agent. All that you may see if omitted." }),
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
    description: "What operators, audit and BI watch, with the events of the tenant itself.",
    args: {
      agentId: t.arg.id({ description: "One agent. All that you may see if omitted." }),
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
    description: "Several planes in one order.",
    args: {
      agentIds: t.arg.idList({ description: "Only these agents, at most 100. All that you may see if omitted." }),
      channels: t.arg({ type: [Channel], description: "Only these planes. All if omitted." }),
      since: t.arg({ type: "Cursor", description: SINCE }),
      kinds: t.arg({ type: [EventKind], description: KINDS }),
      until: t.arg({ type: [EventKind], description: UNTIL }),
    },
    subscribe: (_root, args, context) => subscribe(context, args),
    resolve: (page) => page,
  }),
);
