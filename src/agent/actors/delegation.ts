import type { Sql, Statement } from "../../db/sql.ts";
import type { ActorRef } from "../../events/actor-ref.ts";
import { mayDecide, type Actor, type Identity } from "./actor.ts";

/** A delegation holds from its commit on. */
const FIND: Statement<ActorRef, [tenant: string, toId: string]> = {
  name: "find_delegators",
  text: `SELECT DISTINCT ON (from_id) from_id AS id, from_kind AS kind FROM delegation
    WHERE tenant = $1 AND to_id = $2 AND ends_at > policy_time() AND revoked_at IS NULL ORDER BY from_id`,
};

/**
 * The actor, with those in whose names they may decide at present; none if the actor may decide in their own name.
 * `mayStill` says whether a delegator may still decide: otherwise the delegation has no effect.
 */
export async function withDelegators(sql: Sql, identity: Identity, mayStill: (delegator: string) => boolean): Promise<Actor> {
  if (mayDecide(identity)) return { ...identity, delegators: [] };
  const rows = await sql.query(FIND, [identity.tenant, identity.id]);
  return { ...identity, delegators: rows.filter(({ id }) => mayStill(id)) };
}
