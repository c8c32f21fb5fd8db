import type { ToolCallPatch } from "../../../db/commit/change.ts";
import type { CallView } from "../call.ts";
import { callStep, type CallFacts, type CallStep, type Trail } from "../states.ts";
import { refusalDetails } from "./refusal-details.ts";
import { refusedFacts, refusedState, refusedTrail, type Refusal } from "./refusal.ts";

export type BesidesRefusal = {
  readonly facts?: CallFacts;
  readonly columns?: Partial<ToolCallPatch>;
  readonly trail?: Trail;
};

export function refusedStep(
  call: CallView,
  refusal: Refusal,
  at: Date,
  { facts = {}, columns = {}, trail = refusedTrail(refusal) }: BesidesRefusal = {},
): CallStep {
  return callStep(
    call,
    refusedState(refusal),
    at,
    { ...refusedFacts(refusal), completedAt: at.toISOString(), ...facts },
    { ...columns, details: refusalDetails(refusal) },
    trail,
  );
}
