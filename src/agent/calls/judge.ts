import type { ToolCallPatch } from "../../db/commit/change.ts";
import type { Statement } from "../../db/sql.ts";
import { shownProblem } from "../../db/storage-error.ts";
import type { JsonObject, Json } from "../../lib/json.ts";
import { accepted, type Result } from "../../lib/result.ts";
import { agentPermissions, agentPolicy, agentWorkspace, guardedWorkspace, mayReadAll } from "../policy/agent-policy.ts";
import type { OwnPermission } from "../policy/own-permission.ts";
import type { Explanation, Policy } from "../policy/permission.ts";
import { storedValues, type RuleValues } from "../policy/rule-values.ts";
import { READS } from "../policy/rule.ts";
import { type RulesToRead, storedRules } from "../policy/stored-rules.ts";
import { definitionChange } from "../mcp/pins.ts";
import { fromOutside } from "./memory/memory-rows.ts";
import { ownCodeOf, runOwnCode } from "../tools/own-code.ts";
import { BRIDGE, serverIn } from "../tools/tool.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import { knownFileRows } from "../workspace/known-files.ts";
import { argumentsProblem } from "./arguments.ts";
import { isAllowedByPerson } from "./asked-input.ts";
import { type CallingAgent, type CallView, explainedBy, hasRun, isFinal, isInputAnswered, type CallFacts } from "./call.ts";
import { hooksFor } from "./hooks.ts";
import { keepsAnswer } from "./kept-answer.ts";
import type { Refusal } from "./refusals/refusal.ts";
import type { CallScope, JudgeServices, CallTemplate } from "./scope.ts";
import { memoryOwner, readMemory } from "./memory/memory-rows.ts";
import { StageClock, type Stages } from "./stage-clock.ts";
import { confirm, type Allowance, type Confirmed } from "./stages/confirmation.ts";
import { permit, judgeByPolicy, type Judged } from "./stages/permission.ts";
import { NO_PREVIEW, previewCall, type CallPreview, type PreviewResult } from "./stages/preview.ts";
import { discover, toolboxOf, type Requested, validate, type Validated } from "./stages/validation.ts";

/** The number of earlier calls of these arguments, and whether the answer, which is the newest message, made this one by the bridge. */
const AS_MADE: Statement<
  { repeats: number; isByBridge: boolean },
  [agentId: string, turn: number, callId: string, providerId: string, bridge: string]
> = {
  name: "read_refused_call",
  text: `SELECT count(*)::int AS repeats,
      coalesce((SELECT content::jsonb FROM message WHERE agent_id = $1 AND ordinal IS NOT NULL ORDER BY ordinal DESC LIMIT 1)
        @> jsonb_build_array(jsonb_build_object('type', 'tool_use', 'id', $4::text, 'name', $5::text)), false) AS "isByBridge"
    FROM tool_call t JOIN tool_call o ON o.agent_id = t.agent_id AND o.turn = t.turn AND o.name = t.name
      AND (o.step, o.ordinal) < (t.step, t.ordinal) AND o.requested_input::text = t.requested_input::text AND o.error ->> 'type' = 'invalid_params'
    WHERE t.id = $3 AND t.agent_id = $1 AND t.turn = $2`,
};

export type JudgedCall = {
  readonly call: CallView;
  readonly validated: Validated;
  readonly values: RuleValues | null;
  readonly explanation: Explanation;
  readonly stages: Stages;
};

export type ReadyCall = JudgedCall & { readonly kind: "ready"; readonly confirmed: Confirmed };

/** The gate's judgement before execution. Calls that do not reach the permission stage have no explanation. */
export type Judgement =
  | ReadyCall
  | (JudgedCall & {
      readonly kind: "asked";
      readonly inputHash: string;
      readonly reason: string;
      readonly meta: JsonObject | null;
      readonly preview: CallPreview | null;
    })
  | (JudgedCall & { readonly kind: "answered"; readonly result: ToolResult })
  | (JudgedCall & { readonly kind: "denied"; readonly refusal: Refusal; readonly failedHook: string | null })
  /** It would fail at present, but earlier calls of its answer may change that: it is judged again when they have ended. */
  | (JudgedCall & { readonly kind: "held" })
  /** A person has answered its tool, whose MCP server is away: the call waits for that. */
  | { readonly kind: "away"; readonly call: CallView; readonly server: string; readonly reason: string; readonly stages: Stages }
  | { readonly kind: "refused"; readonly call: CallView; readonly refusal: Refusal; readonly stages: Stages };

/**
 * Takes a call through the stages before its execution: discovery, validation, permission, confirmation. It is the same
 * for new calls and for those that a person has allowed. Each stage takes the result of the one before, so that none
 * can be left out. `stored` are the stored rules; `stop` aborts the wait for hooks. Never rejects.
 */
