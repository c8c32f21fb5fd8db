import { randomUUID } from "node:crypto";
import type { ApprovalTransition, Change, ToolCallTransition } from "../db/change.ts";
import type { EventBody } from "../events/event.ts";
import { byteLength, headBytes, messageOf } from "../lib/text.ts";
import { toJson, type Json } from "../lib/json.ts";
import { argumentsProblem } from "./blocks.ts";
import { callStep, endEvents, snapshot, type CallFacts } from "./call-record.ts";
import { confirm, type Confirmed } from "./gate/confirmation.ts";
import { discover, type Requested, type Toolbox } from "./gate/discovery.ts";
import { execute } from "./gate/execution.ts";
import { format } from "./gate/formatting.ts";
import { hookCall, permit, type Explanation } from "./gate/permission.ts";
import { refusalText, refusedState, toolCallError, type Refusal, type Stage } from "./gate/refusal.ts";
import { validate, type Validated } from "./gate/validation.ts";
import type { Hold } from "./hold.ts";
import { hookAnswer } from "./hooks.ts";
import type { CallLook, Look } from "./look.ts";
import type { AgentParts } from "./parts.ts";
import type { Template } from "./template.ts";
import { todoList } from "./todo-list.ts";
import { toolboxOf } from "./toolbox.ts";
import type { ToolContext, ToolResult } from "./tools/tool.ts";
import { Workspace } from "./tools/workspace.ts";

/** The largest data of one TOOL_CUSTOM_EVENT, in bytes of JSON. */
const CUSTOM_EVENT_BYTES = 16 * 1024;

type Stages = Readonly<Partial<Record<Stage, number>>>;

