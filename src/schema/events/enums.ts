import type { DoneReason as Reason } from "../../db/done-reason.ts";
import type { Channel as Plane } from "../../events/channel.ts";
import type {
  ErrorPhase as Phase,
  ErrorSeverity as Severity,
  EventKind as Kind,
  ResumeStrategy as Strategy,
} from "../../events/event.ts";
import type { ConfigurationChange } from "../../events/tenant-event.ts";
import { builder } from "../builder.ts";
import { described } from "../described.ts";

export const Channel = builder.enumType("Channel", {
  description: "A plane of agents. Each kind of event is on one of them.",
  values: described<Plane>({
    PROGRESS: "What the agent does.",
    CONTROL: "What people must decide, and what they decided.",
    MONITOR: "What operators and audit watch, with the events of the tenant itself.",
  }),
});

export const EventKind = builder.enumType("EventKind", {
  description: "What an event reports. Kinds are added: clients ignore those that they do not know.",
  values: described<Kind>({
    MESSAGE_RECEIVED: "A person or program sent a message.",
    MESSAGE_WITHDRAWN: "Somebody took back a message that waited.",
    TEXT_CHUNK_START: "A block of the agent's text begins.",
    TEXT_CHUNK: "So much more of a block of text.",
    TEXT_CHUNK_END: "A block of text is complete, or was aborted.",
    THINK_CHUNK_START: "A block of the model's thinking begins.",
    THINK_CHUNK: "So much more of a block of thinking.",
    THINK_CHUNK_END: "A block of thinking is complete, or was aborted.",
    TOOL_START: "A tool call begins to execute.",
    TOOL_END: "A tool call has its final state.",
    TOOL_ERROR: "A tool call ended without a result of its own.",
    DONE: "A turn ended.",
    PERMISSION_REQUIRED: "A person must decide.",
    PERMISSION_DECIDED: "A person decided.",
    PERMISSION_CLOSED: "Nothing is left to decide.",
    AGENT_CREATED: "An agent was created.",
    AGENT_RENAMED: "Somebody gave the agent another title.",
    AGENT_ARCHIVED: "Somebody archived the agent: it takes no more messages.",
    AGENT_UNARCHIVED: "Somebody took an archived agent back: it takes messages again.",
    STATE_CHANGED: "The agent's state changed.",
    BREAKPOINT_CHANGED: "The agent stands elsewhere in its turn.",
    STEP_COMPLETE: "A model call is complete.",
    TOKEN_USAGE: "What a model call used.",
    TOOL_EXECUTED: "The audit of a tool call in its final state.",
    ERROR: "Something went wrong that operators should see.",
    INTERRUPT_REQUESTED: "Somebody asked for the end of the running turn.",
    TURN_RETRY_REQUESTED: "Somebody asked for another turn for the same messages.",
    TOOL_CANCEL_REQUESTED: "Somebody asked for the end of one tool call.",
    AGENT_RESUMED: "The agent goes on after its server stopped.",
    STORAGE_FAILURE: "The database was away, and is back.",
    SHELL_STARTED: "A call left a command running in the background.",
    SHELL_ENDED: "A background shell has ended.",
    FILE_CHANGED: "Something else has changed files that the agent knows.",
    TODO_CHANGED: "The agent's todo list changed.",
    EXECUTION_STARTED: "A call enters the gate. Only for templates that trace, as the five kinds after it.",
    STAGE_STARTED: "A call enters a stage of the gate.",
    STAGE_COMPLETED: "A call has gone through a stage of the gate.",
    EXECUTION_COMPLETED: "A call has its result.",
    EXECUTION_FAILED: "A call was refused or failed.",
    EXECUTION_ABORTED: "A call was interrupted, or sealed.",
    TOOL_CUSTOM_EVENT: "A tool reported something of its own.",
    ALLOW_RULE_STORED: "Of the tenant: somebody stored a rule by which calls run without asking.",
    ALLOW_RULE_REVOKED: "Of the tenant: somebody took a stored rule back.",
    DELEGATION_STARTED: "Of the tenant: somebody lets another decide in their name.",
    DELEGATION_ENDED: "Of the tenant: a delegation was revoked, or its time is up.",
    CONFIGURATION_CHANGED: "Of the tenant: a server was started with other rights than the last one known.",
  }),
});

export const DoneReason = builder.enumType("DoneReason", {
  description: "How a turn ended.",
  values: described<Reason>({
    COMPLETED: "The model has said all that it had to say.",
    INTERRUPTED: "Somebody interrupted it.",
    ERROR: "It could not go on: an ERROR says why.",
    MAX_STEPS: "It took as many steps as its template allows.",
  }),
});

export const ErrorSeverity = builder.enumType("ErrorSeverity", {
  description: "How bad it is.",
  values: described<Severity>({
    INFO: "Something that is worth knowing, as that a provider asks to wait.",
    WARN: "The agent goes on, but not as it should.",
    ERROR: "Something was not done.",
    CRITICAL: "Something is lost.",
  }),
});

export const ErrorPhase = builder.enumType("ErrorPhase", {
  description: "What went wrong.",
  values: described<Phase>({
    MODEL: "A model call.",
    TOOL: "A tool call.",
    SYSTEM: "The server, its database, or what it tells others.",
    LIFECYCLE: "The agent's going on from turn to turn, and from server to server.",
  }),
});

export const ResumeStrategy = builder.enumType("ResumeStrategy", {
  description: "What became of calls whose outcome is unknown.",
  values: described<Strategy>({
    CRASH: "They were sealed, or could run again.",
    MANUAL: "People are asked what came of them.",
    PLANNED: "There are none: the server was stopped on purpose, and broke off what it could not end.",
  }),
});

export const ConfigurationChangeKind = builder.enumType("ConfigurationChangeKind", {
  description: "What became of a part of the configuration.",
  values: described<ConfigurationChange["change"]>({
    ADDED: "It was not there before.",
    CHANGED: "It says something else.",
    REMOVED: "It is no longer there.",
  }),
});
