import type { FORM_FIELD_KINDS, FormFormat as Format } from "../events/tool-question.ts";
import type { CannotDecideReason as CannotDecide } from "../agent/approvals/approval.ts";
import type { CommandRefusalCode, ROLES } from "../agent/actors/actor.ts";
import type { ToolSource as Source } from "../agent/tools/tool.ts";
import type { CallWait as Wait } from "../db/commit/change.ts";
import type * as stored from "../db/generated/enums.ts";
import type {
  GateStage as Stage,
  ReminderCategory as Category,
  ReminderPriority as Priority,
  ShellEndReason as EndReason,
  ShellState as Running,
  ToolCallErrorType as ErrorType,
} from "../events/snapshots.ts";
import { builder, described, describedLower } from "./builder.ts";

export const AgentState = builder.enumType("AgentState", {
  description: "Activity of an agent.",
  values: described<stored.AgentState>({
    READY: "Idle: it waits for a message.",
    WORKING: "A turn is running.",
    PAUSED: "The turn waits for a person.",
  }),
});

export const Breakpoint = builder.enumType("Breakpoint", {
  description: "Stage of an agent within its turn, in the order of a step.",
  values: described<stored.Breakpoint>({
    READY: "Between two turns.",
    PRE_MODEL: "The model was called and has not started to answer.",
    STREAMING_MODEL: "The model is answering.",
    TOOL_PENDING: "The tool calls of an answer are being checked.",
    AWAITING_APPROVAL: "The turn waits for people to decide on approvals.",
    PRE_TOOL: "A call waits for a free tool slot on its server.",
    TOOL_EXECUTING: "Tools are running, or the turn waits for results that come later.",
    POST_TOOL: "All tool results are available, and the next step has not started.",
  }),
});

export const ToolCallState = builder.enumType("ToolCallState", {
  description: "State of a tool call.",
  values: described<stored.ToolCallState>({
    PENDING: "The model requested the call.",
    APPROVAL_REQUIRED: "A person must decide on the call, or report its outcome.",
    APPROVED: "A person allowed the call, and it has not started.",
    EXECUTING: "The call is running, or was running when its server stopped.",
    WAITING: "The tool has answered that the result comes later: `completeToolCall` gives it.",
    COMPLETED: "Final: the call has its result.",
    FAILED: "Final: the call could not run, was cancelled, or ended with an error.",
    DENIED: "Final: a rule, a hook or a person denied the call, or its approval expired.",
    SEALED: "Final: the call was closed without a result of its own, because its turn ended or its outcome is unknown.",
  }),
});

export const ToolSource = builder.enumType("ToolSource", {
  description: "Where a tool comes from.",
  values: described<Source>({
    BUILTIN: "The server.",
    REGISTERED: "The configuration: a tool of the operator's own.",
    CLIENT: "A client of a template's agents: a subscriber answers its calls.",
    MCP: "An MCP server.",
  }),
});

export const CallWait = builder.enumType("CallWait", {
  description: "Where the result of a call in state WAITING comes from.",
  values: described<Wait>({
    LATER: "Another program, or a task of an MCP server: the tool has answered that its result comes later.",
    CLIENT_TOOL: "A client of the agent: the tool is a client tool, and a subscriber answers with `completeToolCall`.",
    CHILD: "Another agent, which the call has started.",
  }),
});

export const ShellState = builder.enumType("ShellState", {
  description: "State of a background shell.",
  values: described<Running>({
    RUNNING: "It is running, as far as known: its server may have stopped since.",
    ENDED: "Final: it has ended.",
  }),
});

export const ShellEndReason = builder.enumType("ShellEndReason", {
  description: "Reason why a background shell ended.",
  values: described<EndReason>({
    EXITED: "The program exited by itself, or through a signal from elsewhere.",
    KILLED: "Its agent stopped it.",
    TIME_UP: "Its time limit was reached.",
    INTERRUPTED: "A person interrupted its agent.",
    ARCHIVED: "Its agent was archived.",
    TAKEN_OVER: "Another server took over its agent.",
    SERVER_CLOSED: "Its server was shut down.",
    SERVER_LOST: "Its server crashed, or could not reach the database in time.",
    NOT_STARTED: "The program could not be started.",
  }),
});

export const GateStage = builder.enumType("GateStage", {
  description: "Stage of the gate. Every tool call passes these stages in this order.",
  values: describedLower<Stage>({
    discovery: "Finds the tool and checks that the agent has it.",
    validation: "Checks the arguments against the input schema of the tool.",
    permission: "Evaluates rules, lists, the mode and hooks.",
    confirmation: "Waits for the approval of exactly this input, if the verdict is ASK.",
    execution: "Runs the tool.",
    formatting: "Turns the answer of the tool into text for the model and JSON for programs.",
  }),
});

