import { abilitiesOf, type Ability as OneAbility, type Action as ActorAction } from "../agent/actors/abilities.ts";
import { actorRef, type Actor } from "../agent/actors/actor.ts";
import type { AgentServices } from "../agent/loop/services.ts";
import { ActorRef } from "./actor.ts";
import { builder } from "./builder.ts";
import { described } from "./described.ts";
import { Role } from "./enums.ts";

type ServerOfViewer = Pick<AgentServices, "serverId" | "version">;

const Action = builder.enumType("Action", {
  description: "What actors may do beyond their own agents.",
  values: described<ActorAction>({
    READ_TENANT: "Read agents of others, and the events of the tenant itself.",
    CREATE_AGENTS: "Create agents.",
    STEER_ALL_AGENTS: "Send to and interrupt agents of others.",
    DECIDE: "Decide on approvals; of a single one `viewerCanDecide` says it.",
    STORE_ALLOW_RULES: "Store rules by which calls run without asking, and revoke them.",
    DELEGATE: "Let somebody else decide in one's name.",
    REPLACE_PERMISSION: "Give an agent a permission in the place of its template's.",
  }),
});

const Ability = builder.objectRef<OneAbility>("Ability").implement({
  description: "Whether the actor who asks may do something.",
  fields: (t) => ({
    action: t.expose("action", { type: Action, description: "What." }),
    isAllowed: t.exposeBoolean("isAllowed", { description: "Whether they may." }),
    reason: t.exposeString("reason", { nullable: true, description: "Why not, in words; null if they may." }),
  }),
});

const Server = builder.objectRef<ServerOfViewer>("Server").implement({
  description: "The server that answers. Several of one database may be of different versions while they are upgraded.",
  fields: (t) => ({
    serverId: t.exposeID("serverId", {
      description: "The process: each start has another one. The log of the server names it.",
    }),
    version: t.string({ description: "The version of Triplane.", resolve: ({ version }) => version.version }),
    commit: t.string({
      nullable: true,
      description: "The beginning of the commit that it was built from; null if it does not know it.",
      resolve: ({ version }) => version.commit,
    }),
  }),
});

const Viewer = builder.objectRef<Actor>("Viewer").implement({
  description: "The actor who asks, as authentication says now.",
  fields: (t) => ({
    actor: t.field({ type: ActorRef, description: "Who it is.", resolve: (viewer) => actorRef(viewer) }),
    tenant: t.exposeString("tenant", { description: "The tenant whose agents they reach." }),
    roles: t.field({ type: [Role], description: "Their roles.", resolve: ({ roles }) => [...roles] }),
    delegators: t.field({
      type: [ActorRef],
      description: "Those in whose names they may decide now, besides their own, each once.",
      resolve: ({ delegators }) => [...delegators],
    }),
    abilities: t.field({
      type: [Ability],
      description: "What they may do, every action once, and why not the rest.",
      resolve: (viewer) => [...abilitiesOf(viewer)],
    }),
    server: t.field({
      type: Server,
      description: "The server that answers.",
      resolve: (_viewer, _args, { services }) => services,
    }),
  }),
});

builder.queryField("viewer", (t) =>
  t.field({ type: Viewer, description: "The actor who asks.", resolve: (_root, _args, { actor }) => actor }),
);
