import type { AgentEventBody } from "../../events/event.ts";
import { byteLength } from "../../lib/text.ts";
import { inputPreview } from "./events.ts";
import type { CallView } from "./call.ts";
import type { Passage, Stages, StageTrace } from "./stage-clock.ts";

/** The largest parameters that an event carries, in bytes of JSON; the whole is on the row. */
const PARAMETERS_BYTES = 16 * 1024;

/** The event with which the pipeline's trace of a call begins, in the commit of the answer that made it; `endEvents` has the one with which it ends. */
export function executionStarted(call: CallView): AgentEventBody {
  const { id: callId, name: tool, requestedInput } = call;
  const parameters = byteLength(JSON.stringify(requestedInput)) > PARAMETERS_BYTES ? null : requestedInput;
  return { kind: "EXECUTION_STARTED", callId, tool, inputPreview: inputPreview(call), parameters };
}

/**
 * The stages that a call has gone through since its row had `before`, for the commit that stores them. The last of a call that a person
 * is asked about has only begun: it ends with their answer.
 */
export function stageEvents(callId: string, before: Stages, now: Stages, isAsked = false): AgentEventBody[] {
  const isSame = (one: Passage, other: Passage): boolean =>
    one.stage === other.stage && one.startedAt === other.startedAt && one.durationMs === other.durationMs;
  const passages = now.filter((passage) => !before.some((known) => isSame(known, passage)));
  const events = passages.flatMap(({ stage, durationMs }): AgentEventBody[] => [
    { kind: "STAGE_STARTED", callId, stage },
    { kind: "STAGE_COMPLETED", callId, stage, durationMs },
  ]);
  return isAsked ? events.slice(0, -1) : events;
}

/** The stages of a call about which a person has decided at this time: the confirmation has lasted until then. */
export function confirmedStages(stages: Stages, at: Date): Stages {
  const last = stages.at(-1);
  if (last?.stage !== "confirmation") return stages;
  return [...stages.slice(0, -1), { ...last, durationMs: Math.max(last.durationMs, at.getTime() - last.startedAt) }];
}

/** The end of the confirmation, as it is traced. */
export function confirmationEnded({ id: callId, stages }: Pick<CallView, "id" | "stages">): AgentEventBody[] {
  const last = stages.at(-1);
  return last?.stage === "confirmation"
    ? [{ kind: "STAGE_COMPLETED", callId, stage: last.stage, durationMs: last.durationMs }]
    : [];
}

/** Reports the stages of a call as events. */
export function stageTrace({ id: callId }: CallView, send: (event: AgentEventBody) => void): StageTrace {
  return {
    stageStarted: (stage) => send({ kind: "STAGE_STARTED", callId, stage }),
    stageCompleted: (stage, durationMs) => send({ kind: "STAGE_COMPLETED", callId, stage, durationMs }),
  };
}