export async function judgeCall(call: CallView, scope: CallScope, stored: RulesToRead, stop: AbortSignal): Promise<Judgement> {
  try {
    const code = ownCodeOf(scope.services, scope.agent, `the call ${call.id} of ${call.name}`, "TOOL");
    return await runOwnCode(code, () => judgeStages(call, scope, stored, stop));
  } catch (error) {
    const reason = `the call cannot be judged (${shownProblem(error)})`;
    return {
      kind: "refused",
      call,
      refusal: { type: "permission_denied", stage: "permission", reason, result: null },
      stages: call.stages,
    };
  }
}

async function judgeStages(call: CallView, scope: CallScope, stored: RulesToRead, stop: AbortSignal): Promise<Judgement> {
  const { services, template, agent } = scope;
  // Its trace is committed with the stages: a call that is judged and does not start has neither.
  const clock = new StageClock(call.stages, services, null);
  const refuse = (refusal: Refusal): Judgement => ({ kind: "refused", call, refusal, stages: clock.stages });

  const stopReason = agent.lastStep?.stopReason ?? "unknown";
  if (stopReason !== "tool_use") return refuse({ type: "incomplete", stage: "discovery", stopReason });
  const { tools } = services;
  const toolbox = { ...toolboxOf(tools, template), hasBridge: agent.manual?.fixesTools === true };
  const discovered = clock.timed("discovery", () => discover(requested(call, agent), toolbox, tools));
  const server = serverIn(call.name);
  const reason = server === null ? null : tools.serverReason(server);
  if (server !== null && reason !== null && keepsAnswer(call, template.deferredTimeoutMs, services.clock.now()))
    return { kind: "away", call, server, reason, stages: clock.stages };
  if (!discovered.ok) return refuse(discovered.refusal);

  const validated = clock.timed("validation", () => validate(discovered.value));
  if (!validated.ok) return refuse(await asMade(call, scope, validated.refusal));

  const end = clock.begin("permission");
  const policy = agentPolicy(template, agent.permission, stored.known?.rules ?? [], services);
  const askedPolicy = async (): Promise<Policy> =>
    stored.known === null ? agentPolicy(template, agent.permission, (await stored.read()).rules, services) : policy;
  const permitted = await permit(validated.value, {
    policy,
    askedPolicy,
    hooks: template.hooks,
    agent: { createdBy: agent.createdBy, templateId: template.id },
    workspace: agentWorkspace(services, agent.workspace),
    definitionChange: (tool, tenant) => definitionChange(services, tool, tenant),
    fromOutside: (tool, seen) => fromOutside(services.sql, agent.id, template, tool, seen),
    signal: stop,
  }).finally(end);
  const { call: permittedCall, values, explanation } = permitted.ok ? permitted.value : permitted.refusal;
  const judged = (): JudgedCall => ({ call, validated: permittedCall, values, explanation, stages: clock.stages });
  const deny = (reason: string): Judgement => ({
    ...judged(),
    kind: "denied",
    failedHook: null,
    refusal: { type: "permission_denied", stage: "permission", reason, result: null },
  });
  if (!permitted.ok) {
    const { refusal, failedHook } = permitted.refusal;
    return { ...judged(), kind: "denied", refusal, failedHook };
  }
  const verdict = permitted.value;
  if (verdict.kind === "answered")
    return call.state === "PENDING"
      ? { ...judged(), kind: "answered", result: verdict.result }
      : deny("a hook now answers this call, so that what was allowed is not what would happen");

  const { version } = explanation.allowRuleId === undefined ? { version: null } : (stored.known ?? (await stored.read()));
  const allowance = verdict.kind === "asked" ? await allowanceOf(call, services) : null;
  const confirmed = clock.timed("confirmation", () => confirm(verdict, version, allowance, agent.workspace));
  if (!confirmed.ok) {
    const { preview, failure } = await previewJudged(permittedCall, values, scope, askedPolicy, stop);
    if (failure !== null && agent.calls.some(({ ordinal, state }) => ordinal < call.ordinal && !isFinal(state)))
      return { ...judged(), kind: "held" };
    if (failure?.mayBeTold === true) {
      const { message, cause } = failure;
      const refusal = { type: "execution_failed", stage: "confirmation", message, cause } as const;
      return { ...judged(), kind: "denied", refusal, failedHook: null };
    }
    const meta = verdict.kind === "asked" ? verdict.meta : null;
    return { ...judged(), kind: "asked", meta, preview, ...confirmed.refusal };
  }
  if (hasRun(call) && confirmed.value.inputHash !== call.inputHash)
    return deny("the tool, or what hooks make of its input, is not what it was when the call ran");
  return { ...judged(), kind: "ready", confirmed: confirmed.value };
}

