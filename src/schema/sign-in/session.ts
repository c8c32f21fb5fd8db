import { endSession, sessionEnd, sessions } from "../../resolvers/sign-in.ts";
import { ActorRef } from "../actor.ts";
import { builder, connectionOf, nodesSelection } from "../builder.ts";
import { payloadType } from "../payload.ts";

export const Session = builder.prismaNode("Session", {
  id: { field: "id", description: "Relay id of the session." },
  description:
    "A browser in which a person signed in to the console. Ends 12 hours after its last use, 7 days after its begin, or with its token.",
  fields: (t) => ({
    owner: t.field({
      type: ActorRef,
      description: "Actor that signed in.",
      select: { actorId: true, actorKind: true },
      resolve: ({ actorId, actorKind }) => ({ id: actorId, kind: actorKind }),
    }),
    userAgent: t.exposeString("userAgent", {
      nullable: true,
      description: "Name that the browser gives itself, at most 200 bytes. Null if it gave none.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Time of sign-in." }),
    lastUsedAt: t.expose("lastUsedAt", { type: "DateTime", description: "Time of the last request, exact to a minute." }),
    expiresAt: t.field({
      type: "DateTime",
      description: "Time at which it ends without further use.",
      select: { createdAt: true, lastUsedAt: true },
      resolve: sessionEnd,
    }),
    endedAt: t.expose("endedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which an actor ended it. Null if none did.",
    }),
    endedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor that ended it. Null if none did.",
      select: { endedBy: true, endedByKind: true },
      resolve: ({ endedBy, endedByKind }) => (endedBy === null ? null : { id: endedBy, kind: endedByKind ?? "USER" }),
    }),
    viewerIsHere: t.boolean({
      description: "True for the session by which the viewer sent the request.",
      select: { id: true },
      resolve: ({ id }, _args, { signIn }) => "sessionId" in signIn && signIn.sessionId === id,
    }),
  }),
});

const SessionFilter = builder.inputType("SessionFilter", {
  description: "Filter for sessions. All given conditions must match.",
  fields: (t) => ({ isActive: t.boolean({ description: "True for active ones only, false for ended ones only." }) }),
});

builder.queryField("sessions", (t) =>
  t.connection(
    {
      type: Session,
      description: "Sessions of the viewer, newest first. Administrators see those of the tenant.",
      args: { filter: t.arg({ type: SessionFilter, description: "Filter. All sessions if omitted." }) },
      resolve: (_root, args, context, info) => sessions(context, args, nodesSelection(context, info)),
    },
    connectionOf("Session", Session),
  ),
);

const EndSessionInput = builder.inputType("EndSessionInput", {
  description: "Input of `endSession`.",
  fields: (t) => ({ sessionId: t.id({ required: true, description: "`id` of the session." }) }),
});

const EndSessionPayload = payloadType("EndSessionPayload", (t) => ({
  session: t.prismaField({
    type: Session,
    nullable: true,
    description: "The session. Null if the mutation failed.",
    resolve: (query, { rowId }, _args, { prisma }) =>
      rowId === null ? null : prisma.session.findUnique({ ...query, where: { id: rowId } }),
  }),
}));

builder.mutationField("endSession", (t) =>
  t.field({
    type: EndSessionPayload,
    description:
      "Ends one of your sessions immediately. Its open streams close within 5 seconds. Administrators can end any session of the tenant.",
    args: { input: t.arg({ type: EndSessionInput, required: true, description: "Session to end." }) },
    resolve: (_root, { input }, context) => endSession(context, input.sessionId),
  }),
);
