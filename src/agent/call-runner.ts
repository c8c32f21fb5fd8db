import type { Json } from "../lib/json.ts";
import { messageOf } from "../lib/text.ts";
import { argumentsProblem } from "./blocks.ts";
import { confirm, type Confirmed } from "./gate/confirmation.ts";
import { discover, type Requested, type Toolbox } from "./gate/discovery.ts";
import { execute } from "./gate/execution.ts";
import { format } from "./gate/formatting.ts";
import { hookCall, permit, type Explanation } from "./gate/permission.ts";
import type { Refusal } from "./gate/refusal.ts";
import { validate, type Validated } from "./gate/validation.ts";
import type { Hold } from "./hold.ts";
import { hookAnswer } from "./hooks.ts";
import type { CallLook, Look } from "./look.ts";
import type { AgentParts } from "./parts.ts";
import { StageClock, type Stages } from "./stage-clock.ts";
import type { Template } from "./template.ts";
import { toolContext } from "./tool-context.ts";
import { toolboxOf } from "./toolbox.ts";
import type { ToolResult } from "./tools/tool.ts";

/** A call that may start. */
export type ReadyCall = {
  readonly kind: "ready";
  readonly call: CallLook;
  readonly confirmed: Confirmed;
  readonly explanation: Explanation;
  readonly stages: Stages;
};

/** What the gate says of a call before execution. */
export type Judgement =
  | ReadyCall
  | {
      readonly kind: "refused";
      readonly call: CallLook;
      readonly refusal: Refusal;
      readonly validated: Validated | null;
      readonly explanation: Explanation | null;
      readonly stages: Stages;
    }
  | {
      readonly kind: "asked";
      readonly call: CallLook;
      readonly validated: Validated;
      readonly inputHash: string;
      readonly reason: string;
      readonly explanation: Explanation;
      readonly stages: Stages;
    }
  | {
      readonly kind: "answered";
      readonly call: CallLook;
      readonly validated: Validated;
      readonly result: ToolResult;
      readonly explanation: Explanation;
      readonly stages: Stages;
    };

/** Something that operators should know of a call that ran. */
export type CallWarning = { readonly detail: "slow_tool" | "hook_failed"; readonly message: string };

