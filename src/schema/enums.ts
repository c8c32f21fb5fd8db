import type { CannotDecideReason as CannotDecide } from "../agent/approvals/cannot-decide.ts";
import type { CommandRefusalCode } from "../agent/actors/refusal.ts";
import type { ROLES } from "../agent/actors/actor.ts";
import type * as stored from "../db/generated/enums.ts";
import type {
  GateStage as Stage,
  ShellEndReason as EndReason,
  ShellState as Running,
  ToolCallErrorType as ErrorType,
} from "../events/snapshots.ts";
import { builder } from "./builder.ts";
import { described, describedLower } from "./described.ts";

export const AgentState = builder.enumType("AgentState", {
  description: "What an agent does.",
  values: described<stored.AgentState>({
    READY: "It waits for a message.",
    WORKING: "A turn is under way.",
    PAUSED: "The turn waits for a person.",
  }),
});

export const Breakpoint = builder.enumType("Breakpoint", {
  description: "Where in its turn an agent stands.",
  values: described<stored.Breakpoint>({
    READY: "Between two turns.",
    PRE_MODEL: "Before the answer of the model begins.",
    STREAMING_MODEL: "While the model speaks.",
    TOOL_PENDING: "The calls of an answer are about to be judged.",
    AWAITING_APPROVAL: "Only people can say how it goes on.",
    PRE_TOOL: "A call waits for a place among the running tools of its server.",
    TOOL_EXECUTING: "Tools run.",
    POST_TOOL: "The results of tools are there, and the next step has not begun.",
  }),
});

export const ToolCallState = builder.enumType("ToolCallState", {
  description: "How far a tool call has come.",
  values: described<stored.ToolCallState>({
    PENDING: "The model asked for it.",
    APPROVAL_REQUIRED: "A person must decide on it, or say what came of it.",
    APPROVED: "A person allowed it, and it has not begun.",
    EXECUTING: "It runs, or ran when its server died.",
    COMPLETED: "Final: it has its result.",
    FAILED: "Final: it could not run, or did not end well.",
    DENIED: "Final: a rule, a hook or a person denied it, or nobody decided in time.",
    SEALED: "Final: it was closed without a result of its own.",
  }),
});

export const ShellState = builder.enumType("ShellState", {
  description: "The state of a background shell.",
  values: described<Running>({
    RUNNING: "It runs on its server, or did when that was last heard of.",
    ENDED: "Final: it has ended.",
  }),
});

export const ShellEndReason = builder.enumType("ShellEndReason", {
  description: "Why a background shell ended.",
  values: described<EndReason>({
    EXITED: "By itself.",
    KILLED: "Its agent ended it.",
    TIME_UP: "Its time was up.",
    INTERRUPTED: "A person interrupted its agent.",
    ARCHIVED: "Its agent was archived.",
    TAKEN_OVER: "Another server went on with its agent.",
    SERVER_CLOSED: "Its server was closed.",
    SERVER_LOST: "Its server died, or could not reach the database in time.",
    NOT_STARTED: "It could not be started.",
  }),
});

export const GateStage = builder.enumType("GateStage", {
  description: "The stages of the gate through which every tool call goes, in order.",
  values: describedLower<Stage>({
    discovery: "Is there such a tool, and does the agent have it?",
    validation: "Do the arguments fit the tool's schema?",
    permission: "What do rules, lists, the mode and hooks say?",
    confirmation: "If it is asked for: has a person allowed exactly this?",
    execution: "The tool runs.",
    formatting: "Its answer becomes text for the model and JSON for programs.",
  }),
});

export const ToolCallErrorType = builder.enumType("ToolCallErrorType", {
  description: "Why a call was refused or failed.",
  values: describedLower<ErrorType>({
    not_found: "There is no such tool.",
    disabled: "The agent does not have the tool.",
    invalid_params: "The arguments do not fit the tool's schema.",
    permission_denied: "A rule, a list, the mode or a hook denied it.",
    user_rejected: "A person denied it.",
    approval_expired: "Nobody decided in time.",
    tool_busy: "The server ran as many tools as it may.",
    execution_failed: "The tool failed.",
    timeout: "The tool did not end in time.",
    aborted: "It was interrupted, or sealed, or the model's answer was incomplete.",
  }),
});

export const ApprovalState = builder.enumType("ApprovalState", {
  description: "What became of an approval.",
  values: described<stored.ApprovalState>({
    PENDING: "It waits for people.",
    ALLOWED: "As many people as it needs have allowed it.",
    DENIED: "Somebody denied it.",
    RESOLVED: "Somebody said what came of a call whose outcome was unknown.",
    EXPIRED: "Nobody decided in time.",
    SEALED: "Its turn ended before anybody decided.",
    STALE: "Something else would run by now: a newer approval asks again.",
  }),
});

export const ApprovalKind = builder.enumType("ApprovalKind", {
  description: "What is asked.",
  values: described<stored.ApprovalKind>({
    TOOL_CALL: "May this call run?",
    OUTCOME_UNKNOWN: "The server died while this call ran: what came of it?",
    BUDGET: "May it spend more than its budget? Reserved for budgets of agents: no server asks this so far.",
    NETWORK_HOST: "May it reach this host?",
  }),
});