async function previewJudged(
  call: Validated,
  values: RuleValues | null,
  { services, template, agent, owner }: CallScope,
  askedPolicy: () => Promise<Policy>,
  stop: AbortSignal,
): Promise<PreviewResult> {
  if (call.bound.preview === null) return NO_PREVIEW;
  // The files that earlier calls have read are known after their ends are stored.
  await owner.flush();
  const reading = template.tools?.includes(READS) === false ? undefined : services.tools.get(READS);
  // The verdict of hooks on reading is unknown.
  const isHooked = reading === undefined || hooksFor("preToolUse", reading, template.hooks).length > 0;
  const permissions = agentPermissions(template, agent.permission, services);
  const policy = await askedPolicy();
  const memory = memoryOwner(template, agent);
  return previewCall(call, values, {
    workspace: guardedWorkspace(services, agent.workspace, permissions, values),
    known: knownFileRows(services.sql, agent.id),
    contents: services.contents,
    mayRead: (named) => !isHooked && mayReadAll(named, agent.id, policy),
    stop,
    readMemory: async (path) =>
      memory === null ? null : ((await readMemory(services.sql, agent.tenant, memory, path))?.text ?? null),
  });
}

function requested(call: CallView, agent: CallingAgent): Requested {
  const common = { tenant: agent.tenant, agentId: agent.id, callId: call.id, name: call.name };
  const input = call.state === "PENDING" ? call.requestedInput : call.effectiveInput;
  return typeof input === "string"
    ? { ...common, form: "unparsed", text: input, problem: argumentsProblem(input) }
    : { ...common, form: "json", input };
}

async function allowanceOf(call: CallView, { sql }: JudgeServices): Promise<Allowance | null> {
  const { approval, ruleValues, inputHash } = call;
  // The call began with this input, and its tool has asked for more since.
  if (isInputAnswered(call) && inputHash !== null)
    return (await isAllowedByPerson(sql, call)) ? { approvalId: null, inputHash, values: ruleValues } : null;
  const isAllowed = approval?.state === "ALLOWED" || (approval?.state === "RESOLVED" && approval.decision === "RETRY");
  return approval !== null && isAllowed ? { approvalId: approval.id, inputHash: approval.inputHash, values: ruleValues } : null;
}

/** Adds to a refusal how often the model made the same mistake with exactly these arguments, and where it wrote them. */
async function asMade(call: CallView, { services, agent, owner }: CallScope, refusal: Refusal): Promise<Refusal> {
  if (refusal.type !== "invalid_params") return refusal;
  // The call is counted by its row.
  await owner.flush();
  const [row] = await services.sql.query(AS_MADE, [agent.id, agent.turn, call.id, call.providerId, BRIDGE]);
  const within = row?.isByBridge === true && call.name !== BRIDGE ? "/input" : "";
  return { ...refusal, within, repeats: row?.repeats ?? 0 };
}

export function judgedFacts({ validated, values }: JudgedCall): CallFacts {
  return { effectiveInput: validated.bound.input, ruleValues: values === null ? null : storedValues(values) };
}

export function judgedColumns({ explanation }: JudgedCall): Partial<ToolCallPatch> {
  return explainedBy(explanation);
}

export type CallExplanation = Explanation & { readonly values: RuleValues | null; readonly hooks: readonly string[] };

export async function explainCall(
  services: JudgeServices,
  agent: DryRunAgent,
  name: string,
  input: Json,
): Promise<Result<CallExplanation, Refusal>> {
  const judged = await dryRun(services, agent, { callId: "explained", name, input });
  if (!judged.ok) return judged;
  const { call, explanation, values } = judged.value;
  const hooks = hooksFor("preToolUse", call.tool, agent.template.hooks).map(({ place }) => place);
  return accepted({ ...explanation, values, hooks });
}

export type DryRunAgent = {
  readonly id: string;
  readonly tenant: string;
  readonly workspace: string;
  readonly permission: OwnPermission | null;
  readonly template: CallTemplate;
};

export type UnmadeCall = { readonly callId: string; readonly name: string; readonly input: Json };

/**
 * Takes a hypothetical call through discovery, validation, rules, lists and modes, for an agent whose folder answers.
 * Hooks are not run: they may have effects.
 */
export async function dryRun(
  services: JudgeServices,
  { id: agentId, tenant, workspace, permission, template }: DryRunAgent,
  call: UnmadeCall,
): Promise<Result<Judged, Refusal>> {
  const { tools } = services;
  const discovered = discover({ tenant, agentId, form: "json", ...call }, toolboxOf(tools, template), tools);
  if (!discovered.ok) return discovered;
  const validated = validate(discovered.value);
  if (!validated.ok) return validated;
  const { rules } = await storedRules(services.sql, services.tools, { tenant, templateId: template.id, id: agentId });
  const policy = agentPolicy(template, permission, rules, services);
  return accepted(
    await judgeByPolicy(validated.value, {
      policy,
      workspace: agentWorkspace(services, workspace),
      definitionChange: (tool, tenant) => definitionChange(services, tool, tenant),
      fromOutside: (tool, seen) => fromOutside(services.sql, agentId, template, tool, seen),
    }),
  );
}