/** What became of an execution. */
export type CallOutcome = { readonly stages: Stages; readonly durationMs: number; readonly warnings: readonly CallWarning[] } & (
  | { readonly kind: "completed"; readonly output: string; readonly details: Json }
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

  constructor(parts: AgentParts, template: Template, agent: Look, hold: Hold) {
    this.#parts = parts;
    this.#template = template;
    this.#agent = agent;
    this.#hold = hold;
    this.#toolbox = toolboxOf(parts.tools, template);
  }

  /** Discovery to confirmation. The same for a new call and for one that a person has allowed. Never rejects. */
  async judge(call: CallLook): Promise<Judgement> {
    try {
      return await this.#judge(call);
    } catch (error) {
      const refusal = {
        type: "permission_denied",
        stage: "permission",
        reason: `the call cannot be judged (${messageOf(error)})`,
      } as const;
      return { kind: "refused", call, refusal, validated: null, explanation: null, stages: call.stages };
    }
  }

  async #judge(call: CallLook): Promise<Judgement> {
    const clock = new StageClock(call.stages);
    const stopReason = this.#agent.lastStep?.stopReason ?? "unknown";
    if (stopReason !== "tool_use")
      return {
        kind: "refused",
        call,
        refusal: { type: "incomplete", stage: "discovery", stopReason },
        validated: null,
        explanation: null,
        stages: clock.stages,
      };
    const discovered = clock.timed("discovery", () => discover(this.#request(call), this.#toolbox));
    if (!discovered.ok)
      return { kind: "refused", call, refusal: discovered.refusal, validated: null, explanation: null, stages: clock.stages };
    const validated = clock.timed("validation", () => validate(discovered.value));
    if (!validated.ok)
      return { kind: "refused", call, refusal: validated.refusal, validated: null, explanation: null, stages: clock.stages };
    const started = performance.now();
    const permitted = await permit(validated.value, this.#template.permission, this.#template.hooks, this.#hold.lost);
    clock.add("permission", started);
    if (!permitted.ok)
      return {
        kind: "refused",
        call,
        refusal: permitted.refusal.refusal,
        validated: validated.value,
        explanation: permitted.refusal.explanation,
        stages: clock.stages,
      };
    const { explanation } = permitted.value;
    if (permitted.value.kind === "answered") {
      if (call.state === "PENDING")
        return {
          kind: "answered",
          call,
          validated: validated.value,
          result: permitted.value.result,
          explanation,
          stages: clock.stages,
        };
      const refusal = {
        type: "permission_denied",
        stage: "permission",
        reason: "a hook answers this call by now, so that what was allowed is not what would happen",
      } as const;
      return { kind: "refused", call, refusal, validated: validated.value, explanation, stages: clock.stages };
    }
    const allowance = call.approval?.state === "ALLOWED" ? { inputHash: call.approval.inputHash } : null;
    const judged = permitted.value;
    const confirmed = clock.timed("confirmation", () => confirm(judged, allowance, this.#agent.workspace));
    if (confirmed.ok)
      return {
        kind: "ready",
        call,
        confirmed: confirmed.value,
        explanation,
        stages: clock.stages,
      };
    return {
      kind: "asked",
      call,
      validated: validated.value,
      inputHash: confirmed.refusal.inputHash,
      reason: confirmed.refusal.reason,
      explanation,
      stages: clock.stages,
    };
  }

  /** Runs the tool, its post hooks and the formatting. Never rejects. */
  async run(ready: ReadyCall, interrupt: AbortSignal): Promise<CallOutcome> {
    const clock = new StageClock(ready.stages);
    const { tool } = ready.confirmed.call;
    const timeoutMs = tool.timeoutMs ?? this.#agent.toolTimeoutMs ?? this.#template.toolTimeoutMs;
    const ending = new AbortController();
    const started = performance.now();
    const executed = await execute(ready.confirmed, {
      timeoutMs,
      interrupt,
      context: toolContext(this.#parts, this.#agent, this.#hold, {
        callId: ready.call.id,
        toolName: tool.name,
        ended: ending.signal,
      }),
    });
    ending.abort();
    clock.add("execution", started);
    const durationMs = performance.now() - started;
    const { slowToolMs } = this.#template;
    const slow: CallWarning[] =
      durationMs > slowToolMs
        ? [{ detail: "slow_tool", message: `${tool.name} took ${Math.round(durationMs)} ms; the limit is ${slowToolMs}` }]
        : [];
    if (!executed.ok) return { kind: "refused", refusal: executed.refusal, stages: clock.stages, durationMs, warnings: slow };
    const hooked = await this.#afterUse(
      executed.value.call,
      executed.value.answer,
      AbortSignal.any([interrupt, this.#hold.lost]),
    );
    const formatted = clock.timed("formatting", () => format(hooked.answer));
    return { kind: "completed", ...formatted, stages: clock.stages, durationMs, warnings: [...slow, ...hooked.warnings] };
  }

  #request(call: CallLook): Requested {
    const common = { tenant: this.#agent.tenant, agentId: this.#agent.id, callId: call.id, name: call.name };
    const input = call.state === "APPROVED" ? call.effectiveInput : call.requestedInput;
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
    for (const [index, hook] of this.#template.hooks.postToolUse.entries()) {
      try {
        const result = current;
        if (result !== undefined) current = (await hookAnswer(() => hook(hookCall(call), result), signal)) ?? result;
      } catch (error) {
        const message = `the hook postToolUse[${index}] failed for ${call.tool.name}: ${messageOf(error)}`;
        return { answer: current, warnings: [{ detail: "hook_failed", message }] };
      }
    }
    return { answer: current, warnings: [] };
  }
}
