import type { Actor } from "../agent/actors/actor.ts";
import {
  createAccessToken as create,
  revokeAccessToken as revoke,
  type CreateAccessToken,
} from "../agent/commands/access-tokens.ts";
import { endSession as end } from "../agent/commands/sessions.ts";
import type { AccessToken, Prisma, Session } from "../db/generated/client.ts";
import { rowId } from "../lib/global-id.ts";
import { DAY_MS, HOUR_MS } from "../lib/time.ts";
import { connection, type Connection, type Order, type PageArguments } from "./connection.ts";
import { payloadOf, type Context, type Payload } from "./context.ts";

/** A session ends this long after its last use, and this long after its begin, in ms. */
export const SESSION_TIMES = { idleMs: 12 * HOUR_MS, mostMs: 7 * DAY_MS };

type OwnedRow = { readonly tenant: string; readonly actorId: string };

/** True if the actor may see a token or a session: their own, and as an administrator those of the tenant. */
export function mayReadSignIn(actor: Actor, row: OwnedRow | null): boolean {
  return row !== null && row.tenant === actor.tenant && (row.actorId === actor.id || actor.roles.includes("admin"));
}

function visibleTo({ actor, tenant }: Context): { tenant: string; actorId?: string } {
  return actor.roles.includes("admin") ? { tenant } : { tenant, actorId: actor.id };
}

/** Active ones are valid; null for all. */
export type SignInFilter = { readonly isActive?: boolean | null | undefined };

const NEWEST_TOKENS: Order<AccessToken> = {
  name: "accessTokens",
  columns: [
    { name: "createdAt", direction: "desc", holds: "time", nulls: "never" },
    { name: "id", direction: "desc", holds: "text", nulls: "never" },
  ],
};
const NEWEST_SESSIONS: Order<Session> = {
  name: "sessions",
  columns: [
    { name: "createdAt", direction: "desc", holds: "time", nulls: "never" },
    { name: "id", direction: "desc", holds: "text", nulls: "never" },
  ],
};

type Arguments = PageArguments & { readonly filter?: SignInFilter | null | undefined };

export async function accessTokens(
  context: Context,
  args: Arguments,
  selection: Pick<Prisma.AccessTokenFindUniqueArgs, "select">,
): Promise<Connection<AccessToken>> {
  await context.snapshot();
  const { prisma, services } = context;
  const active = { revokedAt: null, expiresAt: { gt: services.clock.now() } };
  return connection<AccessToken, Prisma.AccessTokenWhereInput, Prisma.AccessTokenOrderByWithRelationInput>(args, {
    order: NEWEST_TOKENS,
    where: { ...visibleTo(context), ...ifActive(args, active) },
    read: async (query) => prisma.accessToken.findMany({ ...selection, ...query }),
    count: async (query) => prisma.accessToken.count(query),
  });
}

export async function sessions(
  context: Context,
  args: Arguments,
  selection: Pick<Prisma.SessionFindUniqueArgs, "select">,
): Promise<Connection<Session>> {
  await context.snapshot();
  const { prisma, services } = context;
  const now = services.clock.now().getTime();
  const active = {
    endedAt: null,
    lastUsedAt: { gt: new Date(now - SESSION_TIMES.idleMs) },
    createdAt: { gt: new Date(now - SESSION_TIMES.mostMs) },
  };
  return connection<Session, Prisma.SessionWhereInput, Prisma.SessionOrderByWithRelationInput>(args, {
    order: NEWEST_SESSIONS,
    where: { ...visibleTo(context), ...ifActive(args, active) },
    read: async (query) => prisma.session.findMany({ ...selection, ...query }),
    count: async (query) => prisma.session.count(query),
  });
}

function ifActive<Active extends object>({ filter }: Arguments, active: Active): Active | { NOT: Active } | object {
  const isActive = filter?.isActive ?? null;
  return isActive === null ? {} : isActive ? active : { NOT: active };
}

/** The time at which a session ends if it is not used again. */
export function sessionEnd({ createdAt, lastUsedAt }: Pick<Session, "createdAt" | "lastUsedAt">): Date {
  return new Date(Math.min(createdAt.getTime() + SESSION_TIMES.mostMs, lastUsedAt.getTime() + SESSION_TIMES.idleMs));
}

export type TokenPayload = Payload & { readonly secret: string | null };

export async function createAccessToken(context: Context, request: CreateAccessToken): Promise<TokenPayload> {
  const { services, actor, signIn } = context;
  const result = await create(services, actor, signIn, request);
  return { ...(await payloadOf(context, result)), secret: result.ok ? result.value.secret : null };
}

export async function revokeAccessToken(context: Context, id: string): Promise<Payload> {
  return payloadOf(context, await revoke(context.services, context.actor, rowId("AccessToken", id)));
}

export async function endSession(context: Context, id: string): Promise<Payload> {
  return payloadOf(context, await end(context.services, context.actor, rowId("Session", id)));
}