/** A call that may start. */
export type ReadyCall = {
  readonly kind: "ready";
  readonly call: CallLook;
  readonly confirmed: Confirmed;
  readonly inputHash: string;
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

/** What became of an execution. */
export type CallOutcome = { readonly stages: Stages; readonly durationMs: number; readonly warning: string | null } & (
  | { readonly kind: "completed"; readonly output: string; readonly details: Json }
  | { readonly kind: "refused"; readonly refusal: Refusal }
);

/** A transition with the events that report it. */
export type CallCommit = {
  readonly transition: ToolCallTransition;
  readonly approval: NonNullable<Change["approvals"]>[number] | null;
  readonly stale: ApprovalTransition | null;
  readonly events: readonly EventBody[];
};

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
        inputHash: confirmed.value.inputHash,
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

  /** What to commit for a call that does not start now: its final state, or the question to a person. */
  record(judgement: Exclude<Judgement, ReadyCall>, at: Date): CallCommit {
    const { call, stages, explanation } = judgement;
    const columns = explanation === null ? {} : { explanation: explanation };
    const input = judgement.validated === null ? {} : { effectiveInput: judgement.validated.bound.input };
    switch (judgement.kind) {
      case "refused": {
        const step = callStep(
          call,
          refusedState(judgement.refusal),
          at,
          { ...refusedFacts(judgement.refusal), ...input, stages, ...ended(at, stages) },
          columns,
          judgement.refusal.type,
        );
        return { transition: step.transition, approval: null, stale: null, events: endEvents(step.call) };
      }
      case "answered": {
        const { output, details } = format(judgement.result);
        const step = callStep(
          call,
          "COMPLETED",
          at,
          { output, ...input, stages, ...ended(at, stages) },
          { ...columns, details: details },
          explanation?.decidedBy,
        );
        return { transition: step.transition, approval: null, stale: null, events: endEvents(step.call) };
      }
      case "asked":
        return this.#ask(judgement, at, columns);
    }
  }

  /** The transition to EXECUTING, to be committed before `run`. */
  begin(ready: ReadyCall, epoch: number, at: Date): { readonly transition: ToolCallTransition; readonly call: CallLook } {
    const input = ready.confirmed.call.bound.input;
    const facts: CallFacts = {
      startedAt: at.toISOString(),
      attempt: ready.call.attempt + 1,
      effectiveInput: input,
      stages: ready.stages,
    };
    return callStep(ready.call, "EXECUTING", at, facts, { epoch, inputHash: ready.inputHash, explanation: ready.explanation });
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
      context: this.#context(ready.call, tool.name, ending.signal),
    });
    ending.abort();
    clock.add("execution", started);
    const durationMs = performance.now() - started;
    if (!executed.ok) return { kind: "refused", refusal: executed.refusal, stages: clock.stages, durationMs, warning: null };
    const hooked = await this.#afterUse(
      executed.value.call,
      executed.value.answer,
      AbortSignal.any([interrupt, this.#hold.lost]),
    );
    const formatted = clock.timed("formatting", () => format(hooked.answer));
    return { kind: "completed", ...formatted, stages: clock.stages, durationMs, warning: hooked.warning };
  }

  /** What to commit when a call has run. */
  finish(outcome: CallOutcome, call: CallLook, at: Date): CallCommit {
    const common = { stages: outcome.stages, completedAt: at.toISOString(), durationMs: outcome.durationMs };
    const step =
      outcome.kind === "completed"
        ? callStep(call, "COMPLETED", at, { ...common, output: outcome.output }, { details: outcome.details })
        : callStep(call, "FAILED", at, { ...common, ...refusedFacts(outcome.refusal) }, {}, outcome.refusal.type);
    const warning: EventBody[] =
      outcome.warning === null
        ? []
        : [{ kind: "ERROR", severity: "WARN", phase: "TOOL", message: outcome.warning, detail: null }];
    return { transition: step.transition, approval: null, stale: null, events: [...warning, ...endEvents(step.call)] };
  }

  #request(call: CallLook): Requested {
    const common = { tenant: this.#agent.tenant, agentId: this.#agent.id, callId: call.id, name: call.name };
    const input = call.state === "APPROVED" ? call.effectiveInput : call.requestedInput;
    return typeof input === "string"
      ? { ...common, form: "unparsed", text: input, problem: argumentsProblem(input) }
      : { ...common, form: "json", input };
  }

  #ask(asked: Judgement & { kind: "asked" }, at: Date, columns: object): CallCommit {
    const { call, validated, reason } = asked;
    const input = validated.bound.input;
    const id = randomUUID();
    const approval = {
      id,
      tenant: this.#agent.tenant,
      agentId: this.#agent.id,
      toolCallId: call.id,
      kind: "TOOL_CALL",
      state: "PENDING",
      input,
      inputHash: asked.inputHash,
      reason,
      risk: validated.tool.readOnly ? "LOW" : "MEDIUM",
      requestedAt: at,
      expiresAt: null,
      closedAt: null,
    } as const;
    const look = {
      id,
      state: "PENDING",
      inputHash: asked.inputHash,
      decision: null,
      decidedBy: null,
      decidedAt: null,
      note: null,
    } as const;
    const step = callStep(
      call,
      "APPROVAL_REQUIRED",
      at,
      { effectiveInput: input, stages: asked.stages },
      { ...columns, inputHash: asked.inputHash },
      reason,
    );
    const request = {
      approvalId: id,
      kind: "TOOL_CALL",
      call: snapshot({ ...step.call, approval: look }),
      inputHash: asked.inputHash,
      reason,
      risk: approval.risk,
      expiresAt: null,
    } as const;
    // What a person allowed once is not what would run now.
    const stale =
      call.approval?.state === "ALLOWED" ? ({ id: call.approval.id, from: "ALLOWED", to: "STALE", closedAt: at } as const) : null;
    return { transition: step.transition, approval, stale, events: [{ kind: "PERMISSION_REQUIRED", request }] };
  }

  #context(call: CallLook, toolName: string, ended: AbortSignal): Omit<ToolContext, "signal"> {
    return {
      agentId: this.#agent.id,
      callId: call.id,
      workspace: new Workspace(this.#agent.workspace),
      todos: todoList(this.#parts.sql, this.#agent, this.#hold, ended),
      emit: (eventType, eventData) => {
        if (!ended.aborted)
          this.#hold.send({
            kind: "TOOL_CUSTOM_EVENT",
            callId: call.id,
            toolName,
            eventType: headBytes(eventType, 200),
            eventData: customData(eventData),
          });
      },
    };
  }

  /** A hook that throws is reported, and the result stays as the last one left it. */
  async #afterUse(
    call: Validated,
    answer: ToolResult | undefined,
    signal: AbortSignal,
  ): Promise<{ answer: ToolResult | undefined; warning: string | null }> {
    let current = answer;
    for (const [index, hook] of this.#template.hooks.postToolUse.entries()) {
      try {
        const result = current;
        if (result !== undefined) current = (await hookAnswer(() => hook(hookCall(call), result), signal)) ?? result;
      } catch (error) {
        return { answer: current, warning: `the hook postToolUse[${index}] failed for ${call.tool.name}: ${messageOf(error)}` };
      }
    }
    return { answer: current, warning: null };
  }
}

/** Milliseconds by stage; a stage that is gone through again counts anew. */
class StageClock {
  readonly #stages: Partial<Record<Stage, number>>;

  constructor(before: Stages) {
    this.#stages = { ...before };
  }

  get stages(): Stages {
    return { ...this.#stages };
  }

  timed<Value>(stage: Stage, run: () => Value): Value {
    const started = performance.now();
    const value = run();
    this.add(stage, started);
    return value;
  }

  add(stage: Stage, started: number): void {
    this.#stages[stage] = Math.round((performance.now() - started) * 1_000) / 1_000;
  }
}

function refusedFacts(refusal: Refusal): CallFacts {
  return { output: refusalText(refusal), isError: true, error: toolCallError(refusal) };
}

function ended(at: Date, stages: Stages): CallFacts {
  return { completedAt: at.toISOString(), durationMs: Object.values(stages).reduce((sum, ms) => sum + ms, 0) };
}

function customData(eventData: unknown): Json {
  const json = toJson(eventData) ?? null;
  const text = JSON.stringify(json);
  return byteLength(text) > CUSTOM_EVENT_BYTES ? { truncated: true, preview: headBytes(text, CUSTOM_EVENT_BYTES / 4) } : json;
}
