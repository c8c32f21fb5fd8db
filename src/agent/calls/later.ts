import type { Sql, Statement } from "../../db/sql.ts";
import type { EventLog } from "../../events/log.ts";
import type { Clock } from "../../lib/time.ts";
import type { CallTemplate } from "./scope.ts";
import { CALL_VIEW, type CallView } from "./call.ts";
import { endEvents } from "./events.ts";
import { refusedStep } from "./refusals/refusal-details.ts";

/** A call whose result comes later, and its agent. */
type LaterCall = {
  readonly call: CallView;
  readonly agentId: string;
  readonly tenant: string;
  readonly createdBy: string;
  readonly templateId: string;
};

const READ: Statement<{ later: LaterCall }, [callId: string]> = {
  name: "read_later_call",
  text: `SELECT json_build_object('call', ${CALL_VIEW}, 'agentId', a.id, 'tenant', a.tenant, 'createdBy', a.created_by, 'templateId', a.template_id) AS later
    FROM tool_call t JOIN agent a ON a.id = t.agent_id WHERE t.id = $1 AND t.state = 'WAITING'`,
};

type LaterServices = {
  readonly sql: Sql;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly templates: ReadonlyMap<string, Pick<CallTemplate, "trace">>;
};

/** Ends a call whose result has not come in time, unless it came first. */
export async function timeOutLater({ sql, log, clock, templates }: LaterServices, callId: string): Promise<void> {
  const [found] = await sql.query(READ, [callId]);
  if (found === undefined) return;
  const { call, agentId, tenant, createdBy, templateId } = found.later;
  const at = clock.now();
  const afterMs = at.getTime() - new Date(call.startedAt ?? at).getTime();
  const refusal = { type: "timeout", stage: "execution", afterMs, waitedSince: null, readOnly: false } as const;
  const step = refusedStep(call, refusal, at, { facts: { durationMs: afterMs } });
  const events = endEvents(step.call, templates.get(templateId)).map((body) => ({ at, body }));
  await log.commit(tenant, { agentId, createdBy, events }, { wake: true, transitions: [step.transition] });
}
