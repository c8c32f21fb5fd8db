import type { Change, ToolCallTransition } from "../db/change.ts";
import type { EventBody, ToolCallSnapshot } from "../events/event.ts";
import { callStep, endEvents, snapshot, type CallStep } from "./call-record.ts";
import type { CallLook, Look } from "./look.ts";
import type { AgentParts } from "./parts.ts";
import { question } from "./question.ts";
import { sealedResult } from "./seal.ts";
import type { Template } from "./template.ts";

/** A call that takes its server with it must not do so for ever: after so many runs its outcome counts as unknown. */
const MOST_RUNS = 3;

const NOTE = "the server stopped while the tool ran";

/** What is done about calls whose owner died while they ran. */
export type Adopted = {
  readonly transitions: readonly ToolCallTransition[];
  readonly approvals: NonNullable<Change["approvals"]>;
  readonly events: readonly EventBody[];
  readonly sealed: readonly ToolCallSnapshot[];
  /** The calls that may run again. */
  readonly repeatable: readonly string[];
};

/**
 * Settles calls of which nobody knows whether they had effects: never silently run again (invariant 5). One of an
 * idempotent tool is run again; for the others a person is asked where the template wants that, else they are sealed.
 */
export function adopt(
  orphans: readonly CallLook[],
  agent: Pick<Look, "id" | "tenant">,
  { tools }: Pick<AgentParts, "tools">,
  template: Template | undefined,
  at: Date,
): Adopted {
  const repeatable = orphans.filter((call) => tools.get(call.name)?.idempotent === true && call.attempt < MOST_RUNS);
  const unknown = orphans.filter((call) => !repeatable.includes(call));
  const asked =
    template?.unknownOutcome === "ask" ? unknown.map((call) => ask(agent, call, tools.get(call.name)?.risk, template, at)) : [];
  const sealed = template?.unknownOutcome === "ask" ? [] : unknown.map((call) => sealCall(call, NOTE, at));
  return {
    transitions: [...asked, ...sealed].map(({ transition }) => transition),
    approvals: asked.map(({ approval }) => approval),
    events: [...asked.map(({ event }) => event), ...sealed.flatMap(({ call }) => endEvents(call, template))],
    sealed: sealed.map(({ call }) => snapshot(call)),
    repeatable: repeatable.map(({ id }) => id),
  };
}

/** The step of a call to SEALED, with the result that says why. */
export function sealCall(call: CallLook, note: string, at: Date): CallStep {
  return callStep(call, "SEALED", at, { ...sealedResult(call, note), completedAt: at.toISOString() }, {}, note);
}

function ask(agent: Pick<Look, "id" | "tenant">, call: CallLook, risk: string | undefined, template: Template, at: Date) {
  const reason = `${NOTE}: whether it had effects is unknown. Look, and say DONE with its result, RETRY to run it again, or FAIL`;
  const { transition, call: asked } = callStep(call, "APPROVAL_REQUIRED", at, {}, {}, NOTE);
  if (call.inputHash === null) throw new Error(`call ${call.id} ran without a hash of its input`);
  const asking = {
    kind: "OUTCOME_UNKNOWN",
    call: asked,
    input: call.effectiveInput,
    inputHash: call.inputHash,
    reason,
    risk: risk ?? "MEDIUM",
    quorum: template.approvalQuorum,
    at,
  } as const;
  return { transition, ...question(agent, asking, template) };
}
