import type { DoneReason as Reason } from "../../db/commit/change.ts";
import type {
  Channel as Plane,
  ErrorPhase as Phase,
  ErrorSeverity as Severity,
  EventKind as Kind,
  ResumeStrategy as Strategy,
} from "../../events/event.ts";
import type { ConfigurationChange } from "../../events/tenant-event.ts";
import type { ChildOutcome as Outcome } from "../../events/snapshots.ts";
import { builder, described, describedLower } from "../builder.ts";

export const Channel = builder.enumType("Channel", {
  description: "A plane: a group of event kinds. Each kind belongs to one plane.",
  values: described<Plane>({
    PROGRESS: "Progress of the agent: messages, text, tool calls and ends of turns.",
    CONTROL: "Approvals and decisions.",
    MONITOR: "Events for operators, audit and BI, including those of the tenant itself.",
  }),
});

export const ChildOutcome = builder.enumType("ChildOutcome", {
  description: "How the task of an agent ended that another one started.",
  values: describedLower<Outcome>({
    ok: "It completed its task.",
    error: "It ended with an error, or had no steps left.",
    interrupted: "It was interrupted.",
  }),
});

export const EventKind = builder.enumType("EventKind", {
  description: "Kind of event. New kinds may be added: clients must ignore unknown ones.",
  values: described<Kind>({
    MESSAGE_RECEIVED: "A person or program sent a message.",
    SCHEDULER_TRIGGERED: "A schedule sent its reminder.",
    SCHEDULE_CHANGED: "A schedule was created, paused, resumed or deleted, or it is over.",
    MESSAGE_WITHDRAWN: "A queued message was withdrawn.",
    TEXT_CHUNK_START: "A block of text starts.",
    TEXT_CHUNK: "A piece of a block of text.",
    TEXT_CHUNK_END: "A block of text is complete, or was aborted.",
    THINK_CHUNK_START: "A block of thinking starts.",
    THINK_CHUNK: "A piece of a block of thinking.",
    THINK_CHUNK_END: "A block of thinking is complete, or was aborted.",
    TOOL_START: "A tool call starts to run.",
    TOOL_WAITING: "The result of a tool call comes later.",
    TOOL_END: "A tool call reached its final state.",
    AGENT_SPAWNED: "The agent started another one. Its events follow.",
    AGENT_RETURNED: "An agent that this one started has ended its task.",
    TOOL_ERROR: "A tool call ended with an error.",
    DONE: "A turn ended.",
    PERMISSION_REQUIRED: "A person must decide.",
    PERMISSION_DECIDED: "A person decided.",
    PERMISSION_CLOSED: "An approval was closed without a final decision.",
    AGENT_CREATED: "An agent was created.",
    AGENT_RENAMED: "The title of the agent changed.",
    AGENT_ARCHIVED: "The agent was archived and accepts no messages.",
    AGENT_UNARCHIVED: "The agent was restored from the archive and accepts messages.",
    STATE_CHANGED: "The state of the agent changed.",
    BREAKPOINT_CHANGED: "The agent reached another stage of its turn.",
    STEP_COMPLETE: "A model call is complete.",
    TOKEN_USAGE: "Tokens and cost of a model call.",
    TOOL_EXECUTED: "Audit record of a tool call in its final state.",
    ERROR: "A problem that operators should see.",
    INTERRUPT_REQUESTED: "An interrupt of the running turn was requested.",
    TURN_RETRY_REQUESTED: "A retry of the last turn was requested.",
    TOOL_CANCEL_REQUESTED: "The cancellation of a tool call was requested.",
    AGENT_RESUMED: "The agent continues after its server stopped.",
    STORAGE_FAILURE: "The database was unavailable, and is available again.",
    SHELL_STARTED: "A call started a background shell.",
    SHELL_ENDED: "A background shell ended.",
    FILE_CHANGED: "Files known to the agent were changed by something other than its file tools.",
    TOOL_MANUAL_UPDATED: "The agent was told of changed sections of its tools manual.",
    REMINDER_SENT: "A reminder was sent to the agent.",
    MEMORY_CHANGED: "Memory of a template's agents changed: by a call of the agent, or by a person.",
    BUDGET_WARNED: "A budget of the agent is nearly spent, or counts no money of its model.",
    BUDGET_ASKED: "A step of the agent does not fit into a budget: a person is asked to raise it.",
    BUDGET_RAISED: "A person raised a budget of the agent for its present period.",
    BUDGET_STOPPED: "A turn of the agent ends, since its next step does not fit into a budget.",
    TODO_CHANGED: "The todo list of the agent changed.",
    TODO_REMINDER: "The agent is reminded of its todo list.",
    CONTEXT_COMPRESSION: "A compaction of the agent's context window starts or ends.",
    TEMPLATE_CHANGED: "A turn begins with another version of the agent's template.",
    EXECUTION_STARTED: "A call enters the gate. EXECUTION and STAGE events exist only for templates with `trace`.",
    STAGE_STARTED: "A call enters a stage of the gate.",
    STAGE_COMPLETED: "A call completed a stage of the gate.",
    EXECUTION_COMPLETED: "A call ended with a result.",
    EXECUTION_FAILED: "A call was refused or failed.",
    EXECUTION_ABORTED: "A call was interrupted, cancelled or sealed.",
    TOOL_CUSTOM_EVENT: "A custom event emitted by a tool.",
    ALLOW_RULE_STORED: "Tenant event: an allow rule was stored.",
    ALLOW_RULE_REVOKED: "Tenant event: a stored rule was revoked.",
    DELEGATION_STARTED: "Tenant event: a delegation started.",
    DELEGATION_ENDED: "Tenant event: a delegation was revoked, or its time ended.",
    TOOL_ACCEPTED: "Tenant event: an administrator accepted the definition of an MCP server's tool.",
    ACCESS_TOKEN_CREATED: "Tenant event: an access token was created.",
    ACCESS_TOKEN_REVOKED: "Tenant event: an access token was revoked.",
    AGENT_DELETED: "Tenant event: an administrator deleted an agent, with those below it.",
    EXPORT_CREATED: "Tenant event: an actor asked for an export.",
    EXPORT_ENDED: "Tenant event: an export is complete, has failed, or was cancelled.",
    BUDGET_SET: "Tenant event: an administrator set a budget.",
    BUDGET_REVOKED: "Tenant event: an administrator revoked a budget.",
    CONFIGURATION_CHANGED:
      "Tenant event: a server started with a configuration that grants other rights than the last known one.",
    SNOOZE_CHANGED:
      "The viewer has snoozed an approval, or ended the snooze. Only this person receives it, and only if `kinds` names it.",
  }),
});