export const ToolCallErrorType = builder.enumType("ToolCallErrorType", {
  description: "Reason why a call was refused or failed.",
  values: describedLower<ErrorType>({
    not_found: "No tool has this name.",
    disabled: "The agent does not have this tool, or it is unavailable at present.",
    invalid_params: "The arguments do not match the input schema of the tool.",
    permission_denied: "A rule, a list, the mode or a hook denied the call.",
    user_rejected: "A person denied the call.",
    approval_expired: "The approval expired before a person decided.",
    tool_busy: "All tool slots of the server are in use.",
    execution_failed: "The tool failed.",
    timeout: "The tool exceeded its time limit.",
    aborted: "The call was interrupted, cancelled or sealed, or the model's answer was incomplete.",
  }),
});

export const ApprovalState = builder.enumType("ApprovalState", {
  description: "State of an approval.",
  values: described<stored.ApprovalState>({
    PENDING: "It waits for people.",
    ALLOWED: "As many people as its quorum requires have allowed it.",
    DENIED: "A person denied it.",
    RESOLVED: "A person reported the outcome of a call whose outcome was unknown.",
    EXPIRED: "Nobody decided before `expiresAt`.",
    SEALED: "The turn, or the background program that asked, ended before anybody decided.",
    STALE: "The action has changed since the request: a newer approval replaces it.",
  }),
});

export const ApprovalKind = builder.enumType("ApprovalKind", {
  description: "Kind of question that an approval asks.",
  values: described<stored.ApprovalKind>({
    TOOL_CALL: "May this call run?",
    OUTCOME_UNKNOWN: "What was the outcome of this call? Its server stopped while it ran.",
    BUDGET: "May a budget of the agent be raised for its present period? The next step does not fit into it.",
    NETWORK_HOST: "May the agent connect to this host?",
    TOOL_INPUT: "Which values does a tool of an MCP server get that asks for them? Its form is in `subject`.",
  }),
});

export const FormFieldKind = builder.enumType("FormFieldKind", {
  description: "Kind of value that a field of a form takes.",
  values: described<(typeof FORM_FIELD_KINDS)[number]>({
    TEXT: "A text.",
    NUMBER: "A number.",
    INTEGER: "A whole number.",
    BOOLEAN: "true or false.",
    CHOICE: "The value of one of the options.",
    CHOICES: "A list of values of options, each once.",
  }),
});

export const FormFormat = builder.enumType("FormFormat", {
  description: "Format of a text in a form.",
  values: {
    EMAIL: { value: "email", description: "An email address, such as `anna@example.com`." },
    URI: { value: "uri", description: "A URI with its scheme, such as `https://example.com`." },
    DATE: { value: "date", description: "A date, such as `2026-01-31`." },
    DATE_TIME: { value: "date-time", description: "A time with its zone, such as `2026-01-31T12:00:00Z`." },
  } satisfies Record<string, { readonly value: Format; readonly description: string }>,
});

export const ApprovalDecision = builder.enumType("ApprovalDecision", {
  description: "Decision of a person on an approval.",
  values: described<stored.ApprovalDecision>({
    ALLOW: "Allow the action.",
    DENY: "Deny the action.",
    DONE: "For OUTCOME_UNKNOWN: the call succeeded with the given result.",
    RETRY: "For OUTCOME_UNKNOWN: run the call again.",
    FAIL: "For OUTCOME_UNKNOWN: the call failed.",
  }),
});

export const CannotDecideReason = builder.enumType("CannotDecideReason", {
  description: "Reason why the viewer may not decide on an approval now.",
  values: described<CannotDecide>({
    CLOSED: "The approval is closed.",
    EXPIRED: "The approval has expired.",
    NO_ROLE: "The viewer is not an approver or administrator, and no approver delegates to them.",
    SELF_APPROVAL: "The viewer, or the actor who delegates to them, asked for it, and the template requires another person.",
    ALREADY_DECIDED: "The viewer has already allowed it, and another person must allow it too.",
  }),
});

export const ActorKind = builder.enumType("ActorKind", {
  description: "Kind of actor.",
  values: described<stored.ActorKind>({
    USER: "A person.",
    SERVICE: "A program.",
    SYSTEM: "The Triplane server itself.",
  }),
});

export const Role = builder.enumType("Role", {
  description: "Rights of an actor. The rights of several roles add up.",
  values: describedLower<(typeof ROLES)[number]>({
    viewer: "Reads the tenant and changes nothing.",
    user: "Creates agents. Reads, messages and interrupts their own agents.",
    approver: "Reads the tenant and decides on approvals.",
    admin: "May do everything in the tenant.",
  }),
});