export const ApprovalDecision = builder.enumType("ApprovalDecision", {
  description: "What a person says about an approval.",
  values: described<stored.ApprovalDecision>({
    ALLOW: "It may run.",
    DENY: "It may not run.",
    DONE: "Of an outcome that is unknown: it is done, with this result.",
    RETRY: "Of an outcome that is unknown: run it again.",
    FAIL: "Of an outcome that is unknown: it has failed.",
  }),
});

export const CannotDecideReason = builder.enumType("CannotDecideReason", {
  description: "Why somebody may not decide on an approval now.",
  values: described<CannotDecide>({
    CLOSED: "Nothing is left to decide.",
    EXPIRED: "Its time is up.",
    NO_ROLE: "They are no approver, and nobody who is one delegates to them.",
    SELF_APPROVAL: "They, or who delegates to them, asked for it, and the template wants somebody else.",
    ALREADY_DECIDED: "They have allowed it, and somebody else must, too.",
  }),
});

export const ActorKind = builder.enumType("ActorKind", {
  description: "What an actor is.",
  values: described<stored.ActorKind>({
    USER: "A person.",
    SERVICE: "A program.",
    SYSTEM: "The server itself.",
  }),
});

export const Role = builder.enumType("Role", {
  description: "What an actor may do. Roles add up.",
  values: describedLower<(typeof ROLES)[number]>({
    viewer: "Reads the tenant, changes nothing.",
    user: "Creates agents; reads, sends to and interrupts their own.",
    approver: "Reads the tenant, decides on approvals.",
    admin: "May do everything.",
  }),
});

export const MessageKind = builder.enumType("MessageKind", {
  description: "Whose message it is.",
  values: described<stored.MessageKind>({
    USER: "A person's or a program's.",
    ASSISTANT: "The model's answer.",
    TOOL_RESULTS: "The results of the tool calls of an answer.",
  }),
});

export const ImageType = builder.enumType("ImageType", {
  description: "The types of images that models read.",
  values: {
    PNG: { value: "image/png", description: "Portable Network Graphics." },
    JPEG: { value: "image/jpeg", description: "JPEG." },
    GIF: { value: "image/gif", description: "Graphics Interchange Format." },
    WEBP: { value: "image/webp", description: "WebP." },
  } as const,
});

export const PermissionVerdict = builder.enumType("PermissionVerdict", {
  description: "What a rule, a list, a mode or a hook says of a call.",
  values: describedLower<"allow" | "ask" | "deny">({
    allow: "It may run.",
    ask: "A person must decide.",
    deny: "It must not run.",
  }),
});

export const PermissionScope = builder.enumType("PermissionScope", {
  description: "What a permission block of an agent's own does to its template's.",
  values: described<"TIGHTEN" | "REPLACE">({
    TIGHTEN: "It adds to it, so that it can only tighten.",
    REPLACE: "It takes its place, which needs an administrator.",
  }),
});

export const Risk = builder.enumType("Risk", {
  description: "How much a call could change.",
  values: described<"LOW" | "MEDIUM" | "HIGH">({
    LOW: "It only reads.",
    MEDIUM: "It changes something that can be seen and mended.",
    HIGH: "What it changes may be lost.",
  }),
});

export const TodoStatus = builder.enumType("TodoStatus", {
  description: "How far an entry of a todo list has come.",
  values: describedLower<"pending" | "in_progress" | "completed">({
    pending: "It has not begun.",
    in_progress: "The agent works on it.",
    completed: "It is done.",
  }),
});

export const OrderDirection = builder.enumType("OrderDirection", {
  description: "The direction of an order.",
  values: described<"ASC" | "DESC">({ ASC: "The smallest or oldest first.", DESC: "The largest or newest first." }),
});

export const UserErrorCode = builder.enumType("UserErrorCode", {
  description: "Why a mutation was not carried out.",
  values: described<CommandRefusalCode>({
    NOT_FOUND: "There is no such thing, or it may not be seen.",
    FORBIDDEN: "The actor's roles do not allow it.",
    INVALID: "A part of the input makes no sense.",
    TOO_LARGE: "A part of the input is too large.",
    QUEUE_FULL: "Too much waits for the agent already.",
    ARCHIVED: "The agent is archived, and takes no message.",
    ALREADY_JOINED: "The message has joined the conversation.",
    ALREADY_ENDED: "The call has ended.",
    NOTHING_TO_RETRY: "No turn has ended with an error or an interrupt, or another is under way.",
    IDEMPOTENCY_KEY_REUSED: "The key was used for another request.",
    ALREADY_DECIDED: "Somebody decided otherwise before.",
    HASH_MISMATCH: "The decision is about another input than the one that would run.",
    SEALED: "The turn has ended: nothing waits for this decision.",
    STALE: "Something else would run by now.",
    EXPIRED: "Nobody decided in time.",
    DENIED_BY_POLICY: "The policy denies it, whoever allows it.",
    UNAVAILABLE: "The database did not answer: whether it was carried out is unknown.",
    SELF_APPROVAL: "Nobody decides on what they asked for.",
  }),
});
