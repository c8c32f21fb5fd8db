import type { AgentEventBody } from "../../events/event.ts";
import { byteLength } from "../../lib/text.ts";
import { inputPreview } from "./events.ts";
import type { CallView } from "./call.ts";
import type { Passage, Stages, StageTrace } from "./stage-clock.ts";

/** The largest parameters that an event carries, in bytes of JSON; the whole is on the row. */
const PARAMETERS_BYTES = 16 * 1024;

/** The first event of a call's pipeline trace, in the commit of its answer; `endEvents` has the last one. */
export function executionStarted(call: CallView): AgentEventBody {
  const { id: callId, name: tool, requestedInput } = call;
  const parameters = byteLength(JSON.stringify(requestedInput)) > PARAMETERS_BYTES ? null : requestedInput;
  return { kind: "EXECUTION_STARTED", callId, tool, inputPreview: inputPreview(call), parameters };
}

/**
 * The stages of a call since its row had `before`, for the commit that stores them. If a person is asked, the last
 * stage has only begun: the decision ends it.
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

export function confirmedStages(stages: Stages, at: Date): Stages {
  const last = stages.at(-1);
  if (last?.stage !== "confirmation") return stages;
  return [...stages.slice(0, -1), { ...last, durationMs: Math.max(last.durationMs, at.getTime() - last.startedAt) }];
}

export function confirmationEnded({ id: callId, stages }: Pick<CallView, "id" | "stages">): AgentEventBody[] {
  const last = stages.at(-1);
  return last?.stage === "confirmation"
    ? [{ kind: "STAGE_COMPLETED", callId, stage: last.stage, durationMs: last.durationMs }]
    : [];
}

export function stageTrace({ id: callId }: CallView, send: (event: AgentEventBody) => void): StageTrace {
  return {
    stageStarted: (stage) => send({ kind: "STAGE_STARTED", callId, stage }),
    stageCompleted: (stage, durationMs) => send({ kind: "STAGE_COMPLETED", callId, stage, durationMs }),
  };
}
