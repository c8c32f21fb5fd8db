import { whyNoAccessToken } from "../agent/actors/access-token.ts";
import {
  abilitiesOf,
  type Ability as OneAbility,
  type Action as ActorAction,
  actorRef,
  type Actor,
} from "../agent/actors/actor.ts";
import type { AgentServices } from "../agent/loop/scope.ts";
import type { RateLimit as State } from "../resolvers/context.ts";
import { ActorRef } from "./actor.ts";
import { builder, described } from "./builder.ts";
import { Role } from "./enums.ts";

type ServerOfViewer = Pick<AgentServices, "serverId" | "version">;

const Action = builder.enumType("Action", {
  description: "Right of an actor, beyond reading and steering their own agents.",
  values: described<ActorAction>({
    READ_TENANT: "Read agents of other actors, and the events of the tenant itself.",
    CREATE_AGENTS: "Create agents.",
    STEER_ALL_AGENTS: "Send messages to agents of other actors, and interrupt them.",
    DECIDE: "Decide on approvals. `Approval.viewerCanDecide` tells it for a single approval.",
    STORE_ALLOW_RULES: "Store and revoke rules under which calls run without asking.",
    DELEGATE: "Let another actor decide on one's behalf.",
    REPLACE_PERMISSION: "Replace the permission of a template for an agent (`permissionScope: REPLACE`).",
    DELETE_AGENTS: "Delete archived agents.",
    SET_BUDGETS: "Set and revoke budgets.",
    EXPORT_TEXTS: "Export inputs, results and payloads: `createExport` with `withTexts`.",
    READ_OPERATIONS: "Read `operations`: servers, deliveries and the log.",
    CREATE_ACCESS_TOKENS: "Make access tokens for oneself. Depends on the sign-in, not on roles.",
  }),
});

const Ability = builder.objectRef<OneAbility>("Ability").implement({
  description: "Whether the viewer has a right.",
  fields: (t) => ({
    action: t.expose("action", { type: Action, description: "The right." }),
    isAllowed: t.exposeBoolean("isAllowed", { description: "True if the viewer has the right." }),
    reason: t.exposeString("reason", {
      nullable: true,
      description: "Reason why the viewer lacks the right. Null if they have it.",
    }),
  }),
});

const Server = builder.objectRef<ServerOfViewer>("Server").implement({
  description: "The server that answers. Servers of one database may run different versions during an upgrade.",
  fields: (t) => ({
    serverId: t.exposeID("serverId", {
      description: "Id of the server process, also in its log. Each start has a new one.",
    }),
    version: t.string({ description: "Version of Triplane.", resolve: ({ version }) => version.version }),
    commit: t.string({
      nullable: true,
      description: "Start of the hash of the commit from which it was built. Null if unknown.",
      resolve: ({ version }) => version.commit,
    }),
  }),
});

export const Viewer = builder.objectRef<Actor>("Viewer").implement({
  description: "The actor that sent the request, as authenticated now.",
  fields: (t) => ({
    actor: t.field({ type: ActorRef, description: "The actor.", resolve: (viewer) => actorRef(viewer) }),
    tenant: t.exposeString("tenant", { description: "Tenant of the actor." }),
    roles: t.field({ type: [Role], description: "Roles of the actor.", resolve: ({ roles }) => [...roles] }),
    delegators: t.field({
      type: [ActorRef],
      description: "Actors on whose behalf the viewer may decide now, each once.",
      resolve: ({ delegators }) => [...delegators],
    }),
    abilities: t.field({
      type: [Ability],
      description: "All rights, each once, with the reason for those that the viewer lacks.",
      resolve: (viewer, _args, { signIn }) => [...abilitiesOf(viewer, whyNoAccessToken(signIn))],
    }),
    server: t.field({
      type: Server,
      description: "The server that answers.",
      resolve: (_viewer, _args, { services }) => services,
    }),
  }),
});

builder.queryField("viewer", (t) =>
  t.field({ type: Viewer, description: "The actor that sent the request.", resolve: (_root, _args, { actor }) => actor }),
);

const RateLimit = builder.objectRef<State>("RateLimit").implement({
  description:
    "The viewer's budget of points on this server. Each operation is charged before it runs: about one point for each object that it may return.",
  fields: (t) => ({
    limit: t.exposeInt("limit", { description: "Points that are refilled each minute, and the maximum of the budget." }),
    cost: t.exposeInt("cost", { description: "Price of this operation in points." }),
    remaining: t.exposeInt("remaining", { description: "Points left after this operation." }),
    resetAt: t.expose("resetAt", {
      type: "DateTime",
      description: "Time at which the budget is full again without further operations.",
    }),
  }),
});

builder.queryField("rateLimit", (t) =>
  t.field({
    type: RateLimit,
    complexity: 0,
    description: "The viewer's budget of points on this server. Selecting it is free.",
    resolve: (_root, _args, context) => context.room.state(),
  }),
);
