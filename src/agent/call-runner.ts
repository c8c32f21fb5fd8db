import type { Statement } from "../db/sql.ts";
import { ENDED } from "../lib/ended.ts";
import type { Json } from "../lib/json.ts";
import { shownProblem } from "../db/error-class.ts";
import { messageOf } from "../lib/text.ts";
import { argumentsProblem } from "./blocks.ts";
import { confirm, type Allowance, type Confirmed } from "./gate/confirmation.ts";
import { discover, type Requested, type Toolbox } from "./gate/discovery.ts";
import { execute } from "./gate/execution.ts";
import { format } from "./gate/formatting.ts";
import { agentPolicy } from "./gate/agent-policy.ts";
import { permit } from "./gate/permission.ts";
import type { Explanation, Policy, StandingRule } from "./gate/policy.ts";
import type { Refusal } from "./gate/refusal.ts";
import type { RuleValues } from "./gate/rule-values.ts";
import { validate, type Validated } from "./gate/validation.ts";
import type { Hold } from "./hold.ts";
import { hookAnswer, hookCall, hooksFor } from "./hooks.ts";
import { readToolResult, RESULT_FORM } from "./hook-answers.ts";
import { hasRun, type CallLook, type Look } from "./look.ts";
import { ownCodeOf, runOwnCode } from "./own-code.ts";
import type { AgentParts } from "./parts.ts";
import { executionStarted, stageTrace } from "./call-trace.ts";
import { StageClock, type Stages, type StageTrace } from "./stage-clock.ts";
import type { Template } from "./template.ts";
import { toolContext } from "./tool-context.ts";
import { toolboxOf } from "./toolbox.ts";
import type { ToolResult } from "./tools/tool.ts";
import { agentWorkspace } from "./agent-workspace.ts";

/** How often the same call was refused in the same turn before, for its arguments. */
const REPEATS: Statement = {
  name: "count_repeated_calls",
  text: `SELECT count(*)::int AS repeats FROM tool_call t JOIN tool_call o ON o.agent_id = t.agent_id AND o.turn = t.turn AND o.name = t.name
      AND (o.step, o.ordinal) < (t.step, t.ordinal) AND o.requested_input::text = t.requested_input::text AND o.error ->> 'type' = 'invalid_params'
    WHERE t.id = $3 AND t.agent_id = $1 AND t.turn = $2`,
};

/** What the gate knows of a call that it has judged. */
export type JudgedCall = {
  readonly call: CallLook;
  readonly validated: Validated;
  readonly values: RuleValues | null;
  readonly explanation: Explanation;
  readonly stages: Stages;
};

/** A call that may start. */
export type ReadyCall = JudgedCall & { readonly kind: "ready"; readonly confirmed: Confirmed };

/** What the gate says of a call before execution. One that did not come as far as permission has no judgement. */
export type Judgement =
  | ReadyCall
  | (JudgedCall & { readonly kind: "asked"; readonly inputHash: string; readonly reason: string })
  | (JudgedCall & { readonly kind: "answered"; readonly result: ToolResult })
  | (JudgedCall & { readonly kind: "denied"; readonly refusal: Refusal })
  | { readonly kind: "refused"; readonly call: CallLook; readonly refusal: Refusal; readonly stages: Stages };

/** Something that operators should know of a call that ran. */
export type CallWarning = {
  readonly detail: "slow_tool" | "events_left_out" | "hook_failed" | "output_not_kept";
  readonly message: string;
};

/** What became of an execution. */
export type CallOutcome = { readonly stages: Stages; readonly durationMs: number; readonly warnings: readonly CallWarning[] } & (
  | { readonly kind: "completed"; readonly output: string; readonly details: Json; readonly keptOutputBytes: number | null }
  | { readonly kind: "refused"; readonly refusal: Refusal }
);

/**
 * Takes the tool calls of one agent through the gate's six stages. Each stage takes what the one before it gave, so
 * that none can be left out.
 */
export class CallRunner {
  readonly #parts: AgentParts;
  readonly #template: Template;
  readonly #agent: Look;
  readonly #hold: Hold;
  readonly #toolbox: Toolbox;
  readonly #policy: Policy;

  constructor(parts: AgentParts, template: Template, agent: Look, hold: Hold, standing: readonly StandingRule[]) {
    this.#parts = parts;
    this.#template = template;
    this.#agent = agent;
    this.#hold = hold;
    this.#toolbox = toolboxOf(parts.tools, template);
    this.#policy = agentPolicy(template, agent.permission, standing, parts);
  }

