import type { ApprovalTransition } from "../../../db/commit/change.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import type { AgentEventBody } from "../../../events/event.ts";

/** Through the agent's running shells: few. */
const FIND: Statement<{ id: string }, [callId: string, shellId: string]> = {
  name: "find_hosts_of_ended_shell",
  text: `SELECT p.id FROM wait r JOIN approval p ON p.id = r.ref WHERE r.call_id = $1 AND r.kind = 'SHELL_HOST' AND p.state = 'PENDING'
      AND NOT EXISTS (SELECT FROM wait o WHERE o.ref = p.id AND (o.kind = 'HOST' OR EXISTS (
        SELECT FROM shell s WHERE s.agent_id = o.agent_id AND s.state = 'RUNNING' AND s.call_id = o.call_id AND s.id <> $2)))
    ORDER BY p.id`,
};

export type EndedHosts = {
  readonly approvalTransitions: readonly ApprovalTransition[];
  readonly events: readonly AgentEventBody[];
};

export async function endedHosts(
  sql: Sql,
  { id, callId }: { readonly id: string; readonly callId: string },
  at: Date,
): Promise<EndedHosts> {
  const questions = await sql.query(FIND, [callId, id]);
  const note = "the program that would reach it has ended";
  return {
    approvalTransitions: questions.map((question) => ({ id: question.id, from: "PENDING", to: "SEALED", closedAt: at })),
    events: questions.map((question) => ({
      kind: "PERMISSION_CLOSED",
      approvalId: question.id,
      callId: null,
      approvalState: "SEALED",
      note,
    })),
  };
}
