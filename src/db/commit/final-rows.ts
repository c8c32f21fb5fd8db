import type { NewToolCall, OwnerChange, ToolCallAudit, ToolCallPatch, ToolCallTransition } from "./change.ts";

export type FinalTransition = Pick<ToolCallTransition, "id" | "from"> & {
  readonly set: ToolCallPatch;
  readonly audit: readonly ToolCallAudit[];
  /** True if the call starts to execute: refused if it was cancelled. */
  readonly starts: boolean;
};

/** The rows of a change, each once: a statement cannot write a row twice. */
export type FinalRows = {
  readonly stepEnd: OwnerChange["stepEnd"];
  readonly transitions: readonly FinalTransition[];
  readonly messages: NonNullable<OwnerChange["messages"]>;
  readonly toolCalls: readonly NewToolCall[];
  readonly stepStart: OwnerChange["stepStart"];
  readonly knownFiles: NonNullable<OwnerChange["knownFiles"]>;
  /** True if a call starts to execute: refused after an interrupt. */
  readonly starts: boolean;
};

/** Null if the parts of the change contradict each other, or write a step twice. */
export function finalRows({
  stepEnd,
  stepStart,
  messages = [],
  toolCalls = [],
  transitions = [],
  knownFiles = [],
}: OwnerChange): FinalRows | null {
  if (stepEnd !== undefined && stepEnd.step === stepStart?.step) return null;
  const added = new Map(toolCalls.map((call) => [call.id, call]));
  const moved = new Map<string, FinalTransition>();
  for (const { id, from, set, audit } of transitions) {
    const call = added.get(id);
    const before = moved.get(id);
    const state = call?.state ?? before?.set.state ?? from;
    if (state !== from) return null;
    if (call !== undefined) added.set(id, { ...call, ...set, auditTrail: [...call.auditTrail, audit] });
    else {
      const starts = before?.starts === true || set.state === "EXECUTING";
      moved.set(id, { id, from, ...before, set: { ...before?.set, ...set }, audit: [...(before?.audit ?? []), audit], starts });
    }
  }
  const starts = transitions.some(({ set }) => set.state === "EXECUTING");
  return { stepEnd, stepStart, messages, toolCalls: [...added.values()], transitions: [...moved.values()], knownFiles, starts };
}
