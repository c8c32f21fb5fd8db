import type { ApprovalTransition, CancelRequest, OutsideChange } from "../../db/commit/change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { AgentEventBody } from "../../events/event.ts";
import type { EventLog } from "../../events/log.ts";
import { refused, type Result } from "../../lib/result.ts";
import type { OwnPermission, VersionOfAgent } from "../policy/own-permission.ts";
import type { HeldTemplate } from "../policy/held-template.ts";
import { ownCodeOf, runOwnCode, type OwnCodeServices } from "../tools/own-code.ts";
import type { Tool } from "../tools/tool.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import { CALL_VIEW, type CallView, type Trail } from "./call.ts";
import { endEvents, endStep, imageRows, imagesIn, stageEvents, toolWarning } from "./events.ts";
import { NO_HOSTS } from "./hosts/call-hosts.ts";
import { endRun } from "./run.ts";
import { refusedStep } from "./refusals/refusal-details.ts";
import type { Refusal } from "./refusals/refusal.ts";
import type { CallServices, CallTemplate } from "./scope.ts";
import { StageClock } from "./stage-clock.ts";
import { cancelledRefusal } from "./stages/execution.ts";
import { discover, validate, type Validated } from "./stages/validation.ts";

/** A call whose result comes later, and its agent. */
export type LaterCall = {
  readonly call: CallView;
  readonly agentId: string;
  readonly tenant: string;
  readonly createdBy: string;
  readonly templateId: string;
  readonly templateVersion: VersionOfAgent;
  readonly hooks: readonly string[];
  readonly permission: OwnPermission | null;
};

/** The fields of a LaterCall, of a call `t` and its agent `a`. */
export const LATER_FIELDS = `'call', ${CALL_VIEW}, 'agentId', a.id, 'tenant', a.tenant, 'createdBy', a.created_by, 'templateId', a.template_id, 'templateVersion', a.template_version,
  'hooks', coalesce(a.hooks, '[]'::json), 'permission', a.permission`;

/** The call with its tool, whose form it still fits; null if this server does not have it. */
export function toolOfLater(tools: ReadonlyMap<string, Tool>, { call, agentId, tenant }: LaterCall): Validated | null {
  const request = { tenant, agentId, callId: call.id, name: call.name, form: "json", input: call.effectiveInput } as const;
  const found = discover(request, { all: tools, enabled: tools, has: () => true }, { serverReason: () => null });
  const validated = found.ok ? validate(found.value) : found;
  return validated.ok ? validated.value : null;
}

export type LaterEnd = {
  readonly template: CallTemplate;
  readonly call: Validated;
  readonly answer: Result<ToolResult, Refusal>;
  readonly trail: Trail;
};

/** The commit that ends a waiting call with this answer, after its post hooks. Refused if another one ended it first. */
export async function endOfLater(
  services: Pick<CallServices, "outputs" | "meters"> & OwnCodeServices,
  { call: row, agentId, tenant, createdBy }: LaterCall,
  { template, call, answer, trail }: LaterEnd,
): Promise<{ readonly change: OutsideChange; readonly events: readonly AgentEventBody[]; readonly at: Date }> {
  const clock = new StageClock(row.stages, services, null);
  const now = services.clock.now().getTime();
  const durationMs = Math.max(0, now - new Date(row.startedAt ?? now).getTime());
  const code = ownCodeOf(services, { id: agentId, tenant, createdBy }, `the call ${row.id} of ${row.name}`, "TOOL");
  const outcome = await runOwnCode(code, () =>
    endRun(
      { services, agent: { createdBy }, template },
      {
        call,
        callId: row.id,
        answer,
        soFar: null,
        durationMs,
        clock,
        output: null,
        warnings: [],
        files: [],
        refusedHosts: NO_HOSTS,
        hosts: [],
        child: null,
        signal: AbortSignal.timeout(template.toolTimeoutMs),
        cachedFrom: null,
        fresh: async () => null,
      },
    ),
  );
  const at = services.clock.now();
  const question = questionClosed(row, at);
  const step = endStep(row, outcome, at, trail);
  const traced = template.trace ? stageEvents(row.id, row.stages, outcome.stages) : [];
  return {
    change: {
      wake: true,
      transitions: [step.transition],
      approvalTransitions: question.transitions,
      images: imageRows(imagesIn(outcome)),
    },
    events: [...outcome.warnings.map(toolWarning), ...question.events, ...traced, ...endEvents(step.call, template)],
    at,
  };
}