export const MessageKind = builder.enumType("MessageKind", {
  description: "Author of a message.",
  values: described<stored.MessageKind>({
    USER: "A person or program, or a note of the server to the model.",
    ASSISTANT: "The model.",
    TOOL_RESULTS: "The results of the tool calls of an answer.",
    REMINDER: "A person, a program, a tool or a schedule, with a reminder.",
  }),
});

export const ReminderCategory = builder.enumType("ReminderCategory", {
  description: "Subject of a reminder.",
  values: described<Category>({
    FILE: "Files.",
    TODO: "The todo list.",
    SECURITY: "Security.",
    PERFORMANCE: "Speed or cost.",
    GENERAL: "Any other subject.",
  }),
});

export const ReminderPriority = builder.enumType("ReminderPriority", {
  description: "Importance of a reminder.",
  values: described<Priority>({ LOW: "Low.", MEDIUM: "Medium.", HIGH: "High." }),
});

export const ImageType = builder.enumType("ImageType", {
  description: "Image formats that models read.",
  values: {
    PNG: { value: "image/png", description: "PNG." },
    JPEG: { value: "image/jpeg", description: "JPEG." },
    GIF: { value: "image/gif", description: "GIF." },
    WEBP: { value: "image/webp", description: "WebP." },
  } as const,
});

export const PermissionVerdict = builder.enumType("PermissionVerdict", {
  description: "Verdict of a rule, a list, a mode or a hook on a call.",
  values: describedLower<"allow" | "ask" | "deny">({
    allow: "The call may run.",
    ask: "A person must decide.",
    deny: "The call must not run.",
  }),
});

export const PermissionScope = builder.enumType("PermissionScope", {
  description: "How an agent's own permission block combines with that of its template.",
  values: described<"TIGHTEN" | "REPLACE">({
    TIGHTEN: "Both apply, and the stricter verdict wins.",
    REPLACE: "Only the agent's own block applies. Needs the role admin.",
  }),
});

export const Risk = builder.enumType("Risk", {
  description: "Risk of a call.",
  values: described<"LOW" | "MEDIUM" | "HIGH">({
    LOW: "It only reads.",
    MEDIUM: "It makes changes that can be seen and repaired.",
    HIGH: "Its changes may destroy data.",
  }),
});

export const TodoStatus = builder.enumType("TodoStatus", {
  description: "State of a todo entry.",
  values: describedLower<"pending" | "in_progress" | "completed">({
    pending: "Not started.",
    in_progress: "In progress.",
    completed: "Done.",
  }),
});

export const OrderDirection = builder.enumType("OrderDirection", {
  description: "Sort direction.",
  values: described<"ASC" | "DESC">({ ASC: "Smallest or oldest first.", DESC: "Largest or newest first." }),
});

export const UserErrorCode = builder.enumType("UserErrorCode", {
  description: "Reason why a mutation failed.",
  values: described<CommandRefusalCode>({
    NOT_FOUND: "The object does not exist, or the viewer may not see it.",
    FORBIDDEN: "The viewer lacks the required role or right.",
    INVALID: "Part of the input is invalid: see `field` and `message`.",
    TOO_LARGE: "Part of the input is too large, or a limit is reached.",
    QUEUE_FULL: "Too many messages are queued for the agent. Retry later.",
    ARCHIVED: "The agent is archived and accepts no messages.",
    ALREADY_JOINED: "The message has already joined the conversation.",
    ALREADY_ENDED: "The call has already ended.",
    CALL_ENDED: "The call has ended, and takes no result: the message names its state.",
    CHILDREN_WORK: "Agents that it started are at work: `tree` means them, too.",
    NOT_ARCHIVED: "The agent to delete, or one below it, is not archived.",
    AT_WORK: "The agent to delete, or one below it, works or has an open question.",
    NOT_WAITING: "The call does not wait for a result from elsewhere, or not yet.",
    COMPACTING: "A compaction of the agent's context is asked for or under way.",
    NOTHING_TO_RETRY: "The last turn did not end with ERROR, INTERRUPTED, SHAPE or BUDGET, or a turn is running.",
    IDEMPOTENCY_KEY_REUSED: "The idempotency key was used with another input.",
    ALREADY_DECIDED: "A different decision was made earlier, and stands.",
    HASH_MISMATCH: "`inputHash` does not match the approval. Read the approval again.",
    SEALED: "The turn ended: the decision is no longer needed.",
    STALE: "The action has changed: a newer approval replaces this one.",
    CONFLICT: "The object has changed since it was read. Read it again.",
    EXPIRED: "The approval expired before a decision.",
    DENIED_BY_POLICY: "The permission denies it, and no decision can override that.",
    UNAVAILABLE: "The database did not answer, so the outcome is unknown. Send the decision again.",
    SELF_APPROVAL: "The viewer, or the actor who delegates to them, asked for it and may not decide.",
  }),
});
