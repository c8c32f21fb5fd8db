import type { AgentEventBody } from "../../events/event.ts";
import { byteLength } from "../../lib/text.ts";
import { inputPreview } from "./events.ts";
import type { CallView } from "./call.ts";
import type { StageTrace } from "./stage-clock.ts";

/** The largest parameters that an event carries, in bytes of JSON; the whole is on the row. */
const PARAMETERS_BYTES = 16 * 1024;

/** The event with which the pipeline's trace of a call begins; `endEvents` has the one with which it ends. */
export function executionStarted(call: CallView): AgentEventBody {
  const { id: callId, name: tool, requestedInput } = call;
  const parameters = byteLength(JSON.stringify(requestedInput)) > PARAMETERS_BYTES ? null : requestedInput;
  return { kind: "EXECUTION_STARTED", callId, tool, inputPreview: inputPreview(call), parameters };
}

/** Reports the stages of a call as events. */
export function stageTrace({ id: callId }: CallView, send: (event: AgentEventBody) => void): StageTrace {
  return {
    stageStarted: (stage) => send({ kind: "STAGE_STARTED", callId, stage }),
    stageCompleted: (stage, durationMs) => send({ kind: "STAGE_COMPLETED", callId, stage, durationMs }),
  };
}