export function failedElsewhere(message: string): Result<never, Refusal> {
  return refused({ type: "execution_failed", stage: "execution", message, cause: {} });
}

type FoundLater = {
  readonly later: LaterCall;
  /** The time that it was given for its result, in ms; null if that cannot be read. The `due` of its wait has moved by now. */
  readonly dueMs: number | null;
};

const READ: Statement<FoundLater, [callId: string]> = {
  name: "read_later_call",
  text: `SELECT json_build_object(${LATER_FIELDS}) AS later,
      (SELECT round(extract(epoch FROM (e.payload ->> 'dueAt')::timestamptz - (x ->> 'timestamp')::timestamptz) * 1000)::float8 FROM event e, jsonb_array_elements(t.audit_trail) x
        WHERE e.agent_id = a.id AND e.kind = 'TOOL_WAITING' AND e.payload #>> '{call,callId}' = t.id AND x ->> 'state' = 'WAITING' ORDER BY e.position DESC, x ->> 'timestamp' LIMIT 1) AS "dueMs"
    FROM tool_call t JOIN agent a ON a.id = t.agent_id WHERE t.id = $1 AND t.state = 'WAITING'`,
};

type TimeOutServices = OwnCodeServices & {
  readonly sql: Sql;
  readonly log: EventLog;
  readonly heldTemplate: HeldTemplate<Pick<CallTemplate, "trace">>;
  readonly tools: ReadonlyMap<string, Tool>;
};

/** Ends a call whose result has not come in time, unless it came first. */
export async function timeOutLater({ sql, log, clock, heldTemplate, tools }: TimeOutServices, callId: string): Promise<void> {
  const [found] = await sql.query(READ, [callId]);
  if (found === undefined) return;
  const { call, agentId, tenant, createdBy } = found.later;
  const at = clock.now();
  const durationMs = Math.max(0, at.getTime() - new Date(call.startedAt ?? at).getTime());
  const readOnly = tools.get(call.name)?.readOnly === true;
  const refusal = { type: "no_result", stage: "execution", dueMs: found.dueMs ?? durationMs, readOnly } as const;
  const step = refusedStep(call, refusal, at, { facts: { durationMs } });
  const template = await heldTemplate(found.later);
  const question = questionClosed(call, at);
  const events = [...question.events, ...endEvents(step.call, "missing" in template ? undefined : template)];
  await log.commit(
    tenant,
    { agentId, createdBy, events: events.map((body) => ({ at, body })) },
    { wake: true, transitions: [step.transition], approvalTransitions: question.transitions },
  );
}

/** The end of a waiting call that a person cancels. It needs no server with a place for the agent. Null if the call does not wait. */
export async function endOfCancelled(
  { sql, heldTemplate }: Pick<TimeOutServices, "sql" | "heldTemplate">,
  callId: string,
  request: CancelRequest,
): Promise<{ readonly change: OutsideChange; readonly events: readonly AgentEventBody[] } | null> {
  const [found] = await sql.query(READ, [callId]);
  if (found === undefined) return null;
  const at = new Date(request.at);
  const { call } = found.later;
  const step = refusedStep(call, cancelledRefusal(request, "execution"), at);
  const template = await heldTemplate(found.later);
  const question = questionClosed(call, at);
  return {
    change: { transitions: [step.transition], approvalTransitions: question.transitions },
    events: [...question.events, ...endEvents(step.call, "missing" in template ? undefined : template)],
  };
}

/** The end of the question that the task of a waiting call has asked a person, if it is open. */
function questionClosed({ id, approval }: CallView, at: Date): ClosedQuestion {
  if (approval?.state !== "PENDING") return { transitions: [], events: [] };
  return {
    transitions: [{ id: approval.id, from: "PENDING", to: "SEALED", closedAt: at }],
    events: [{ kind: "PERMISSION_CLOSED", approvalId: approval.id, callId: id, approvalState: "SEALED", note: NOT_AWAITED }],
  };
}

const NOT_AWAITED = "the call did not wait for the answer any longer";

type ClosedQuestion = { readonly transitions: readonly ApprovalTransition[]; readonly events: readonly AgentEventBody[] };
