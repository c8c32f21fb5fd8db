import type { Actor } from "../../agent/actors/actor.ts";
import type { Sql } from "../../db/sql.ts";
import {
  actorOf,
  authenticate,
  configuredActor,
  ofStoredToken,
  type Credentials,
  type Doors,
  type Identified,
} from "../authenticate.ts";
import type { LinkHolder } from "./links.ts";

/**
 * The holder of a link with their rights of now. Null if they are no longer admitted, or if the access token or session of
 * the link has ended. Configured code recognises senders only: with it, the request itself must come from the holder.
 */
export async function presentHolder(
  doors: Doors,
  sql: Sql,
  holder: LinkHolder,
  { credentials, headers }: { readonly credentials: Credentials; readonly headers: Headers },
): Promise<Actor | null> {
  const identified = await identifiedHolder(doors, holder, credentials, headers);
  const isSame = identified?.id === holder.id && identified.kind === holder.kind && identified.tenant === holder.tenant;
  return isSame ? actorOf(sql, doors.authentication, identified) : null;
}

async function identifiedHolder(
  doors: Doors,
  { tenant, id, accessTokenId, sessionId }: LinkHolder,
  credentials: Credentials,
  headers: Headers,
): Promise<Identified | null> {
  const { authentication, signIns } = doors;
  if (authentication.kind !== "tokens") return authenticate(doors, credentials, headers);
  if (sessionId !== null && !(await signIns.isOpen(sessionId))) return null;
  if (accessTokenId === null) return configuredActor(authentication, tenant, id, sessionId);
  const token = await signIns.tokenById(accessTokenId);
  return token === null ? null : ofStoredToken(authentication, token, sessionId);
}
