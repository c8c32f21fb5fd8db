import { CHANNELS } from "../events/channel.ts";
import { COMMAND_REFUSAL_CODES } from "../agent/actors/refusal.ts";
import { DONE_REASONS, ERROR_PHASES, ERROR_SEVERITIES, EVENT_KINDS } from "../events/event.ts";
import * as stored from "../db/generated/enums.ts";
import { builder } from "./builder.ts";

export const AgentState = builder.enumType("AgentState", {
  description: "READY: waits for a message. WORKING: a turn is under way. PAUSED: the turn waits for a person.",
  values: Object.values(stored.AgentState),
});

export const Breakpoint = builder.enumType("Breakpoint", {
  description: "Where in its turn an agent stands.",
  values: Object.values(stored.Breakpoint),
});

export const ToolCallState = builder.enumType("ToolCallState", {
  description:
    "How far a tool call has come. COMPLETED, FAILED, DENIED and SEALED are final; SEALED was closed without a result of its own.",
  values: Object.values(stored.ToolCallState),
});

export const ApprovalState = builder.enumType("ApprovalState", {
  description: "What became of an approval.",
  values: Object.values(stored.ApprovalState),
});

export const ApprovalKind = builder.enumType("ApprovalKind", {
  description: "What is asked.",
  values: Object.values(stored.ApprovalKind),
});

export const ApprovalDecision = builder.enumType("ApprovalDecision", {
  description: "What a person says. DONE, RETRY and FAIL answer an OUTCOME_UNKNOWN.",
  values: Object.values(stored.ApprovalDecision),
});

export const ActorKind = builder.enumType("ActorKind", {
  description: "What an actor is.",
  values: Object.values(stored.ActorKind),
});

export const MessageKind = builder.enumType("MessageKind", {
  description: "Whose message it is.",
  values: Object.values(stored.MessageKind),
});

export const ImageType = builder.enumType("ImageType", {
  description: "The types of images that models read.",
  values: {
    PNG: { value: "image/png" },
    JPEG: { value: "image/jpeg" },
    GIF: { value: "image/gif" },
    WEBP: { value: "image/webp" },
  } as const,
});

export const PermissionVerdict = builder.enumType("PermissionVerdict", {
  description: "What a rule, a list, a mode or a hook says of a call.",
  values: { ALLOW: { value: "allow" }, ASK: { value: "ask" }, DENY: { value: "deny" } } as const,
});

export const PermissionScope = builder.enumType("PermissionScope", {
  description:
    "Whether a permission block of an agent's own adds to its template's or replaces it, which needs an administrator.",
  values: ["TIGHTEN", "REPLACE"] as const,
});

export const Risk = builder.enumType("Risk", {
  description: "How much a call could change.",
  values: ["LOW", "MEDIUM", "HIGH"] as const,
});

export const Channel = builder.enumType("Channel", {
  description: "PROGRESS: what the agent does. CONTROL: what people must decide. MONITOR: what operators and audit watch.",
  values: CHANNELS,
});

export const EventKind = builder.enumType("EventKind", { description: "What an event reports.", values: EVENT_KINDS });

export const DoneReason = builder.enumType("DoneReason", {
  description: "How a turn ended.",
  values: DONE_REASONS,
});

export const ErrorSeverity = builder.enumType("ErrorSeverity", { values: ERROR_SEVERITIES });

export const ErrorPhase = builder.enumType("ErrorPhase", { values: ERROR_PHASES });

export const ResumeStrategy = builder.enumType("ResumeStrategy", { values: ["CRASH", "MANUAL"] as const });

export const TodoStatus = builder.enumType("TodoStatus", {
  values: { PENDING: { value: "pending" }, IN_PROGRESS: { value: "in_progress" }, COMPLETED: { value: "completed" } } as const,
});

export const UserErrorCode = builder.enumType("UserErrorCode", {
  description: "Why a mutation was not carried out.",
  values: COMMAND_REFUSAL_CODES,
});
