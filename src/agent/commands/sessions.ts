import type { Statement } from "../../db/sql.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import type { ActorKind } from "../../db/generated/enums.ts";
import type { Actor, CommandRefusal, Outcome } from "../actors/actor.ts";
import type { AgentServices } from "../loop/scope.ts";

const FIND: Statement<{ actorId: string }, [id: string, tenant: string]> = {
  name: "find_session_by_id",
  text: `SELECT actor_id AS "actorId" FROM session WHERE id = $1 AND tenant = $2`,
};
const END: Statement<object, [id: string, at: Date, by: string, byKind: ActorKind]> = {
  name: "end_session",
  text: "UPDATE session SET (ended_at, ended_by, ended_by_kind) = ($2, $3, $4::actor_kind) WHERE id = $1 AND ended_at IS NULL",
};

/** Ends a session immediately: one's own, or, for an administrator, anybody's. One that has ended stays ended. */
export async function endSession(
  { sql, clock }: Pick<AgentServices, "sql" | "clock">,
  actor: Actor,
  id: string,
): Promise<Result<Outcome, CommandRefusal>> {
  const [found] = await sql.query(FIND, [id, actor.tenant]);
  if (found === undefined || (found.actorId !== actor.id && !actor.roles.includes("admin")))
    return refused({ code: "NOT_FOUND", field: ["sessionId"], message: "you have no such session: list yours with `sessions`" });
  await sql.query(END, [id, clock.now(), actor.id, actor.kind]);
  return accepted({ id, position: null });
}
