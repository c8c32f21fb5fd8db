import type { OutsideChange } from "../../../db/commit/change.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import type { HostQuestion } from "../../calls/hosts/host-question.ts";
import { askedLine } from "../../calls/hosts/host-lines.ts";
import { notice } from "../../calls/notices.ts";
import { COMMAND_BEGINNING, type ShellName } from "../../calls/shells/rows.ts";

/** A question about a host; `programs` in the background ask it. `shells` are theirs, but for those whose end the model knows. */
type Asked = Pick<HostQuestion, "host" | "port"> & {
  readonly agentId: string;
  readonly tenant: string;
  readonly programs: number;
  readonly shells: readonly ShellName[];
};

const FIND: Statement<Asked, [approvalId: string]> = {
  name: "find_programs_of_host",
  text: `SELECT p.host, p.port, p.agent_id AS "agentId", p.tenant,
      (SELECT count(*)::int FROM wait r WHERE r.ref = p.id AND r.kind = 'SHELL_HOST') AS programs,
      (SELECT coalesce(json_agg(json_build_object('id', s.id, 'command', ${COMMAND_BEGINNING}) ORDER BY s.started_at, s.id), '[]') FROM shell s
        WHERE s.agent_id = p.agent_id AND s.call_id IN (SELECT r.call_id FROM wait r WHERE r.ref = p.id AND r.kind = 'SHELL_HOST')
          AND (s.state = 'RUNNING' OR EXISTS (SELECT FROM notice n WHERE n.agent_id = s.agent_id AND n.source = 'SHELL' AND n.ref = s.id AND n.told_at_step IS NULL))) AS shells
    FROM approval p WHERE p.id = $1 AND p.host IS NOT NULL`,
};

/**
 * The part of a commit that tells the model the answer to a question of programs in the background. Refused if another
 * program joins the question meanwhile. Empty for questions about calls.
 */
export async function answerTold(
  sql: Sql,
  approvalId: string,
  answer: Pick<HostQuestion, "state" | "note">,
  at: Date,
): Promise<Pick<OutsideChange, "expectAsking" | "notices">> {
  const [asked] = await sql.query(FIND, [approvalId]);
  if (asked === undefined) return {};
  const { agentId: id, tenant, programs, shells } = asked;
  const text = programs === 0 ? null : askedLine({ ...asked, ...answer }, shells);
  return {
    expectAsking: { approvalId, programs },
    notices: text === null ? [] : [notice({ id, tenant }, { source: "HOST", ref: approvalId, text }, at)],
  };
}
