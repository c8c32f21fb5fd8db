import type { EventBody } from "../../events/event.ts";
import { inputPreview } from "./events.ts";
import type { CallView } from "./call.ts";
import type { StageTrace } from "./stage-clock.ts";

/** The event with which the pipeline's trace of a call begins; `endEvents` has the one with which it ends. */
export function executionStarted(call: CallView): EventBody {
  return { kind: "EXECUTION_STARTED", callId: call.id, toolName: call.name, inputPreview: inputPreview(call) };
}

/** Reports the stages of a call as events. */
export function stageTrace({ id: callId }: CallView, send: (event: EventBody) => void): StageTrace {
  return {
    stageStarted: (stage) => send({ kind: "STAGE_STARTED", callId, stage }),
    stageCompleted: (stage, durationMs) => send({ kind: "STAGE_COMPLETED", callId, stage, durationMs }),
  };
}