  /**
   * Discovery to confirmation. The same for a new call and for one that a person has allowed. `stop` ends the waiting for
   * hooks. Never rejects.
   */
  async judge(call: CallLook, stop: AbortSignal): Promise<Judgement> {
    try {
      return await this.#own(call, () => this.#judge(call, stop));
    } catch (error) {
      const reason = `the call cannot be judged (${shownProblem(error)})`;
      return { kind: "refused", call, refusal: { type: "permission_denied", stage: "permission", reason }, stages: call.stages };
    }
  }

  async #judge(call: CallLook, stop: AbortSignal): Promise<Judgement> {
    const clock = new StageClock(call.stages, this.#trace(call));
    if (this.#template.trace && call.state === "PENDING") this.#hold.send(executionStarted(call));
    const refuse = (refusal: Refusal): Judgement => ({ kind: "refused", call, refusal, stages: clock.stages });
    const stopReason = this.#agent.lastStep?.stopReason ?? "unknown";
    if (stopReason !== "tool_use") return refuse({ type: "incomplete", stage: "discovery", stopReason });
    const discovered = clock.timed("discovery", () => discover(this.#request(call), this.#toolbox));
    if (!discovered.ok) return refuse(discovered.refusal);
    const validated = clock.timed("validation", () => validate(discovered.value));
    if (!validated.ok) return refuse(await this.#withRepeats(call, validated.refusal));
    const end = clock.begin("permission");
    const permitted = await permit(validated.value, {
      policy: this.#policy,
      hooks: this.#template.hooks,
      workspace: agentWorkspace(this.#parts, this.#agent.workspace),
      signal: stop,
    });
    end();
    const { call: judgedCall, values, explanation } = permitted.ok ? permitted.value : permitted.refusal;
    const judged = (): JudgedCall => ({ call, validated: judgedCall, values, explanation, stages: clock.stages });
    if (!permitted.ok) return { ...judged(), kind: "denied", refusal: permitted.refusal.refusal };
    const verdict = permitted.value;
    if (verdict.kind === "answered") {
      if (call.state === "PENDING") return { ...judged(), kind: "answered", result: verdict.result };
      const reason = "a hook answers this call by now, so that what was allowed is not what would happen";
      return { ...judged(), kind: "denied", refusal: { type: "permission_denied", stage: "permission", reason } };
    }
    const confirmed = clock.timed("confirmation", () => confirm(verdict, this.#allowance(call), this.#agent.workspace));
    if (confirmed.ok && hasRun(call.state) && confirmed.value.inputHash !== call.inputHash) {
      const reason = "the tool, or what hooks make of its input, is not what it was when the call ran";
      return { ...judged(), kind: "denied", refusal: { type: "permission_denied", stage: "permission", reason } };
    }
    return confirmed.ok
      ? { ...judged(), kind: "ready", confirmed: confirmed.value }
      : { ...judged(), kind: "asked", ...confirmed.refusal };
  }

  #allowance(call: CallLook): Allowance | null {
    const { approval, ruleValues } = call;
    const isAllowed = approval?.state === "ALLOWED" || (approval?.state === "RESOLVED" && approval.decision === "RETRY");
    return approval !== null && isAllowed ? { approvalId: approval.id, inputHash: approval.inputHash, values: ruleValues } : null;
  }

  /** Runs the tool, its post hooks and the formatting. Never rejects. */
  async run(ready: ReadyCall, interrupt: AbortSignal): Promise<CallOutcome> {
    return this.#own(ready.call, () => this.#run(ready, interrupt));
  }

  /** Starts the operator's own code, for this call. */
  #own<Result>(call: CallLook, work: () => Promise<Result>): Promise<Result> {
    return runOwnCode(ownCodeOf(this.#parts, this.#agent, `the call ${call.id} of ${call.name}`, "TOOL"), work);
  }

  async #run(ready: ReadyCall, interrupt: AbortSignal): Promise<CallOutcome> {
    const clock = new StageClock(ready.stages, this.#trace(ready.call));
    const { tool } = ready.confirmed.call;
    const timeoutMs = tool.timeoutMs ?? this.#agent.toolTimeoutMs ?? this.#template.toolTimeoutMs;
    const ending = new AbortController();
    const leftOut = { events: 0 };
    const started = performance.now();
    const end = clock.begin("execution");
    const executed = await execute(ready.confirmed, {
      timeoutMs,
      interrupt,
      around: this.#template.hooks.around,
      context: toolContext(this.#parts, this.#agent, this.#hold, {
        callId: ready.call.id,
        toolName: tool.name,
        ended: ending.signal,
        policy: this.#policy,
        leftOut,
      }),
    });
    ending.abort(ENDED);
    end();
    const durationMs = performance.now() - started;
    const { slowToolMs } = this.#template;
    const warnings: CallWarning[] = [
      ...(durationMs > slowToolMs
        ? [
            {
              detail: "slow_tool",
              message: `${tool.name} took ${Math.round(durationMs)} ms; the limit is ${slowToolMs}`,
            } as const,
          ]
        : []),
      ...(leftOut.events > 0
        ? [
            {
              detail: "events_left_out",
              message: `${leftOut.events} events that ${tool.name} emitted were left out, since it did not wait for room: await emit()`,
            } as const,
          ]
        : []),
    ];
    if (!executed.ok) return { kind: "refused", refusal: executed.refusal, stages: clock.stages, durationMs, warnings };
    const hooked = await this.#afterUse(
      executed.value.call,
      executed.value.answer,
      AbortSignal.any([interrupt, this.#hold.lost]),
    );
    const { whole, ...formatted } = clock.timed("formatting", () => format(hooked.answer, tool.keeps));
    const kept = whole === null ? { bytes: null, warnings: [] } : await this.#keep(ready.call.id, whole);
    return {
      kind: "completed",
      ...formatted,
      keptOutputBytes: kept.bytes,
      stages: clock.stages,
      durationMs,
      warnings: [...warnings, ...hooked.warnings, ...kept.warnings],
    };
  }

  /** Keeps an output of which the model reads only a part. Where that fails it is reported, and the part stays. */
  async #keep(callId: string, whole: string): Promise<{ bytes: number | null; warnings: readonly CallWarning[] }> {
    try {
      return { bytes: await this.#parts.outputs.keep(callId, whole), warnings: [] };
    } catch (error) {
      const message = `the whole output of call ${callId} could not be kept: ${messageOf(error)}`;
      return { bytes: null, warnings: [{ detail: "output_not_kept", message }] };
    }
  }

  /** A mistake that the model has made before with exactly these arguments is said to it. */
  async #withRepeats(call: CallLook, refusal: Refusal): Promise<Refusal> {
    if (refusal.type !== "invalid_params") return refusal;
    // The call is counted by its row.
    await this.#hold.storeKept();
    const [row] = await this.#parts.sql.query<{ repeats: number }>(REPEATS, [this.#agent.id, this.#agent.turn, call.id]);
    return { ...refusal, repeats: row?.repeats ?? 0 };
  }

  #trace(call: CallLook): StageTrace | null {
    return this.#template.trace ? stageTrace(call, (event) => this.#hold.send(event)) : null;
  }

  #request(call: CallLook): Requested {
    const common = { tenant: this.#agent.tenant, agentId: this.#agent.id, callId: call.id, name: call.name };
    const input = call.state === "PENDING" ? call.requestedInput : call.effectiveInput;
    return typeof input === "string"
      ? { ...common, form: "unparsed", text: input, problem: argumentsProblem(input) }
      : { ...common, form: "json", input };
  }

  /** A hook that throws is reported, and the result stays as the last one left it. */
  async #afterUse(
    call: Validated,
    answer: ToolResult | undefined,
    signal: AbortSignal,
  ): Promise<{ answer: ToolResult | undefined; warnings: readonly CallWarning[] }> {
    let current = answer;
    for (const { place, run } of hooksFor("postToolUse", call.tool, this.#template.hooks)) {
      try {
        const result = current;
        if (result === undefined) continue;
        const said: unknown = await hookAnswer(() => run(hookCall(call), result), signal);
        const other = said === undefined ? result : readToolResult(said);
        if (other === null) throw new Error(RESULT_FORM);
        current = other;
      } catch (error) {
        const message = `the hook ${place} failed for ${call.tool.name}: ${messageOf(error)}`;
        return { answer: current, warnings: [{ detail: "hook_failed", message }] };
      }
    }
    return { answer: current, warnings: [] };
  }
}