export const DoneReason = builder.enumType("DoneReason", {
  description: "Reason why a turn ended.",
  values: described<Reason>({
    COMPLETED: "The model completed its answer.",
    INTERRUPTED: "A person or program interrupted the turn.",
    ERROR: "The turn failed: an ERROR event gives the cause.",
    SHAPE: "The last answer does not have the form of its schema: `detail` gives the cause.",
    BUDGET: "The next step does not fit into a budget: a BUDGET_STOPPED event names it.",
    MAX_STEPS: "The turn reached the maximum number of steps of its template.",
  }),
});

export const ErrorSeverity = builder.enumType("ErrorSeverity", {
  description: "Severity of an error.",
  values: described<Severity>({
    INFO: "Information, for example that a provider asks to wait.",
    WARN: "The agent continues, with restrictions.",
    ERROR: "An operation failed.",
    CRITICAL: "Data was lost, or the database was unavailable.",
  }),
});

export const ErrorPhase = builder.enumType("ErrorPhase", {
  description: "Part of the system where the error occurred.",
  values: described<Phase>({
    MODEL: "A model call.",
    TOOL: "A tool call.",
    SYSTEM: "The server, its database, or the delivery of events to listeners and webhooks.",
    LIFECYCLE: "Turns, takeovers and restarts of the agent.",
  }),
});

export const ResumeStrategy = builder.enumType("ResumeStrategy", {
  description: "How calls with an unknown outcome were handled.",
  values: described<Strategy>({
    CRASH: "They were sealed. Also used if another server took over from one that stopped responding.",
    MANUAL: "People are asked for their outcome.",
    PLANNED: "There are none: the server was shut down as planned and aborted what it could not finish.",
  }),
});

export const ConfigurationChangeKind = builder.enumType("ConfigurationChangeKind", {
  description: "How a part of the configuration changed.",
  values: described<ConfigurationChange["change"]>({
    ADDED: "The part is new.",
    CHANGED: "The part has other content.",
    REMOVED: "The part was removed.",
  }),
});
