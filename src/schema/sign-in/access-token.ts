import { DEFAULT_DAYS, MOST_DAYS, MOST_TOKENS, NAME_CHARACTERS } from "../../agent/commands/access-tokens.ts";
import { rolesOf } from "../../agent/actors/access-token.ts";
import { ROLES } from "../../agent/actors/actor.ts";
import { accessTokens, createAccessToken, revokeAccessToken, type TokenPayload } from "../../resolvers/sign-in.ts";
import type { Payload } from "../../resolvers/context.ts";
import { ActorRef } from "../actor.ts";
import { builder, connectionOf, nodesSelection } from "../builder.ts";
import { Role } from "../enums.ts";
import { payloadType, type PayloadFields } from "../payload.ts";

export const AccessToken = builder.prismaNode("AccessToken", {
  id: { field: "id", description: "Relay id of the token, which is not its secret." },
  description:
    "A token that a person made for a program, or to sign in. It has effect only while the configuration names its owner.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "Name that its owner gave it." }),
    owner: t.field({
      type: ActorRef,
      description: "Actor as whom its bearer acts.",
      select: { actorId: true, actorKind: true },
      resolve: ({ actorId, actorKind }) => ({ id: actorId, kind: actorKind }),
    }),
    roles: t.field({
      type: [Role],
      description: "Roles that it gives, if its owner has them still.",
      select: { roles: true },
      resolve: ({ roles }) => [...rolesOf(roles, ROLES)],
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Time of creation." }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", description: "Time from which on it is rejected." }),
    lastUsedAt: t.expose("lastUsedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of the last use, exact to a minute. Null if it was never used.",
    }),
    revokedAt: t.expose("revokedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of revocation. Null if it was not revoked.",
    }),
    revokedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor that revoked it. Null if it was not revoked.",
      select: { revokedBy: true, revokedByKind: true },
      resolve: ({ revokedBy, revokedByKind }) => (revokedBy === null ? null : { id: revokedBy, kind: revokedByKind ?? "USER" }),
    }),
  }),
});

const AccessTokenFilter = builder.inputType("AccessTokenFilter", {
  description: "Filter for access tokens. All given conditions must match.",
  fields: (t) => ({
    isActive: t.boolean({ description: "True for valid ones only, false for expired and revoked ones only." }),
  }),
});

builder.queryField("accessTokens", (t) =>
  t.connection(
    {
      type: AccessToken,
      description: "Access tokens of the viewer, newest first. Administrators see those of the tenant.",
      args: { filter: t.arg({ type: AccessTokenFilter, description: "Filter. All tokens if omitted." }) },
      resolve: (_root, args, context, info) => accessTokens(context, args, nodesSelection(context, info)),
    },
    connectionOf("AccessToken", AccessToken),
  ),
);

const CreateAccessTokenInput = builder.inputType("CreateAccessTokenInput", {
  description: "Input of `createAccessToken`.",
  fields: (t) => ({
    name: t.string({
      required: true,
      description: `Name, 1 to ${NAME_CHARACTERS} characters, such as the program that uses it.`,
    }),
    roles: t.field({ type: [Role], description: "Roles, each one of yours. All of yours if omitted." }),
    expiresInDays: t.int({ description: `Days until it expires, 1 to ${MOST_DAYS}. ${DEFAULT_DAYS} if omitted.` }),
  }),
});

const RevokeAccessTokenInput = builder.inputType("RevokeAccessTokenInput", {
  description: "Input of `revokeAccessToken`.",
  fields: (t) => ({ accessTokenId: t.id({ required: true, description: "`id` of the token." }) }),
});

function tokenField<Shape extends Payload>(t: PayloadFields<Shape>) {
  return t.prismaField({
    type: AccessToken,
    nullable: true,
    description: "The token. Null if the mutation failed.",
    resolve: (query, { rowId }, _args, { prisma }) =>
      rowId === null ? null : prisma.accessToken.findUnique({ ...query, where: { id: rowId } }),
  });
}

const CreateAccessTokenPayload = payloadType<TokenPayload>("CreateAccessTokenPayload", (t) => ({
  accessToken: tokenField(t),
  secret: t.exposeString("secret", {
    nullable: true,
    description:
      "The text to send as `Authorization: Bearer`, such as `triplane_3f…`. It is shown this once, and kept nowhere. Null if the mutation failed.",
  }),
}));

const RevokeAccessTokenPayload = payloadType("RevokeAccessTokenPayload", (t) => ({ accessToken: tokenField(t) }));

builder.mutationField("createAccessToken", (t) =>
  t.field({
    type: CreateAccessTokenPayload,
    description: `Makes an access token for the viewer, who has at most ${MOST_TOKENS} valid ones. FORBIDDEN without \`actors\` in the configuration, and for viewers who came by an access token. Repeating the request makes another token.`,
    args: { input: t.arg({ type: CreateAccessTokenInput, required: true, description: "Name, roles and lifetime." }) },
    resolve: (_root, { input }, context) =>
      createAccessToken(context, {
        name: input.name,
        roles: input.roles ?? null,
        expiresInDays: input.expiresInDays ?? null,
      }),
  }),
);

builder.mutationField("revokeAccessToken", (t) =>
  t.field({
    type: RevokeAccessTokenPayload,
    description:
      "Revokes one of your access tokens immediately, and ends the sessions that began with it. Open streams close within 5 seconds. Administrators can revoke any token of the tenant.",
    args: { input: t.arg({ type: RevokeAccessTokenInput, required: true, description: "Token to revoke." }) },
    resolve: (_root, { input }, context) => revokeAccessToken(context, input.accessTokenId),
  }),
);
