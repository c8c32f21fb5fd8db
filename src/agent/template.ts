import type { Permission } from "./gate/policy.ts";
import type { Hooks } from "./hooks.ts";

/** What agents are made from. Never changed while the server runs. */
export type Template = {
  readonly id: string;
  readonly systemPrompt: string;
  /** Name of one of the configured models. */
  readonly model: string;
  /** Names of the tools its agents have; null for all. */
  readonly tools: readonly string[] | null;
  readonly permission: Permission;
  readonly hooks: Hooks;
  readonly toolTimeoutMs: number;
  /** Reads that run together. */
  readonly toolConcurrency: number;
  /** Model calls of one turn at most. */
  readonly maxSteps: number;
  /** How often a model call that failed is made again. */
  readonly modelRetries: number;
  /** The wait before a call is made again for the first time, in ms; doubled each time, up to a minute. A provider may ask for another. */
  readonly modelRetryMs: number;
  /** How long a model's stream may be silent, in ms. */
  readonly modelIdleMs: number;
  /** Name of the model that answers where the first one cannot; null for none. */
  readonly fallbackModel: string | null;
  /** Whether what the model thinks is shown, as THINK_CHUNK events and in messages. */
  readonly exposeThinking: boolean;
  /** Whether what the model thinks is kept with the conversation, so that it can think on after tool calls. */
  readonly retainThinking: boolean;
  /** A model call that takes longer, in ms, is reported as an ERROR of severity warn. */
  readonly slowStepMs: number;
  /** A tool that runs longer, in ms, is reported likewise. */
  readonly slowToolMs: number;
  /** Size of the window of messages that the model is given. */
  readonly contextMessages: number;
  /** Whether people may decide on what they asked for themselves. */
  readonly selfApproval: boolean;
  /** How many people must allow a call. */
  readonly approvalQuorum: number;
  /** After so long an approval that nobody decided expires, and its call is denied; null for never. In ms. */
  readonly approvalExpiresMs: number | null;
  /** What becomes of a call whose server died while it ran: it is closed, or a person is asked what came of it. */
  readonly unknownOutcome: "seal" | "ask";
  /** Whether the pipeline's six events are emitted for each call. */
  readonly trace: boolean;
};
