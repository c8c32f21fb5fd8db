import type { ApprovalTemplate } from "../approvals/template.ts";
import type { CallHooks } from "../calls/hooks.ts";
import type { CallTemplate } from "../calls/template.ts";
import type { ModelHooks } from "../conversation/model-hooks.ts";
import type { ConversationTemplate } from "../conversation/template.ts";

/** The operator's own code around the calls and the model calls of an agent. */
export type Hooks = CallHooks & ModelHooks;

/** A template: agents are made from it. It never changes while the server runs. */
export type Template = CallTemplate &
  ApprovalTemplate &
  ConversationTemplate & {
    /** Name of one of the configured models. */
    readonly model: string;
    /** Name of the model that answers if the first one cannot; null for none. */
    readonly fallbackModel: string | null;
    readonly hooks: Hooks;
    /** Reads that run together. */
    readonly toolConcurrency: number;
    /** Model calls of one turn at most. */
    readonly maxSteps: number;
    /** The fate of a call whose server died while it ran: it is closed, or a person is asked what came of it. */
    readonly unknownOutcome: "seal" | "ask";
  };
