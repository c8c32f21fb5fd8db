import type { RetentionPolicy } from "../events/retention.ts";
import {
  consumerStates,
  logState,
  operations,
  workingServers,
  type ConsumerState,
  type LogState as State,
  type Operations as All,
  type WorkingServer as Working,
} from "../resolvers/operations.ts";
import { builder } from "./builder.ts";
import { EventKind } from "./events/enums.ts";
import { entries } from "./price.ts";
import { StorageOutage } from "./timeline.ts";

const WorkingServer = builder.objectRef<Working>("WorkingServer").implement({
  description: "A server with work of the tenant: leases of agents, background shells or consumers.",
  fields: (t) => ({
    serverId: t.exposeID("serverId", { description: "Id of the server process. Each start has a new one." }),
    isAnswering: t.exposeBoolean("isAnswering", { description: "True for the server that answers." }),
    version: t.exposeString("version", {
      nullable: true,
      description: "Version of Triplane. Null for other servers than the answering one.",
    }),
    startedAt: t.expose("startedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of its start. Null for other servers than the answering one.",
    }),
    agents: t.exposeInt("agents", { description: "Number of the tenant's agents that it works on." }),
    shells: t.exposeInt("shells", { description: "Number of the tenant's background shells that it runs." }),
    consumers: t.exposeInt("consumers", { description: "Number of consumers to which it delivers the tenant's events." }),
    leaseUntil: t.expose("leaseUntil", {
      type: "DateTime",
      nullable: true,
      description: "End of its latest lease. A working server renews its leases. Null without leases.",
    }),
    isLost: t.exposeBoolean("isLost", {
      description: "True if all its leases have expired: it has ended, or does not reach the database. Others continue its work.",
    }),
  }),
});

const DeliveryConsumer = builder.objectRef<ConsumerState>("DeliveryConsumer").implement({
  description: "A listener or webhook of the configuration that gets events of the tenant.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "Its name, for example `webhook.inbox` or `on.DONE`." }),
    kinds: t.field({ type: [EventKind], description: "Kinds of events that it gets.", resolve: ({ kinds }) => [...kinds] }),
    lag: t.exposeFloat("lag", {
      description:
        "Positions of the log behind its place. Positions of other kinds count until they are passed, within a minute.",
    }),
    behindSince: t.expose("behindSince", {
      type: "DateTime",
      nullable: true,
      description: "Time of the first event behind its place. Null if it is at the head.",
    }),
    leaseOwner: t.exposeID("leaseOwner", {
      nullable: true,
      description: "Server that delivers at present. Null if none does.",
    }),
    failedTries: t.exposeInt("failedTries", {
      description: "Failed tries that are repeated, on the answering server since its start.",
    }),
    givenUp: t.exposeInt("givenUp", {
      description: "Events that were given up, on the answering server since its start. Each is an ERROR event of its agent.",
    }),
  }),
});

const LogState = builder.objectRef<State>("LogState").implement({
  description: "The log of the tenant.",
  fields: (t) => ({
    head: t.field({ type: "Cursor", description: "Cursor of its end.", resolve: ({ head }) => head }),
    floor: t.field({
      type: "Cursor",
      description: "Cursor of its floor. Earlier events may have been removed, and their cursors have expired.",
      resolve: ({ floor }) => floor,
    }),
    positions: t.exposeFloat("positions", { description: "Positions between floor and end." }),
    oldestAt: t.expose("oldestAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of the oldest event kept. Null if there is none.",
    }),
    newestAt: t.expose("newestAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of the newest event. Null if there is none.",
    }),
    auditLag: t.exposeFloat("auditLag", {
      nullable: true,
      description: "Positions that the rows of the audit lack; answers have them all the same. Null while the audit is filled.",
    }),
    overdueWaits: t.exposeInt("overdueWaits", {
      description: "Waits of the tenant that no server has ended a minute after their time, counted up to 1,000.",
    }),
  }),
});

const Retention = builder.objectRef<RetentionPolicy>("RetentionSettings").implement({
  description: "Retention times of the configuration.",
  fields: (t) => ({
    eventsMs: t.exposeFloat("eventsMs", {
      nullable: true,
      description: "Age in ms at which events are removed. Null for never.",
    }),
    deltasMs: t.exposeFloat("deltasMs", {
      nullable: true,
      description: "Age in ms at which deltas of complete texts are removed. Null for never.",
    }),
    outputsMs: t.exposeFloat("outputsMs", {
      nullable: true,
      description: "Age in ms at which kept outputs are removed. Null for never.",
    }),
    toolCallsMs: t.exposeFloat("toolCallsMs", {
      nullable: true,
      description: "Age in ms at which inputs and results of ended tool calls are erased. Null for never.",
    }),
    messagesMs: t.exposeFloat("messagesMs", {
      nullable: true,
      description: "Age in ms at which contents of messages are erased. Null for never.",
    }),
    approvalsMs: t.exposeFloat("approvalsMs", {
      nullable: true,
      description: "Age in ms at which texts of closed approvals are erased. Null for never.",
    }),
  }),
});

const Operations = builder.objectRef<All>("Operations").implement({
  description: "Facts for administrators, as the answering server sees them.",
  fields: (t) => ({
    servers: t.field({
      type: [WorkingServer],
      complexity: entries(5),
      description: "Servers with work of the tenant, the answering one first, at most 101.",
      resolve: (_operations, _args, context) => workingServers(context),
    }),
    consumers: t.field({
      type: [DeliveryConsumer],
      description: "Listeners and webhooks that get events of the tenant, in the order of the configuration.",
      resolve: (_operations, _args, context) => consumerStates(context),
    }),
    log: t.field({
      type: LogState,
      description: "The log of the tenant.",
      resolve: (_operations, _args, context) => logState(context),
    }),
    outage: t.field({
      type: StorageOutage,
      nullable: true,
      description: "Present outage of the database. Null if it answers.",
      resolve: (_operations, _args, { services }) => services.log.outage,
    }),
    clockSkewMs: t.float({
      description: "Lead of the server's clock over that of the database in ms; negative if it is behind.",
      resolve: (_operations, _args, { services }) => services.clockSkew().ms,
    }),
    retention: t.field({
      type: Retention,
      description: "Retention times of the configuration.",
      resolve: (_operations, _args, { operator }) => operator.retention,
    }),
  }),
});

builder.queryField("operations", (t) =>
  t.field({
    type: Operations,
    nullable: true,
    complexity: 5,
    description:
      "Servers, deliveries, the log and retention. Null if the viewer may not read them (READ_OPERATIONS). `mcpServers`, `schedules` and `/metrics` have more.",
    resolve: (_root, _args, context) => operations(context),
  }),
);
