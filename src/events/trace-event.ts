import type { Json } from "../lib/json.ts";
import type { GateStage, KeptError } from "./snapshots.ts";

/** The way of a call through the gate, of templates with `trace`. */
export type TraceEventBody =
  | {
      readonly kind: "EXECUTION_STARTED";
      readonly callId: string;
      readonly tool: string;
      readonly inputPreview: string | null;
      /** The input that the model gave; null if it does not fit into the event. */
      readonly parameters: Json;
    }
  | { readonly kind: "STAGE_STARTED"; readonly callId: string; readonly stage: GateStage }
  | { readonly kind: "STAGE_COMPLETED"; readonly callId: string; readonly stage: GateStage; readonly durationMs: number }
  | {
      readonly kind: "EXECUTION_COMPLETED";
      readonly callId: string;
      readonly tool: string;
      readonly durationMs: number;
      /** The part of the result that the model reads, cut at 4 KB. */
      readonly result: string | null;
    }
  | {
      readonly kind: "EXECUTION_FAILED";
      readonly callId: string;
      readonly tool: string;
      readonly durationMs: number;
      /** Why it has no result of its own. */
      readonly error: KeptError;
    }
  | {
      readonly kind: "EXECUTION_ABORTED";
      readonly callId: string;
      readonly tool: string;
      readonly durationMs: number;
      /** Why it has no result of its own. */
      readonly error: KeptError;
    };
