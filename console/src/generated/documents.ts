/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Filter for access tokens. All given conditions must match. */
export type AccessTokenFilter = {
  /** True for valid ones only, false for expired and revoked ones only. */
  isActive?: boolean | null | undefined;
};

/** Right of an actor, beyond reading and steering their own agents. */
export type Action =
  /** Make access tokens for oneself. Depends on the sign-in, not on roles. */
  | 'CREATE_ACCESS_TOKENS'
  /** Create agents. */
  | 'CREATE_AGENTS'
  /** Decide on approvals. `Approval.viewerCanDecide` tells it for a single approval. */
  | 'DECIDE'
  /** Let another actor decide on one's behalf. */
  | 'DELEGATE'
  /** Delete archived agents. */
  | 'DELETE_AGENTS'
  /** Export inputs, results and payloads: `createExport` with `withTexts`. */
  | 'EXPORT_TEXTS'
  /** Read `operations`: servers, deliveries and the log. */
  | 'READ_OPERATIONS'
  /** Read agents of other actors, and the events of the tenant itself. */
  | 'READ_TENANT'
  /** Replace the permission of a template for an agent (`permissionScope: REPLACE`). */
  | 'REPLACE_PERMISSION'
  /** Set and revoke budgets. */
  | 'SET_BUDGETS'
  /** Send messages to agents of other actors, and interrupt them. */
  | 'STEER_ALL_AGENTS'
  /** Store and revoke rules under which calls run without asking. */
  | 'STORE_ALLOW_RULES';

/** Kind of actor. */
export type ActorKind =
  /** A program. */
  | 'SERVICE'
  /** The Triplane server itself. */
  | 'SYSTEM'
  /** A person. */
  | 'USER';

/** Filter for agents. All given conditions must match. */
export type AgentFilter = {
  /** Agents created by one of these actors, given by `ActorRef.id` or `actorId`. */
  createdBy?: Array<string | number> | null | undefined;
  /** Agents whose `lastActivityAt` is this time or earlier. */
  idleSince?: string | null | undefined;
  /** True for archived agents only, false for all others, null for both. */
  isArchived?: boolean | null | undefined;
  /** Agents that one of these agents started. */
  parentIds?: Array<string | number> | null | undefined;
  /** True for agents that no other agent started, false for all. True if omitted, unless `parentIds` is given. */
  rootsOnly?: boolean | null | undefined;
  /** Agents in one of these states. */
  states?: Array<AgentState> | null | undefined;
  /** Agents of one of these templates, given by `templateId`. */
  templateIds?: Array<string | number> | null | undefined;
  /** Agents whose title contains this text. Case is ignored. */
  title?: string | null | undefined;
};

/** Activity of an agent. */
export type AgentState =
  /** The turn waits for a person. */
  | 'PAUSED'
  /** Idle: it waits for a message. */
  | 'READY'
  /** A turn is running. */
  | 'WORKING';

/** Input of `allowAlways`. */
export type AllowAlwaysInput = {
  /** `id` of the approval whose call or host the rule must match. */
  approvalId: string | number;
  /** First moment at which the rule no longer applies. It never expires if this and `expiresInDays` are omitted. */
  expiresAt?: string | null | undefined;
  /** Days until the rule expires, instead of `expiresAt`: 1 to 3,650. */
  expiresInDays?: number | null | undefined;
  /** Reason, at most 4,000 characters. */
  note?: string | null | undefined;
  /** Rule to store instead of the proposed one, at most 1,000 characters. It must match the call of the approval, let it run, and name no other tool. */
  rule?: string | null | undefined;
};

/** Filter for stored rules. All given conditions must match. */
export type AllowRuleFilter = {
  /** True for active rules only, false for revoked and expired rules only. */
  isActive?: boolean | null | undefined;
  /** Rules for agents of one of these templates, given by `templateId`. */
  templateIds?: Array<string | number> | null | undefined;
};

/** Decision of a person on an approval. */
export type ApprovalDecision =
  /** Allow the action. */
  | 'ALLOW'
  /** Deny the action. */
  | 'DENY'
  /** For OUTCOME_UNKNOWN: the call succeeded with the given result. */
  | 'DONE'
  /** For OUTCOME_UNKNOWN: the call failed. */
  | 'FAIL'
  /** For OUTCOME_UNKNOWN: run the call again. */
  | 'RETRY';

/** Filter for approvals. All given conditions must match. */
export type ApprovalFilter = {
  /** Approvals of one of these agents. */
  agentIds?: Array<string | number> | null | undefined;
  /** Approvals of agents created by one of these actors, given by `ActorRef.id` or `actorId`. */
  createdBy?: Array<string | number> | null | undefined;
  /** Approvals with a decision made in this time range. */
  decided?: TimeRangeInput | null | undefined;
  /** Approvals with a decision by one of these actors, given by `ActorRef.id` or `actorId`. */
  decidedBy?: Array<string | number> | null | undefined;
  /** Approvals of one of these kinds. */
  kinds?: Array<ApprovalKind> | null | undefined;
  /** Approvals requested in this time range. */
  requested?: TimeRangeInput | null | undefined;
  /** Approvals that one of these actors asked for, given by `ActorRef.id` or `actorId`: the `requestedBy` of the time while it was open. */
  requestedBy?: Array<string | number> | null | undefined;
  /** Approvals with one of these risks. */
  risks?: Array<Risk> | null | undefined;
  /** Approvals in one of these states. */
  states?: Array<ApprovalState> | null | undefined;
  /** Approvals of agents of one of these templates, given by `templateId`. */
  templateIds?: Array<string | number> | null | undefined;
  /** Approvals of calls of one of these tools. */
  tools?: Array<string> | null | undefined;
  /** True for approvals that the viewer has snoozed only, false for all others. */
  viewerSnoozed?: boolean | null | undefined;
};

/** Kind of question that an approval asks. */
export type ApprovalKind =
  /** May a budget of the agent be raised for its present period? The next step does not fit into it. */
  | 'BUDGET'
  /** May the agent connect to this host? */
  | 'NETWORK_HOST'
  /** What was the outcome of this call? Its server stopped while it ran. */
  | 'OUTCOME_UNKNOWN'
  /** May this call run? */
  | 'TOOL_CALL'
  /** Which values does a tool of an MCP server get that asks for them? Its form is in `subject`. */
  | 'TOOL_INPUT';

/** State of an approval. */
export type ApprovalState =
  /** As many people as its quorum requires have allowed it. */
  | 'ALLOWED'
  /** A person denied it. */
  | 'DENIED'
  /** Nobody decided before `expiresAt`. */
  | 'EXPIRED'
  /** It waits for people. */
  | 'PENDING'
  /** A person reported the outcome of a call whose outcome was unknown. */
  | 'RESOLVED'
  /** The turn, or the background program that asked, ended before anybody decided. */
  | 'SEALED'
  /** The action has changed since the request: a newer approval replaces it. */
  | 'STALE';

/** Input of `archiveAgent`. */
export type ArchiveAgentInput = {
  /** `id` of the agent. */
  agentId: string | number;
  /** True to archive it although agents below it are at work: they end as interrupted. */
  tree?: boolean | null | undefined;
};

/** Type of an object that an agent waits for. */
export type AwaitedKind =
  /** An agent below it. */
  | 'AGENT'
  /** A question to a person. */
  | 'APPROVAL';

/** Stage of an agent within its turn, in the order of a step. */
export type Breakpoint =
  /** The turn waits for people to decide on approvals. */
  | 'AWAITING_APPROVAL'
  /** All tool results are available, and the next step has not started. */
  | 'POST_TOOL'
  /** The model was called and has not started to answer. */
  | 'PRE_MODEL'
  /** A call waits for a free tool slot on its server. */
  | 'PRE_TOOL'
  /** Between two turns. */
  | 'READY'
  /** The model is answering. */
  | 'STREAMING_MODEL'
  /** Tools are running, or the turn waits for results that come later. */
  | 'TOOL_EXECUTING'
  /** The tool calls of an answer are being checked. */
  | 'TOOL_PENDING';

/** Time buckets of an answer with groups, at most 1000. */
export type BucketInput = {
  /** IANA zone of the buckets, for example `Europe/Berlin`. UTC if omitted. */
  timeZone?: string;
  /** Length of each bucket. */
  unit: BucketUnit;
};

/** Length of a time bucket, by the clocks of its zone. */
export type BucketUnit =
  /** A date: 23 to 25 hours where the clocks change. */
  | 'DAY'
  /** From minute 0 to the next. A change of the clocks within an hour begins another bucket. */
  | 'HOUR'
  /** A month of the calendar. */
  | 'MONTH'
  /** From Monday to Sunday. */
  | 'WEEK';

/** Agents or turns that share the limit of a budget. */
export type BudgetPer =
  /** An agent, without those below it. */
  | 'AGENT'
  /** The turns that one actor asked for, with those of the agents below. */
  | 'REQUESTER'
  /** All agents of a template. */
  | 'TEMPLATE'
  /** All agents of the tenant. */
  | 'TENANT'
  /** An agent with all agents below it. */
  | 'TREE'
  /** A turn of an agent. */
  | 'TURN';

/** Time after which the spending of a budget is counted anew. */
export type BudgetWindow =
  /** A calendar day in the time zone of the budget. */
  | 'DAY'
  /** A calendar month in the time zone of the budget. */
  | 'MONTH'
  /** Never. */
  | 'NONE';

/** Where the result of a call in state WAITING comes from. */
export type CallWait =
  /** Another agent, which the call has started. */
  | 'CHILD'
  /** A client of the agent: the tool is a client tool, and a subscriber answers with `completeToolCall`. */
  | 'CLIENT_TOOL'
  /** Another program, or a task of an MCP server: the tool has answered that its result comes later. */
  | 'LATER';

/** Reason why the viewer may not give the result of a call now. */
export type CannotCompleteReason =
  /** The call is not in state WAITING. */
  | 'NOT_WAITING'
  /** The viewer did not ask for the call, is no administrator, and is no service that its tool names. */
  | 'NO_RIGHT'
  /** The call waits for the agent that it started. */
  | 'WAITS_FOR_CHILD'
  /** The call waits for a task of its MCP server. */
  | 'WAITS_FOR_TASK';

/** Reason why the viewer may not decide on an approval now. */
export type CannotDecideReason =
  /** The viewer has already allowed it, and another person must allow it too. */
  | 'ALREADY_DECIDED'
  /** The approval is closed. */
  | 'CLOSED'
  /** The approval has expired. */
  | 'EXPIRED'
  /** The viewer is not an approver or administrator, and no approver delegates to them. */
  | 'NO_ROLE'
  /** The viewer, or the actor who delegates to them, asked for it, and the template requires another person. */
  | 'SELF_APPROVAL';

/** How the task of an agent ended that another one started. */
export type ChildOutcome =
  /** It ended with an error, or had no steps left. */
  | 'ERROR'
  /** It was interrupted. */
  | 'INTERRUPTED'
  /** It completed its task. */
  | 'OK';

/** Input of `compactAgent`. */
export type CompactAgentInput = {
  /** `id` of the agent. */
  agentId: string | number;
  /** Key of 1 to 200 characters, kept for 30 days. Repeating the request asks once. IDEMPOTENCY_KEY_REUSED for another input. */
  idempotencyKey?: string | null | undefined;
  /** Wish for the summary, at most 4,000 characters, such as `keep all file names`. */
  instruction?: string | null | undefined;
};

/** Input of `completeToolCall`: `result` or `error`. */
export type CompleteToolCallInput = {
  /** `callId` of the call. */
  callId: string | number;
  /** Error message, in place of a result: the call ends as FAILED. */
  error?: string | null | undefined;
  /** Key that makes a repeated request safe, at most 200 characters. */
  idempotencyKey?: string | null | undefined;
  /** Result, at most 1 MB of JSON. The model reads a text as it is, other JSON as its text. */
  result?: unknown;
};

/** A part of a request to a model. */
export type ContextPart =
  /** Messages that were erased. */
  | 'MESSAGES'
  /** All of it: the step has not ended, made no request, or its server crashed. */
  | 'REQUEST'
  /** Settings of the call. */
  | 'SETTINGS'
  /** A summary that was erased. */
  | 'SUMMARY'
  /** System prompt. */
  | 'SYSTEM'
  /** Tools. */
  | 'TOOLS';

/** Input of `createAccessToken`. */
export type CreateAccessTokenInput = {
  /** Days until it expires, 1 to 365. 90 if omitted. */
  expiresInDays?: number | null | undefined;
  /** Name, 1 to 100 characters, such as the program that uses it. */
  name: string;
  /** Roles, each one of yours. All of yours if omitted. */
  roles?: Array<Role> | null | undefined;
};

/** Input of `createAgent`. */
export type CreateAgentInput = {
  /** Names of hooks in `agentHooks` of the configuration. They run after the template's hooks, and can only tighten permissions. */
  hooks?: Array<string> | null | undefined;
  /** Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same agent. IDEMPOTENCY_KEY_REUSED for another input. */
  idempotencyKey?: string | null | undefined;
  /** Name of a configured model. The template's model if omitted. */
  model?: string | null | undefined;
  /** Permission block of this agent. */
  permission?: PermissionInput | null | undefined;
  /** How `permission` combines with the template's permission. REPLACE needs the role admin. */
  permissionScope?: PermissionScope | null | undefined;
  /** Template of the agent, given by `templateId`. NOT_FOUND if it is not configured; see `templates`. */
  templateId: string | number;
  /** Title for people, one line of at most 200 characters. */
  title?: string | null | undefined;
  /** Time limit of each tool call in ms, 1 to 3,600,000. The template's limit if omitted. */
  toolTimeoutMs?: number | null | undefined;
  /** Folder in which the agent works. An absolute path, or relative to a workspace root or to the server's start folder. It must exist, and lie in a workspace root if any are configured. If omitted, `defaultWorkspace` of the configuration, or else a new empty folder. */
  workspace?: string | null | undefined;
};

/** Input of `createExport`. */
export type CreateExportInput = {
  /** Only rows that were final at this position. The end of the log if omitted. */
  asOf?: string | null | undefined;
  /** Rows of the file; all that the viewer may read if omitted. Each kind of rows has only conditions that make sense for it. `created` is the time of the request of an approval, or of the start of a step or turn. Of other rows it is their own time. The model of a turn is that of its first step. */
  filter?: ToolCallFilter | null | undefined;
  /** Form of the file. */
  format: ExportFormat;
  /** Key of the request, up to 200 characters. The same key makes one export. */
  idempotencyKey?: string | null | undefined;
  /** Only rows that became final after this position: the `asOf` of the previous export. From the beginning if omitted. */
  since?: string | null | undefined;
  /** Rows of the file. */
  what: ExportSubject;
  /** True for inputs, results, contents of messages, notes and payloads, too (EXPORT_TEXTS). Steps and turns have no texts. False if omitted. */
  withTexts?: boolean | null | undefined;
};

/** A decision on one approval. */
export type DecideApprovalInput = {
  /** `id` of the approval. */
  approvalId: string | number;
  /** The decision. ALLOW and DENY, or DONE, RETRY and FAIL for an OUTCOME_UNKNOWN. DENY of a TOOL_INPUT declines its question. */
  decision: ApprovalDecision;
  /** Another input to run, with ALLOW of a TOOL_CALL. It is validated and checked against the permission: DENIED_BY_POLICY if a rule denies it. INVALID if several people must allow the call. Without self-approval, a new approval asks another person about it. */
  input?: unknown;
  /** `inputHash` of the approval that the person saw. Required for ALLOW and RETRY; HASH_MISMATCH if it does not match. */
  inputHash?: string | null | undefined;
  /** Reason, at most 4,000 characters. The model reads the note of a denial. */
  note?: string | null | undefined;
  /** New limits for the present period, with ALLOW of a BUDGET. Those of `BudgetQuestion.raiseTo` if omitted. INVALID if several people must allow them. */
  raiseTo?: RaiseToInput | null | undefined;
  /** Result of the call for the model to read. Required for DONE, and only allowed there. At most 16,000 characters. */
  result?: string | null | undefined;
  /** Values of the form by field, with ALLOW of a TOOL_INPUT: an object, such as `{ "city": "Bonn" }`. A field that is left out has its default; null leaves an optional field empty. Each wrong field is an error of its own with the path `["values", FIELD]`. */
  values?: unknown;
};

/** Input of `deleteAgent`. */
export type DeleteAgentInput = {
  /** `id` of the first agent of a tree. */
  agentId: string | number;
};

/** Input of `deleteSchedule`. */
export type DeleteScheduleInput = {
  /** `id` of the schedule. */
  scheduleId: string | number;
};

/** Reason why a turn ended. */
export type DoneReason =
  /** The next step does not fit into a budget: a BUDGET_STOPPED event names it. */
  | 'BUDGET'
  /** The model completed its answer. */
  | 'COMPLETED'
  /** The turn failed: an ERROR event gives the cause. */
  | 'ERROR'
  /** A person or program interrupted the turn. */
  | 'INTERRUPTED'
  /** The turn reached the maximum number of steps of its template. */
  | 'MAX_STEPS'
  /** The last answer does not have the form of its schema: `detail` gives the cause. */
  | 'SHAPE';

/** Input of `endSession`. */
export type EndSessionInput = {
  /** `id` of the session. */
  sessionId: string | number;
};

/** Severity of an error. */
export type ErrorSeverity =
  /** Data was lost, or the database was unavailable. */
  | 'CRITICAL'
  /** An operation failed. */
  | 'ERROR'
  /** Information, for example that a provider asks to wait. */
  | 'INFO'
  /** The agent continues, with restrictions. */
  | 'WARN';

/** Kind of event. New kinds may be added: clients must ignore unknown ones. */
export type EventKind =
  /** Tenant event: an access token was created. */
  | 'ACCESS_TOKEN_CREATED'
  /** Tenant event: an access token was revoked. */
  | 'ACCESS_TOKEN_REVOKED'
  /** The agent was archived and accepts no messages. */
  | 'AGENT_ARCHIVED'
  /** An agent was created. */
  | 'AGENT_CREATED'
  /** Tenant event: an administrator deleted an agent, with those below it. */
  | 'AGENT_DELETED'
  /** The title of the agent changed. */
  | 'AGENT_RENAMED'
  /** The agent continues after its server stopped. */
  | 'AGENT_RESUMED'
  /** An agent that this one started has ended its task. */
  | 'AGENT_RETURNED'
  /** The agent started another one. Its events follow. */
  | 'AGENT_SPAWNED'
  /** The agent was restored from the archive and accepts messages. */
  | 'AGENT_UNARCHIVED'
  /** Tenant event: a stored rule was revoked. */
  | 'ALLOW_RULE_REVOKED'
  /** Tenant event: an allow rule was stored. */
  | 'ALLOW_RULE_STORED'
  /** The agent reached another stage of its turn. */
  | 'BREAKPOINT_CHANGED'
  /** A step of the agent does not fit into a budget: a person is asked to raise it. */
  | 'BUDGET_ASKED'
  /** A person raised a budget of the agent for its present period. */
  | 'BUDGET_RAISED'
  /** Tenant event: an administrator revoked a budget. */
  | 'BUDGET_REVOKED'
  /** Tenant event: an administrator set a budget. */
  | 'BUDGET_SET'
  /** A turn of the agent ends, since its next step does not fit into a budget. */
  | 'BUDGET_STOPPED'
  /** A budget of the agent is nearly spent, or counts no money of its model. */
  | 'BUDGET_WARNED'
  /** Tenant event: a server started with a configuration that grants other rights than the last known one. */
  | 'CONFIGURATION_CHANGED'
  /** A compaction of the agent's context window starts or ends. */
  | 'CONTEXT_COMPRESSION'
  /** Tenant event: a delegation was revoked, or its time ended. */
  | 'DELEGATION_ENDED'
  /** Tenant event: a delegation started. */
  | 'DELEGATION_STARTED'
  /** A turn ended. */
  | 'DONE'
  /** A problem that operators should see. */
  | 'ERROR'
  /** A call was interrupted, cancelled or sealed. */
  | 'EXECUTION_ABORTED'
  /** A call ended with a result. */
  | 'EXECUTION_COMPLETED'
  /** A call was refused or failed. */
  | 'EXECUTION_FAILED'
  /** A call enters the gate. EXECUTION and STAGE events exist only for templates with `trace`. */
  | 'EXECUTION_STARTED'
  /** Tenant event: an actor asked for an export. */
  | 'EXPORT_CREATED'
  /** Tenant event: an export is complete, has failed, or was cancelled. */
  | 'EXPORT_ENDED'
  /** Files known to the agent were changed by something other than its file tools. */
  | 'FILE_CHANGED'
  /** An interrupt of the running turn was requested. */
  | 'INTERRUPT_REQUESTED'
  /** Memory of a template's agents changed: by a call of the agent, or by a person. */
  | 'MEMORY_CHANGED'
  /** A person or program sent a message. */
  | 'MESSAGE_RECEIVED'
  /** A queued message was withdrawn. */
  | 'MESSAGE_WITHDRAWN'
  /** An approval was closed without a final decision. */
  | 'PERMISSION_CLOSED'
  /** A person decided. */
  | 'PERMISSION_DECIDED'
  /** A person must decide. */
  | 'PERMISSION_REQUIRED'
  /** A reminder was sent to the agent. */
  | 'REMINDER_SENT'
  /** A schedule sent its reminder. */
  | 'SCHEDULER_TRIGGERED'
  /** A schedule was created, paused, resumed or deleted, or it is over. */
  | 'SCHEDULE_CHANGED'
  /** A background shell ended. */
  | 'SHELL_ENDED'
  /** A call started a background shell. */
  | 'SHELL_STARTED'
  /** The viewer has snoozed an approval, or ended the snooze. Only this person receives it, and only if `kinds` names it. */
  | 'SNOOZE_CHANGED'
  /** A call completed a stage of the gate. */
  | 'STAGE_COMPLETED'
  /** A call enters a stage of the gate. */
  | 'STAGE_STARTED'
  /** The state of the agent changed. */
  | 'STATE_CHANGED'
  /** A model call is complete. */
  | 'STEP_COMPLETE'
  /** The database was unavailable, and is available again. */
  | 'STORAGE_FAILURE'
  /** A turn begins with another version of the agent's template. */
  | 'TEMPLATE_CHANGED'
  /** A piece of a block of text. */
  | 'TEXT_CHUNK'
  /** A block of text is complete, or was aborted. */
  | 'TEXT_CHUNK_END'
  /** A block of text starts. */
  | 'TEXT_CHUNK_START'
  /** A piece of a block of thinking. */
  | 'THINK_CHUNK'
  /** A block of thinking is complete, or was aborted. */
  | 'THINK_CHUNK_END'
  /** A block of thinking starts. */
  | 'THINK_CHUNK_START'
  /** The todo list of the agent changed. */
  | 'TODO_CHANGED'
  /** The agent is reminded of its todo list. */
  | 'TODO_REMINDER'
  /** Tokens and cost of a model call. */
  | 'TOKEN_USAGE'
  /** Tenant event: an administrator accepted the definition of an MCP server's tool. */
  | 'TOOL_ACCEPTED'
  /** The cancellation of a tool call was requested. */
  | 'TOOL_CANCEL_REQUESTED'
  /** A custom event emitted by a tool. */
  | 'TOOL_CUSTOM_EVENT'
  /** A tool call reached its final state. */
  | 'TOOL_END'
  /** A tool call ended with an error. */
  | 'TOOL_ERROR'
  /** Audit record of a tool call in its final state. */
  | 'TOOL_EXECUTED'
  /** The agent was told of changed sections of its tools manual. */
  | 'TOOL_MANUAL_UPDATED'
  /** A tool call starts to run. */
  | 'TOOL_START'
  /** The result of a tool call comes later. */
  | 'TOOL_WAITING'
  /** A retry of the last turn was requested. */
  | 'TURN_RETRY_REQUESTED';

/** Form of the file of an export, in UTF-8. */
export type ExportFormat =
  /** RFC 4180 with a byte order mark and a line of names. A text that a spreadsheet would read as a formula begins with an apostrophe. */
  | 'CSV'
  /** A JSON object a line. Texts are exact. */
  | 'NDJSON';

/** State of an export. */
export type ExportState =
  /** Somebody cancelled it, and its file is gone. */
  | 'CANCELLED'
  /** The file is complete. */
  | 'DONE'
  /** It ended without a file: `problem` says why. */
  | 'FAILED'
  /** The servers make its file. */
  | 'RUNNING';

/** Rows of an export. Its columns are those of the SQL view of the same name. */
export type ExportSubject =
  /** Approvals that are closed: `bi.approval`. Each comes once, at its decision or end. Its state is that of the moment of reading: ALLOWED may have become STALE. */
  | 'APPROVALS'
  /** Decisions of people on approvals, each from the time of the decision: `bi.decision`. */
  | 'DECISIONS'
  /** Events of the log: `bi.event`. */
  | 'EVENTS'
  /** Messages of turns that have ended, and withdrawn ones, without copies that forks have: `bi.message`. */
  | 'MESSAGES'
  /** Steps of turns that have ended, without copies that forks have: `bi.step`. */
  | 'STEPS'
  /** Tool calls in a final state, without copies that forks have: `bi.tool_call`. */
  | 'TOOL_CALLS'
  /** Turns that have a step and have ended: `bi.turn`. */
  | 'TURNS';

/** How a call accessed a file. */
export type FileAccess =
  /** The call read the file. */
  | 'READ'
  /** The call wrote the file. */
  | 'WRITTEN';

/** A change of a known file by something other than the file tools of its agent. */
export type FileChangeKind =
  /** The content changed. */
  | 'CHANGED'
  /** The file exists again after it was removed. */
  | 'MADE_AGAIN'
  /** The file was removed. */
  | 'REMOVED';

/** Input of `forkAgent`. */
export type ForkAgentInput = {
  /** `id` of the agent to fork. */
  agentId: string | number;
  /** Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same agent. IDEMPOTENCY_KEY_REUSED for another input. */
  idempotencyKey?: string | null | undefined;
  /** Last message that both agents share, one of `Agent.forkPoints`. The newest fork point if omitted. INVALID if the agent cannot be forked there. */
  messageId?: string | number | null | undefined;
};

/** Kind of value that a field of a form takes. */
export type FormFieldKind =
  /** true or false. */
  | 'BOOLEAN'
  /** The value of one of the options. */
  | 'CHOICE'
  /** A list of values of options, each once. */
  | 'CHOICES'
  /** A whole number. */
  | 'INTEGER'
  /** A number. */
  | 'NUMBER'
  /** A text. */
  | 'TEXT';

/** Format of a text in a form. */
export type FormFormat =
  /** A date, such as `2026-01-31`. */
  | 'DATE'
  /** A time with its zone, such as `2026-01-31T12:00:00Z`. */
  | 'DATE_TIME'
  /** An email address, such as `anna@example.com`. */
  | 'EMAIL'
  /** A URI with its scheme, such as `https://example.com`. */
  | 'URI';

/** Stage of the gate. Every tool call passes these stages in this order. */
export type GateStage =
  /** Waits for the approval of exactly this input, if the verdict is ASK. */
  | 'CONFIRMATION'
  /** Finds the tool and checks that the agent has it. */
  | 'DISCOVERY'
  /** Runs the tool. */
  | 'EXECUTION'
  /** Turns the answer of the tool into text for the model and JSON for programs. */
  | 'FORMATTING'
  /** Evaluates rules, lists, the mode and hooks. */
  | 'PERMISSION'
  /** Checks the arguments against the input schema of the tool. */
  | 'VALIDATION';

/** An image for the model. */
export type ImageInput = {
  /** The file in base64, with padding and without line breaks. At most 3.75 MB before encoding, and 8,000 pixels a side. */
  data: string;
  /** File type of the image. INVALID if the data has another type. */
  mediaType: ImageType;
};

/** Image formats that models read. */
export type ImageType =
  /** GIF. */
  | 'GIF'
  /** JPEG. */
  | 'JPEG'
  /** PNG. */
  | 'PNG'
  /** WebP. */
  | 'WEBP';

/** Input of `interruptAgent`. */
export type InterruptAgentInput = {
  /** `id` of the agent. */
  agentId: string | number;
  /** Reason, at most 4,000 characters. The model reads it. */
  note?: string | null | undefined;
  /** True to interrupt all agents below it as well, also those that it started in the background. */
  tree?: boolean | null | undefined;
};

/** State of the connection to an MCP server. */
export type McpServerState =
  /** Its tools are unavailable. It is tried again. */
  | 'AWAY'
  /** Its tools can be called. */
  | 'CONNECTED'
  /** The configuration leaves it out. */
  | 'DISABLED'
  /** It has not answered yet. */
  | 'STARTING';

/** Transport between Triplane and an MCP server. */
export type McpTransport =
  /** Streamable HTTP. */
  | 'HTTP'
  /** The older HTTP with server-sent events. */
  | 'SSE'
  /** A process of its own. */
  | 'STDIO';

/** Author of a message. */
export type MessageKind =
  /** The model. */
  | 'ASSISTANT'
  /** A person, a program, a tool or a schedule, with a reminder. */
  | 'REMINDER'
  /** The results of the tool calls of an answer. */
  | 'TOOL_RESULTS'
  /** A person or program, or a note of the server to the model. */
  | 'USER';

/** Policy for missed times: no server ran, or the last reminder still waited. */
export type MissedPolicy =
  /** A reminder for each, at most 10; the older ones are counted. */
  | 'ALL'
  /** One reminder for all of them. Its text says how many were missed. */
  | 'ONCE'
  /** They have no reminder. A time that is more than a minute late is skipped as well. */
  | 'SKIP';

/** Kind of a failed model call. */
export type ModelErrorKind =
  /** The answer broke off. */
  | 'BROKEN'
  /** The answer is empty. */
  | 'EMPTY'
  /** The provider is overloaded. */
  | 'OVERLOADED'
  /** The provider limits requests. */
  | 'RATE_LIMITED'
  /** The model refuses to answer. */
  | 'REFUSED'
  /** The provider rejects the request. */
  | 'REJECTED'
  /** The answer stopped for longer than `modelIdleMs`. */
  | 'SILENT'
  /** The context window is full. */
  | 'TOO_LONG'
  /** The provider cannot be reached, or has an error of its own. */
  | 'UNAVAILABLE';

/** Subject of a notice. */
export type NoticeSource =
  /** The end of an agent that works in the background. */
  | 'CHILD'
  /** A change of a known file by something else. */
  | 'FILE'
  /** The answer to a program in the background that asked for a host. */
  | 'HOST'
  /** The end of an interrupted agent, whose call has ended already. */
  | 'INTERRUPTED_CHILD'
  /** The memories of the agent. */
  | 'MEMORY'
  /** The end of a background shell. */
  | 'SHELL'
  /** A reminder of todos. */
  | 'TODO'
  /** A tool that came, went or changed. */
  | 'TOOL';

/** Sort direction. */
export type OrderDirection =
  /** Smallest or oldest first. */
  | 'ASC'
  /** Largest or newest first. */
  | 'DESC';

/** Input of `pauseSchedule`. */
export type PauseScheduleInput = {
  /** `id` of the schedule. */
  scheduleId: string | number;
};

/** A permission block, as in the configuration. See docs/permissions.md. */
export type PermissionInput = {
  /** Rules. Matching calls run without asking, unless they are denied. */
  allow?: Array<string> | null | undefined;
  /** Names of tools. If given, all other tools are denied. */
  allowTools?: Array<string> | null | undefined;
  /** Rules. Matching calls need approval, unless they are denied or allowed. */
  ask?: Array<string> | null | undefined;
  /** Names of tools that run without asking, unless they are denied, if the agent's programs run in a sandbox. */
  autoAllowInBox?: Array<string> | null | undefined;
  /** Names of tools that run without asking, unless they are denied. */
  autoAllowTools?: Array<string> | null | undefined;
  /** Rules such as `fs_read(path:.env)`. Matching calls are denied. */
  deny?: Array<string> | null | undefined;
  /** Names of tools that are denied. */
  denyTools?: Array<string> | null | undefined;
  /** Verdict on calls that no rule or list decides: `auto`, `approval` (or `ask`), `readonly`, `deny`, `default`, or a mode of the configuration. If omitted: `auto` with TIGHTEN, else `default`. */
  mode?: string | null | undefined;
  /** True to run command lines without asking if they are known to only read. False if omitted. */
  readOnlyCommands?: boolean | null | undefined;
  /** Names of tools that need approval, unless they are denied or allowed. */
  requireApprovalTools?: Array<string> | null | undefined;
};

/** How an agent's own permission block combines with that of its template. */
export type PermissionScope =
  /** Only the agent's own block applies. Needs the role admin. */
  | 'REPLACE'
  /** Both apply, and the stricter verdict wins. */
  | 'TIGHTEN';

/** Verdict of a rule, a list, a mode or a hook on a call. */
export type PermissionVerdict =
  /** The call may run. */
  | 'ALLOW'
  /** A person must decide. */
  | 'ASK'
  /** The call must not run. */
  | 'DENY';

/** Limits to which a budget is raised for its present period. */
export type RaiseToInput = {
  /** Tokens, a whole number, at least the present limit. It stays if omitted. */
  tokens?: number | null | undefined;
  /** US dollars, at least the present limit. It stays if omitted. */
  usd?: number | null | undefined;
};

/** Input of `renameAgent`. */
export type RenameAgentInput = {
  /** `id` of the agent. */
  agentId: string | number;
  /** New title, one line of at most 200 characters. Omitted or empty removes the title. */
  title?: string | null | undefined;
};

/** Input of `resumeSchedule`. */
export type ResumeScheduleInput = {
  /** `id` of the schedule. */
  scheduleId: string | number;
};

/** Input of `retryMcpServer`. */
export type RetryMcpServerInput = {
  /** Name of the MCP server, for example `github`. */
  name: string;
};

/** Input of `retryTurn`. */
export type RetryTurnInput = {
  /** `id` of the agent. */
  agentId: string | number;
  /** Key of 1 to 200 characters, kept for 30 days. Repeating the request does not start another retry. */
  idempotencyKey?: string | null | undefined;
};

/** Input of `revokeAccessToken`. */
export type RevokeAccessTokenInput = {
  /** `id` of the token. */
  accessTokenId: string | number;
};

/** Input of `revokeAllowRule`. */
export type RevokeAllowRuleInput = {
  /** `id` of the rule. */
  allowRuleId: string | number;
};

/** Risk of a call. */
export type Risk =
  /** Its changes may destroy data. */
  | 'HIGH'
  /** It only reads. */
  | 'LOW'
  /** It makes changes that can be seen and repaired. */
  | 'MEDIUM';

/** Rights of an actor. The rights of several roles add up. */
export type Role =
  /** May do everything in the tenant. */
  | 'ADMIN'
  /** Reads the tenant and decides on approvals. */
  | 'APPROVER'
  /** Creates agents. Reads, messages and interrupts their own agents. */
  | 'USER'
  /** Reads the tenant and changes nothing. */
  | 'VIEWER';

/** List of a permission block. */
export type RuleList =
  /** Matching calls run, and matching hosts are reached, without asking. */
  | 'ALLOW'
  /** Matching calls need approval. */
  | 'ASK'
  /** Matching calls and hosts are denied. */
  | 'DENY';

/** Kind of the condition under which a schedule sends its reminder. */
export type SchedulerTrigger =
  /** A wall clock in a time zone. */
  | 'CRON'
  /** Changed files of the workspace, while the agent is idle. */
  | 'FILES'
  /** Elapsed time. */
  | 'INTERVAL'
  /** A number of steps of the agent. */
  | 'STEPS'
  /** A time. */
  | 'TIME';

/** Input of `sendMessage`. */
export type SendMessageInput = {
  /** `id` of the agent. */
  agentId: string | number;
  /** Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same message. IDEMPOTENCY_KEY_REUSED for another input. */
  idempotencyKey?: string | null | undefined;
  /** Images, at most 20 and 5 MB in total. The model reads them before the text. */
  images?: Array<ImageInput> | null | undefined;
  /** JSON Schema of the answer that ends the turn, with `type: object`, at most 64 KB. INVALID names its first problem. The template's if omitted. Of several messages of a turn, the newest schema applies. */
  outputSchema?: unknown;
  /** Text of the message, at most 1 MB. May be empty if there are images. */
  text: string;
};

/** Filter for sessions. All given conditions must match. */
export type SessionFilter = {
  /** True for active ones only, false for ended ones only. */
  isActive?: boolean | null | undefined;
};

/** State of a background shell. */
export type ShellState =
  /** Final: it has ended. */
  | 'ENDED'
  /** It is running, as far as known: its server may have stopped since. */
  | 'RUNNING';

/** Filter for recorded calls. All given conditions must match. */
export type SimulationFilter = {
  /** Calls of one of these agents. */
  agentIds?: Array<string | number> | null | undefined;
  /** Calls requested by the model in this time range. */
  created?: TimeRangeInput | null | undefined;
  /** Calls of agents of one of these templates, given by `templateId`. */
  templateIds?: Array<string | number> | null | undefined;
  /** Calls of one of these tools. */
  tools?: Array<string> | null | undefined;
};

/** Input of `snoozeApproval`. */
export type SnoozeApprovalInput = {
  /** `id` of the approval. */
  approvalId: string | number;
  /** Time at which it returns, at most 90 days from now. If omitted, it returns when the approval changes. */
  until?: string | null | undefined;
};

/** Filter for steps. All given conditions must match. */
export type StepFilter = {
  /** Steps of one of these agents. */
  agentIds?: Array<string | number> | null | undefined;
  /** Steps whose model call failed in one of these ways. */
  errorTypes?: Array<ModelErrorKind> | null | undefined;
  /** True for unpriced steps only, false for the others. */
  isUnpriced?: boolean | null | undefined;
  /** Steps of one of these models, by name. */
  models?: Array<string> | null | undefined;
  /** Steps requested by one of these actors, given by `ActorRef.id` or `actorId`: see `Step.requestedBy`. */
  requestedBy?: Array<string | number> | null | undefined;
  /** Steps in the trees of these agents: their own, and those of agents below them. */
  rootAgentIds?: Array<string | number> | null | undefined;
  /** Steps that started in this time range. */
  started?: TimeRangeInput | null | undefined;
  /** Steps in one of these states. */
  states?: Array<StepState> | null | undefined;
  /** Steps with one of these stop reasons, for example `max_tokens`. */
  stopReasons?: Array<string> | null | undefined;
  /** Steps of agents of one of these templates, given by `templateId`. */
  templateIds?: Array<string | number> | null | undefined;
};

/** State of a step. */
export type StepState =
  /** The model call ended without an answer: it failed, or was interrupted. */
  | 'ABORTED'
  /** The model has answered. */
  | 'COMPLETED'
  /** The model call is under way. */
  | 'STARTED';

/** A half-open range of time: `from` is included, `to` is not. Consecutive ranges do not overlap. */
export type TimeRangeInput = {
  /** First moment of the range. Unbounded if omitted. */
  from?: string | null | undefined;
  /** First moment after the range. Unbounded if omitted. */
  to?: string | null | undefined;
};

/** State of a todo entry. */
export type TodoStatus =
  /** Done. */
  | 'COMPLETED'
  /** In progress. */
  | 'IN_PROGRESS'
  /** Not started. */
  | 'PENDING';

/** Reason why a call was refused or failed. */
export type ToolCallErrorType =
  /** The call was interrupted, cancelled or sealed, or the model's answer was incomplete. */
  | 'ABORTED'
  /** The approval expired before a person decided. */
  | 'APPROVAL_EXPIRED'
  /** The agent does not have this tool, or it is unavailable at present. */
  | 'DISABLED'
  /** The tool failed. */
  | 'EXECUTION_FAILED'
  /** The arguments do not match the input schema of the tool. */
  | 'INVALID_PARAMS'
  /** No tool has this name. */
  | 'NOT_FOUND'
  /** A rule, a list, the mode or a hook denied the call. */
  | 'PERMISSION_DENIED'
  /** The tool exceeded its time limit. */
  | 'TIMEOUT'
  /** All tool slots of the server are in use. */
  | 'TOOL_BUSY'
  /** A person denied the call. */
  | 'USER_REJECTED';

/** Filter for tool calls. All given conditions must match. */
export type ToolCallFilter = {
  /** Calls of one of these agents. */
  agentIds?: Array<string | number> | null | undefined;
  /** Calls requested by the model in this time range. */
  created?: TimeRangeInput | null | undefined;
  /** Calls of agents created by one of these actors, given by `ActorRef.id` or `actorId`. */
  createdBy?: Array<string | number> | null | undefined;
  /** Calls with a decision by one of these actors, given by `ActorRef.id` or `actorId`. */
  decidedBy?: Array<string | number> | null | undefined;
  /** Calls that were refused or failed with one of these error types. */
  errorTypes?: Array<ToolCallErrorType> | null | undefined;
  /** Shell calls that ended with one of these exit codes. */
  exitCodes?: Array<number> | null | undefined;
  /** Calls that asked to reach one of these hosts, by name without a port. */
  hosts?: Array<string> | null | undefined;
  /** Calls whose `durationMs` is at least this value. */
  minDurationMs?: number | null | undefined;
  /** Calls requested by one of these models, by the names that `Step.model` has. */
  models?: Array<string> | null | undefined;
  /** Calls decided at one of these places, as in `explanation.place`. For rules of the configuration see `Template.permission.rules`; for stored rules `AllowRule.place`. */
  places?: Array<string> | null | undefined;
  /** Calls decided by one of these rules, as in `explanation.rule`. */
  rules?: Array<string> | null | undefined;
  /** Calls in one of these states. */
  states?: Array<ToolCallState> | null | undefined;
  /** Calls of agents of one of these templates, given by `templateId`. */
  templateIds?: Array<string | number> | null | undefined;
  /** Calls of one of these tools. */
  tools?: Array<string> | null | undefined;
  /** Calls with one of these verdicts. */
  verdicts?: Array<PermissionVerdict> | null | undefined;
};

/** State of a tool call. */
export type ToolCallState =
  /** A person must decide on the call, or report its outcome. */
  | 'APPROVAL_REQUIRED'
  /** A person allowed the call, and it has not started. */
  | 'APPROVED'
  /** Final: the call has its result. */
  | 'COMPLETED'
  /** Final: a rule, a hook or a person denied the call, or its approval expired. */
  | 'DENIED'
  /** The call is running, or was running when its server stopped. */
  | 'EXECUTING'
  /** Final: the call could not run, was cancelled, or ended with an error. */
  | 'FAILED'
  /** The model requested the call. */
  | 'PENDING'
  /** Final: the call was closed without a result of its own, because its turn ended or its outcome is unknown. */
  | 'SEALED'
  /** The tool has answered that the result comes later: `completeToolCall` gives it. */
  | 'WAITING';

/** Filter for turns. All given conditions must match. */
export type TurnFilter = {
  /** Turns of one of these agents. */
  agentIds?: Array<string | number> | null | undefined;
  /** Turns whose last model call failed in one of these ways. */
  errorTypes?: Array<ModelErrorKind> | null | undefined;
  /** True for turns that have not ended, false for those that have. */
  isOpen?: boolean | null | undefined;
  /** True for turns with unpriced steps only, false for the others. */
  isUnpriced?: boolean | null | undefined;
  /** Turns with one of these models in their first step, by name. */
  models?: Array<string> | null | undefined;
  /** Turns that ended for one of these reasons. */
  reasons?: Array<DoneReason> | null | undefined;
  /** Turns requested by one of these actors, given by `ActorRef.id` or `actorId`: see `Turn.requestedBy`. */
  requestedBy?: Array<string | number> | null | undefined;
  /** Turns in the trees of these agents: their own, and those of agents below them. */
  rootAgentIds?: Array<string | number> | null | undefined;
  /** Turns that started in this time range. */
  started?: TimeRangeInput | null | undefined;
  /** Turns of agents of one of these templates, given by `templateId`. */
  templateIds?: Array<string | number> | null | undefined;
};

/** Sort order for steps and turns. */
export type TurnOrder = {
  /** Sort direction. */
  direction: OrderDirection;
  /** Sort key. */
  field: TurnOrderField;
};

/** Sort key for steps and turns. */
export type TurnOrderField =
  /** Cost. Steps without a known cost come last. */
  | 'COST'
  /** Duration. Open ones come last. */
  | 'DURATION'
  /** Start time. */
  | 'STARTED_AT';

/** Input of `unarchiveAgent`. */
export type UnarchiveAgentInput = {
  /** `id` of the agent. */
  agentId: string | number;
};

/** Reason why a mutation failed. */
export type UserErrorCode =
  /** A different decision was made earlier, and stands. */
  | 'ALREADY_DECIDED'
  /** The call has already ended. */
  | 'ALREADY_ENDED'
  /** The message has already joined the conversation. */
  | 'ALREADY_JOINED'
  /** The agent is archived and accepts no messages. */
  | 'ARCHIVED'
  /** The agent to delete, or one below it, works or has an open question. */
  | 'AT_WORK'
  /** The call has ended, and takes no result: the message names its state. */
  | 'CALL_ENDED'
  /** Agents that it started are at work: `tree` means them, too. */
  | 'CHILDREN_WORK'
  /** A compaction of the agent's context is asked for or under way. */
  | 'COMPACTING'
  /** The object has changed since it was read. Read it again. */
  | 'CONFLICT'
  /** The permission denies it, and no decision can override that. */
  | 'DENIED_BY_POLICY'
  /** The approval expired before a decision. */
  | 'EXPIRED'
  /** The viewer lacks the required role or right. */
  | 'FORBIDDEN'
  /** `inputHash` does not match the approval. Read the approval again. */
  | 'HASH_MISMATCH'
  /** The idempotency key was used with another input. */
  | 'IDEMPOTENCY_KEY_REUSED'
  /** Part of the input is invalid: see `field` and `message`. */
  | 'INVALID'
  /** The last turn did not end with ERROR, INTERRUPTED, SHAPE or BUDGET, or a turn is running. */
  | 'NOTHING_TO_RETRY'
  /** The agent to delete, or one below it, is not archived. */
  | 'NOT_ARCHIVED'
  /** The object does not exist, or the viewer may not see it. */
  | 'NOT_FOUND'
  /** The call does not wait for a result from elsewhere, or not yet. */
  | 'NOT_WAITING'
  /** Too many messages are queued for the agent. Retry later. */
  | 'QUEUE_FULL'
  /** The turn ended: the decision is no longer needed. */
  | 'SEALED'
  /** The viewer, or the actor who delegates to them, asked for it and may not decide. */
  | 'SELF_APPROVAL'
  /** The action has changed: a newer approval replaces this one. */
  | 'STALE'
  /** Part of the input is too large, or a limit is reached. */
  | 'TOO_LARGE'
  /** The database did not answer, so the outcome is unknown. Send the decision again. */
  | 'UNAVAILABLE';

/** Input of `wakeApproval`. */
export type WakeApprovalInput = {
  /** `id` of the approval. */
  approvalId: string | number;
};

export type TokensQueryVariables = Exact<{
  filter: AccessTokenFilter;
  after?: string | null | undefined;
}>;


export type TokensQuery = { accessTokens: { totalCount: number, nodes: Array<{ id: string, name: string, roles: Array<Role>, createdAt: string, expiresAt: string, lastUsedAt: string | null, revokedAt: string | null, owner: { id: string, actorId: string, name: string | null, kind: ActorKind } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type SessionsQueryVariables = Exact<{
  filter: SessionFilter;
  after?: string | null | undefined;
}>;


export type SessionsQuery = { sessions: { totalCount: number, nodes: Array<{ id: string, createdAt: string, lastUsedAt: string, expiresAt: string, endedAt: string | null, userAgent: string | null, viewerIsHere: boolean, owner: { id: string, actorId: string, name: string | null, kind: ActorKind } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type CreateTokenMutationVariables = Exact<{
  input: CreateAccessTokenInput;
}>;


export type CreateTokenMutation = { createAccessToken: { secret: string | null, accessToken: { id: string } | null, userErrors: Array<{ code: UserErrorCode, field: Array<string> | null, message: string }> } };

export type RevokeTokenMutationVariables = Exact<{
  input: RevokeAccessTokenInput;
}>;


export type RevokeTokenMutation = { revokeAccessToken: { accessToken: { id: string, revokedAt: string | null } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type EndSessionMutationVariables = Exact<{
  input: EndSessionInput;
}>;


export type EndSessionMutation = { endSession: { session: { id: string, endedAt: string | null } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type AgentRowFragment = { id: string, shortId: string, title: string | null, state: AgentState, breakpoint: Breakpoint, waitingFor: string | null, childCount: number, doneReason: DoneReason | null, depth: number, createdAt: string, lastActivityAt: string, archivedAt: string | null, model: string, workspace: string, awaited: Array<{ id: string, kind: AwaitedKind, name: string }>, template: { id: string, templateId: string }, createdBy: { id: string, actorId: string, name: string | null, kind: ActorKind }, treeUsage: { costUsd: number | null, totalTokens: number } };

export type AgentsQueryVariables = Exact<{
  filter: AgentFilter;
  after?: string | null | undefined;
}>;


export type AgentsQuery = { agents: { totalCount: number, asOf: string, nodes: Array<{ id: string, shortId: string, title: string | null, state: AgentState, breakpoint: Breakpoint, waitingFor: string | null, childCount: number, doneReason: DoneReason | null, depth: number, createdAt: string, lastActivityAt: string, archivedAt: string | null, model: string, workspace: string, awaited: Array<{ id: string, kind: AwaitedKind, name: string }>, template: { id: string, templateId: string }, createdBy: { id: string, actorId: string, name: string | null, kind: ActorKind }, treeUsage: { costUsd: number | null, totalTokens: number } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type AgentChangesSubscriptionVariables = Exact<{
  since?: string | null | undefined;
}>;


export type AgentChangesSubscription = { timeline: { cursor: string, caughtUp: boolean, outage: { since: string, bufferedEvents: number } | null, events: Array<
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
      | { cursor: string, kind: EventKind, timestamp: string, agent: { id: string } | null }
    > } };

export type AgentRowsQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;


export type AgentRowsQuery = { nodes: Array<
    | { id: string, shortId: string, title: string | null, state: AgentState, breakpoint: Breakpoint, waitingFor: string | null, childCount: number, doneReason: DoneReason | null, depth: number, createdAt: string, lastActivityAt: string, archivedAt: string | null, model: string, workspace: string, awaited: Array<{ id: string, kind: AwaitedKind, name: string }>, template: { id: string, templateId: string }, createdBy: { id: string, actorId: string, name: string | null, kind: ActorKind }, treeUsage: { costUsd: number | null, totalTokens: number } }
    | Record<PropertyKey, never>
   | null> };

export type AgentPageQueryVariables = Exact<{
  id: string | number;
}>;


export type AgentPageQuery = { agent: { turn: number, stepCount: number, forkedAt: number | null, lineage: Array<string>, id: string, shortId: string, title: string | null, state: AgentState, breakpoint: Breakpoint, waitingFor: string | null, childCount: number, doneReason: DoneReason | null, depth: number, createdAt: string, lastActivityAt: string, archivedAt: string | null, model: string, workspace: string, parent: { id: string, title: string | null, template: { id: string, templateId: string } } | null, context: { tokens: number | null, window: number | null, compactedAt: string | null }, usage: { costUsd: number | null, totalTokens: number, inputTokens: number, outputTokens: number, cachedShare: number | null }, children: Array<{ id: string, title: string | null, state: AgentState, waitingFor: string | null, doneReason: DoneReason | null, template: { id: string, templateId: string } }>, todos: Array<{ todoId: string, title: string | null, status: TodoStatus, notes: string | null }>, knownFiles: { nodes: Array<{ path: string | null, access: FileAccess, change: FileChangeKind | null, at: string }> }, shells: Array<{ shellId: string, command: string | null, state: ShellState, startedAt: string, endedAt: string | null, exitCode: number | null }>, budgets: Array<{ limitUsd: number | null, spentUsd: number, limitTokens: number | null, spentTokens: number, windowEndsAt: string | null, budget: { id: string, per: BudgetPer, window: BudgetWindow } }>, pendingApprovals: Array<{ id: string }>, schedules: Array<{ id: string, spec: string, text: string, nextAt: string | null, nextStep: number | null, pausedAt: string | null, lastTriggeredAt: string | null, triggerCount: number }>, notices: { totalCount: number }, awaited: Array<{ id: string, kind: AwaitedKind, name: string }>, template: { id: string, templateId: string }, createdBy: { id: string, actorId: string, name: string | null, kind: ActorKind }, treeUsage: { costUsd: number | null, totalTokens: number } } | null };

export type ForkPointsQueryVariables = Exact<{
  id: string | number;
  after?: string | null | undefined;
}>;


export type ForkPointsQuery = { agent: { forkPoints: { totalCount: number, nodes: Array<{ messageId: string, index: number, createdAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type MessagesOfForkPointsQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;


export type MessagesOfForkPointsQuery = { nodes: Array<
    | { id: string, kind: MessageKind, text: string | null, sentBy: { id: string, actorId: string, name: string | null, kind: ActorKind } | null }
    | Record<PropertyKey, never>
   | null> };

export type ContextAtQueryVariables = Exact<{
  id: string | number;
  step: number;
  after?: string | null | undefined;
}>;


export type ContextAtQuery = { agent: { contextAt: { step: number, turn: number, model: string, system: string | null, tools: unknown, settings: unknown, isProved: boolean, hash: string | null, missing: Array<ContextPart>, messages: { totalCount: number, nodes: Array<{ index: number, role: string, content: unknown }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null } | null };

export type ForkMutationVariables = Exact<{
  input: ForkAgentInput;
}>;


export type ForkMutation = { forkAgent: { agent: { id: string } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type PauseScheduleMutationVariables = Exact<{
  input: PauseScheduleInput;
}>;


export type PauseScheduleMutation = { pauseSchedule: { userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type ResumeScheduleMutationVariables = Exact<{
  input: ResumeScheduleInput;
}>;


export type ResumeScheduleMutation = { resumeSchedule: { userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type DeleteScheduleMutationVariables = Exact<{
  input: DeleteScheduleInput;
}>;


export type DeleteScheduleMutation = { deleteSchedule: { userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type CallDetailsQueryVariables = Exact<{
  callId: string | number;
}>;


export type CallDetailsQuery = { toolCall: { id: string, callId: string, name: string, state: ToolCallState, step: number, turn: number, attempt: number, createdAt: string, startedAt: string | null, completedAt: string | null, durationMs: number | null, input: unknown, requestedInput: unknown, output: string | null, isError: boolean, error: { type: ToolCallErrorType, message: string | null, recommendations: Array<string> } | null, keptOutput: { bytes: number, isWhole: boolean } | null, images: Array<{ mediaType: ImageType, bytes: number, isRemoved: boolean, viewerUrl: string }>, stages: Array<{ stage: GateStage, durationMs: number }>, explanation: { verdict: PermissionVerdict, rule: string, place: string, reason: string } | null, auditTrail: Array<{ state: ToolCallState, timestamp: string, note: string | null, by: { id: string, actorId: string, name: string | null, kind: ActorKind } | null }> } | null };

export type CreateAgentMutationVariables = Exact<{
  input: CreateAgentInput;
}>;


export type CreateAgentMutation = { createAgent: { agent: { id: string } | null, userErrors: Array<{ code: UserErrorCode, field: Array<string> | null, message: string }> } };

export type SendMessageMutationVariables = Exact<{
  input: SendMessageInput;
}>;


export type SendMessageMutation = { sendMessage: { message: { id: string } | null, userErrors: Array<{ code: UserErrorCode, field: Array<string> | null, message: string }> } };

export type InterruptMutationVariables = Exact<{
  input: InterruptAgentInput;
}>;


export type InterruptMutation = { interruptAgent: { agent: { id: string, state: AgentState } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type RetryMutationVariables = Exact<{
  input: RetryTurnInput;
}>;


export type RetryMutation = { retryTurn: { userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type CompactMutationVariables = Exact<{
  input: CompactAgentInput;
}>;


export type CompactMutation = { compactAgent: { userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type DeleteAgentMutationVariables = Exact<{
  input: DeleteAgentInput;
}>;


export type DeleteAgentMutation = { deleteAgent: { deletedAgentId: string | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type ArchiveMutationVariables = Exact<{
  input: ArchiveAgentInput;
}>;


export type ArchiveMutation = { archiveAgent: { agent: { id: string, archivedAt: string | null } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type UnarchiveMutationVariables = Exact<{
  input: UnarchiveAgentInput;
}>;


export type UnarchiveMutation = { unarchiveAgent: { agent: { id: string, archivedAt: string | null } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type RenameMutationVariables = Exact<{
  input: RenameAgentInput;
}>;


export type RenameMutation = { renameAgent: { agent: { id: string, title: string | null } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type OutputPieceQueryVariables = Exact<{
  callId: string | number;
  offset: number;
  bytes: number;
}>;


export type OutputPieceQuery = { toolCall: { id: string, keptOutput: { bytes: number, piece: { text: string, nextOffset: number | null } | null } | null } | null };

export type SharedMessagesQueryVariables = Exact<{
  id: string | number;
  after?: string | null | undefined;
}>;


export type SharedMessagesQuery = { agent: { messages: { totalCount: number, nodes: Array<{ id: string, kind: MessageKind, text: string | null, sentBy: { id: string, actorId: string, name: string | null, kind: ActorKind } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type MayCompleteQueryVariables = Exact<{
  callId: string | number;
}>;


export type MayCompleteQuery = { toolCall: { id: string, viewerCannotCompleteReason: CannotCompleteReason | null, tool: { outputSchema: unknown } | null } | null };

export type CompleteToolCallMutationVariables = Exact<{
  input: CompleteToolCallInput;
}>;


export type CompleteToolCallMutation = { completeToolCall: { toolCall: { id: string, state: ToolCallState } | null, userErrors: Array<{ code: UserErrorCode, field: Array<string> | null, message: string }> } };

export type NoticesQueryVariables = Exact<{
  id: string | number;
  after?: string | null | undefined;
}>;


export type NoticesQuery = { agent: { notices: { totalCount: number, nodes: Array<{ noticeId: string, source: NoticeSource | null, text: string, at: string, toldAtStep: number | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type FileEditsQueryVariables = Exact<{
  id: string | number;
  path: string;
  after?: string | null | undefined;
}>;


export type FileEditsQuery = { agent: { fileEdits: { totalCount: number, nodes: Array<{ id: string, name: string, turn: number, step: number, completedAt: string | null, details: unknown }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type MessageImagesQueryVariables = Exact<{
  id: string | number;
}>;


export type MessageImagesQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { erasedAt: string | null, id: string, blocks: Array<
        | { mediaType: ImageType, bytes: number, isRemoved: boolean, viewerUrl: string }
        | Record<PropertyKey, never>
      > | null }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type ChartBucketFragment = { from: string, to: string, isWhole: boolean };

export type ChartCallsQueryVariables = Exact<{
  filter: ToolCallFilter;
  bucket: BucketInput;
  from: string;
  to?: string | null | undefined;
}>;


export type ChartCallsQuery = { toolCallGroups: { asOf: string, buckets: Array<{ from: string, to: string, isWhole: boolean }>, groups: Array<{ series: Array<{ calls: number, failed: number, failureRate: number | null, durationMs: { count: number, p50: number | null, p95: number | null } }> }>, total: { calls: number, failed: number, failureRate: number | null, durationMs: { count: number, p50: number | null, p95: number | null } } } };

export type ChartVerdictsQueryVariables = Exact<{
  filter: ToolCallFilter;
  bucket: BucketInput;
  from: string;
  to?: string | null | undefined;
}>;


export type ChartVerdictsQuery = { toolCallGroups: { asOf: string, buckets: Array<{ from: string, to: string, isWhole: boolean }>, groups: Array<{ verdict: PermissionVerdict | null, figures: { calls: number }, series: Array<{ calls: number }> }> } };

export type ChartCostsQueryVariables = Exact<{
  filter: StepFilter;
  bucket: BucketInput;
  from: string;
  to?: string | null | undefined;
}>;


export type ChartCostsQuery = { models: { groupCount: number, groups: Array<{ model: string | null, series: Array<{ costUsd: number }> }> }, all: { asOf: string, buckets: Array<{ from: string, to: string, isWhole: boolean }>, groups: Array<{ series: Array<{ costUsd: number, unpricedSteps: number }> }>, total: { steps: number, costUsd: number, unpricedSteps: number } } };

export type ChartDecisionsQueryVariables = Exact<{
  filter: ApprovalFilter;
  bucket: BucketInput;
  from: string;
  to?: string | null | undefined;
}>;


export type ChartDecisionsQuery = { approvalGroups: { asOf: string, buckets: Array<{ from: string, to: string, isWhole: boolean }>, groups: Array<{ series: Array<{ decided: number, decisionMs: { p50: number | null, p95: number | null } }> }>, total: { decided: number, decisionMs: { p50: number | null, p95: number | null } } } };

export type ChartTurnsQueryVariables = Exact<{
  filter: TurnFilter;
  bucket: BucketInput;
  from: string;
  to?: string | null | undefined;
}>;


export type ChartTurnsQuery = { reasons: { groups: Array<{ reason: DoneReason | null, figures: { turns: number }, series: Array<{ turns: number }> }> }, all: { asOf: string, buckets: Array<{ from: string, to: string, isWhole: boolean }>, groups: Array<{ series: Array<{ turns: number, costUsd: number, unpricedSteps: number, durationMs: { count: number, p50: number | null, p95: number | null } }> }>, total: { turns: number, costUsd: number, unpricedSteps: number, durationMs: { count: number, p50: number | null, p95: number | null } } } };

export type AuditCallsQueryVariables = Exact<{
  filter: ToolCallFilter;
  after?: string | null | undefined;
}>;


export type AuditCallsQuery = { toolCalls: { totalCount: number, nodes: Array<{ id: string, callId: string, shortId: string, name: string, state: ToolCallState, verdict: PermissionVerdict | null, inputPreview: string | null, createdAt: string, durationMs: number | null, error: { type: ToolCallErrorType } | null, agent: { id: string, title: string | null, template: { id: string, templateId: string }, createdBy: { id: string, actorId: string, name: string | null, kind: ActorKind } } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type AuditCountsQueryVariables = Exact<{
  filter: ToolCallFilter;
}>;


export type AuditCountsQuery = { toolCallStats: { tools: Array<{ tool: string, calls: number, executed: number, meanMs: number | null, slowestMs: number | null, states: Array<{ state: ToolCallState, calls: number }> }> } };

export type AuditCallQueryVariables = Exact<{
  callId: string | number;
}>;


export type AuditCallQuery = { toolCall: { id: string, callId: string, name: string, state: ToolCallState, verdict: PermissionVerdict | null, step: number, turn: number, attempt: number, createdAt: string, startedAt: string | null, completedAt: string | null, erasedAt: string | null, durationMs: number | null, requestedInput: unknown, input: unknown, inputHash: string | null, output: string | null, images: Array<{ mediaType: ImageType, bytes: number, isRemoved: boolean, viewerUrl: string }>, error: { type: ToolCallErrorType, message: string | null } | null, agent: { id: string, title: string | null, template: { id: string, templateId: string }, createdBy: { id: string, actorId: string, name: string | null, kind: ActorKind } }, stages: Array<{ stage: GateStage, durationMs: number }>, explanation: { verdict: PermissionVerdict, rule: string, place: string, reason: string, considered: Array<{ place: string, rule: string, verdict: PermissionVerdict | null }> } | null, auditTrail: Array<{ state: ToolCallState, timestamp: string, note: string | null, by: { id: string, actorId: string, name: string | null, kind: ActorKind } | null }>, approvals: Array<{ id: string, kind: ApprovalKind, state: ApprovalState, decisions: Array<{ decision: ApprovalDecision, decidedAt: string, note: string | null, decidedBy: { id: string, actorId: string, name: string | null, kind: ActorKind }, onBehalfOf: { id: string, actorId: string, name: string | null, kind: ActorKind } | null }> }> } | null };

export type AuditDecisionsQueryVariables = Exact<{
  filter: ApprovalFilter;
  after?: string | null | undefined;
}>;


export type AuditDecisionsQuery = { approvals: { totalCount: number, nodes: Array<{ closedAt: string | null, decidedAt: string | null, decision: ApprovalDecision | null, note: string | null, isEdited: boolean, id: string, shortId: string, kind: ApprovalKind, risk: Risk, state: ApprovalState, requestedAt: string, expiresAt: string | null, quorum: number, missingDecisions: number, inputHash: string | null, hasEditedInput: boolean, meta: unknown, decidedBy: { id: string, actorId: string, name: string | null, kind: ActorKind } | null, agent: { id: string, shortId: string, title: string | null, workspace: string, template: { id: string, templateId: string } }, requestedBy: Array<{ id: string, actorId: string, name: string | null, kind: ActorKind }>, toolCall: { id: string, name: string, inputPreview: string | null, explanation: { rule: string, place: string } | null } | null, subject:
        | { budgetId: string, per: BudgetPer }
        | { host: string, port: number }
        | { server: string, message: string }
        | Record<PropertyKey, never>
       | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type AuditStepsQueryVariables = Exact<{
  filter: StepFilter;
  orderBy: TurnOrder;
  after?: string | null | undefined;
}>;


export type AuditStepsQuery = { steps: { totalCount: number, nodes: Array<{ agentId: string, rootAgentId: string, templateId: string, turn: number, step: number, model: string, isFallback: boolean, state: StepState, stopReason: string | null, inputTokens: number | null, outputTokens: number | null, cacheReadTokens: number | null, cacheWriteTokens: number | null, cachedShare: number | null, outputIsEstimated: boolean, costUsd: number | null, isUnpriced: boolean, startedAt: string, completedAt: string | null, durationMs: number | null, firstTokenMs: number | null, requestedBy: { id: string, actorId: string, name: string | null, kind: ActorKind } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ExportsQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
}>;


export type ExportsQuery = { exports: { totalCount: number, nodes: Array<{ id: string, what: ExportSubject, format: ExportFormat, withTexts: boolean, state: ExportState, rows: number, bytes: number, problem: string | null, viewerUrl: string | null, createdAt: string, endedAt: string | null, expiresAt: string | null, createdBy: { id: string, actorId: string, name: string | null, kind: ActorKind } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ExportRowFragment = { id: string, what: ExportSubject, format: ExportFormat, withTexts: boolean, state: ExportState, rows: number, bytes: number, problem: string | null, viewerUrl: string | null, createdAt: string, endedAt: string | null, expiresAt: string | null, createdBy: { id: string, actorId: string, name: string | null, kind: ActorKind } };

export type CreateExportMutationVariables = Exact<{
  input: CreateExportInput;
}>;


export type CreateExportMutation = { createExport: { export: { id: string } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type CancelExportMutationVariables = Exact<{
  exportId: string | number;
}>;


export type CancelExportMutation = { cancelExport: { export: { id: string, state: ExportState } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type PersonFragment = { id: string, actorId: string, name: string | null, kind: ActorKind };

export type VoteFragment = { decision: ApprovalDecision, decidedAt: string, note: string | null, decidedBy: { id: string, actorId: string, name: string | null, kind: ActorKind }, onBehalfOf: { id: string, actorId: string, name: string | null, kind: ActorKind } | null };

export type InboxRowFragment = { id: string, shortId: string, kind: ApprovalKind, risk: Risk, state: ApprovalState, requestedAt: string, expiresAt: string | null, quorum: number, missingDecisions: number, inputHash: string | null, hasEditedInput: boolean, meta: unknown, agent: { id: string, shortId: string, title: string | null, workspace: string, template: { id: string, templateId: string } }, requestedBy: Array<{ id: string, actorId: string, name: string | null, kind: ActorKind }>, toolCall: { id: string, name: string, inputPreview: string | null, explanation: { rule: string, place: string } | null } | null, subject:
    | { budgetId: string, per: BudgetPer }
    | { host: string, port: number }
    | { server: string, message: string }
    | Record<PropertyKey, never>
   | null };

export type InboxQueryVariables = Exact<{
  filter: ApprovalFilter;
  after?: string | null | undefined;
}>;


export type InboxQuery = { approvals: { totalCount: number, asOf: string, nodes: Array<{ id: string, shortId: string, kind: ApprovalKind, risk: Risk, state: ApprovalState, requestedAt: string, expiresAt: string | null, quorum: number, missingDecisions: number, inputHash: string | null, hasEditedInput: boolean, meta: unknown, viewerSnooze: { until: string | null } | null, agent: { id: string, shortId: string, title: string | null, workspace: string, template: { id: string, templateId: string } }, requestedBy: Array<{ id: string, actorId: string, name: string | null, kind: ActorKind }>, toolCall: { id: string, name: string, inputPreview: string | null, explanation: { rule: string, place: string } | null } | null, subject:
        | { budgetId: string, per: BudgetPer }
        | { host: string, port: number }
        | { server: string, message: string }
        | Record<PropertyKey, never>
       | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type InboxChangesSubscriptionVariables = Exact<{
  since?: string | null | undefined;
}>;


export type InboxChangesSubscription = { control: { cursor: string, caughtUp: boolean, outage: { since: string, bufferedEvents: number } | null, events: Array<
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { approvalId: string, approvalState: ApprovalState, cursor: string }
      | { decision: ApprovalDecision, missingDecisions: number, approvalId: string, approvalState: ApprovalState, cursor: string, decidedBy: { id: string, actorId: string, name: string | null, kind: ActorKind } }
      | { cursor: string, approval: { id: string, shortId: string, kind: ApprovalKind, risk: Risk, state: ApprovalState, requestedAt: string, expiresAt: string | null, quorum: number, missingDecisions: number, inputHash: string | null, hasEditedInput: boolean, meta: unknown, agent: { id: string, shortId: string, title: string | null, workspace: string, template: { id: string, templateId: string } }, requestedBy: Array<{ id: string, actorId: string, name: string | null, kind: ActorKind }>, toolCall: { id: string, name: string, inputPreview: string | null, explanation: { rule: string, place: string } | null } | null, subject:
            | { budgetId: string, per: BudgetPer }
            | { host: string, port: number }
            | { server: string, message: string }
            | Record<PropertyKey, never>
           | null } | null }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
    > } };

export type HistoryQueryVariables = Exact<{
  filter: ApprovalFilter;
  before?: string | null | undefined;
}>;


export type HistoryQuery = { approvals: { totalCount: number, nodes: Array<{ closedAt: string | null, decidedAt: string | null, id: string, shortId: string, kind: ApprovalKind, risk: Risk, state: ApprovalState, requestedAt: string, expiresAt: string | null, quorum: number, missingDecisions: number, inputHash: string | null, hasEditedInput: boolean, meta: unknown, decisions: Array<{ decision: ApprovalDecision, decidedAt: string, note: string | null, decidedBy: { id: string, actorId: string, name: string | null, kind: ActorKind }, onBehalfOf: { id: string, actorId: string, name: string | null, kind: ActorKind } | null }>, agent: { id: string, shortId: string, title: string | null, workspace: string, template: { id: string, templateId: string } }, requestedBy: Array<{ id: string, actorId: string, name: string | null, kind: ActorKind }>, toolCall: { id: string, name: string, inputPreview: string | null, explanation: { rule: string, place: string } | null } | null, subject:
        | { budgetId: string, per: BudgetPer }
        | { host: string, port: number }
        | { server: string, message: string }
        | Record<PropertyKey, never>
       | null }>, pageInfo: { hasPreviousPage: boolean, startCursor: string | null } } };

export type AskedQueryVariables = Exact<{
  id: string | number;
}>;


export type AskedQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { inputText: string | null, input: unknown, reason: string | null, closedAt: string | null, erasedAt: string | null, decision: ApprovalDecision | null, note: string | null, outsidePaths: Array<string>, hosts: Array<string>, viewerCanDecide: boolean, viewerCannotDecideReasons: Array<CannotDecideReason>, id: string, shortId: string, kind: ApprovalKind, risk: Risk, state: ApprovalState, requestedAt: string, expiresAt: string | null, quorum: number, missingDecisions: number, inputHash: string | null, hasEditedInput: boolean, meta: unknown, decidedBy: { id: string, actorId: string, name: string | null, kind: ActorKind } | null, paths: Array<{ parameter: string, names: Array<string> }>, preview: { problem: string | null, files: Array<{ path: string, diff: string | null }> } | null, commandParts: Array<{ parameter: string, start: number, end: number, reason: string, verdict: PermissionVerdict }>, decisions: Array<{ decision: ApprovalDecision, decidedAt: string, note: string | null, decidedBy: { id: string, actorId: string, name: string | null, kind: ActorKind }, onBehalfOf: { id: string, actorId: string, name: string | null, kind: ActorKind } | null }>, agentPath: Array<{ id: string, title: string | null, template: { id: string, templateId: string } }>, agent: { id: string, workspace: string, model: string, shortId: string, title: string | null, template: { id: string, templateId: string } }, subject:
        | { isPriced: boolean, spentUsd: number, limitUsd: number | null, spentTokens: number, limitTokens: number | null, windowEndsAt: string | null, budgetId: string, per: BudgetPer, averageStep: { usd: number | null, tokens: number } | null, nextStep: { usd: number | null, tokens: number }, raiseTo: { usd: number | null, tokens: number | null } }
        | { host: string, port: number, toolCalls: Array<{ id: string, name: string, inputPreview: string | null }> }
        | { server: string, message: string, fields: Array<{ name: string, kind: FormFieldKind, title: string | null, description: string | null, isRequired: boolean, default: unknown, format: FormFormat | null, minLength: number | null, maxLength: number | null, minimum: number | null, maximum: number | null, minItems: number | null, maxItems: number | null, options: Array<{ value: string, title: string }> }> }
        | Record<PropertyKey, never>
       | null, toolCall: { id: string, callId: string, turn: number, step: number, name: string, inputPreview: string | null, tool: { name: string, description: string, isReadOnly: boolean, isIdempotent: boolean, risk: Risk, server: string | null, inputSchema: unknown } | null, explanation: { verdict: PermissionVerdict, rule: string, place: string, reason: string, considered: Array<{ place: string, rule: string, verdict: PermissionVerdict | null }> } | null } | null, requestedBy: Array<{ id: string, actorId: string, name: string | null, kind: ActorKind }> }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type RequestedInputQueryVariables = Exact<{
  callId: string | number;
}>;


export type RequestedInputQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { requestedInput: unknown, id: string }
   | null };

export type OriginQueryVariables = Exact<{
  agentId: string | number;
  rootId: string | number;
  isBelow: boolean;
}>;


export type OriginQuery = { root?: { cursor: string, events: Array<
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { messageId: string, text: string | null, cursor: string, timestamp: string, sentBy: { id: string, actorId: string, name: string | null, kind: ActorKind } }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
    > }, timeline: { cursor: string, events: Array<
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { messageId: string, text: string | null, cursor: string, timestamp: string, sentBy: { id: string, actorId: string, name: string | null, kind: ActorKind } }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { content: string | null, cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
      | { cursor: string, timestamp: string }
    > }, agent: { id: string, toolCalls: { nodes: Array<{ id: string, callId: string, name: string, state: ToolCallState, inputPreview: string | null, durationMs: number | null }> } } | null };

export type ProposalQueryVariables = Exact<{
  approvalId: string | number;
  rule?: string | null | undefined;
}>;


export type ProposalQuery = { allowRuleProposal: { proposal: { rule: string, matching: Array<string>, notMatching: Array<string>, takesInAll: boolean, past: { examined: number, matched: number, denied: number } } | null, problems: Array<{ code: UserErrorCode, message: string }> } };

export type CheckQueryVariables = Exact<{
  approvalId: string | number;
  input: unknown;
}>;


export type CheckQuery = { checkApprovalInput: { asksAnother: boolean, explanation: { verdict: PermissionVerdict, rule: string } | null, problems: Array<{ field: Array<string> | null, message: string }> } };

export type DecideMutationVariables = Exact<{
  input: DecideApprovalInput;
}>;


export type DecideMutation = { decideApproval: { approval: { id: string, state: ApprovalState, missingDecisions: number, decision: ApprovalDecision | null, decidedBy: { id: string, actorId: string, name: string | null, kind: ActorKind } | null } | null, userErrors: Array<{ code: UserErrorCode, field: Array<string> | null, message: string }> } };

export type AllowAlwaysMutationVariables = Exact<{
  input: AllowAlwaysInput;
}>;


export type AllowAlwaysMutation = { allowAlways: { userErrors: Array<{ message: string }> } };

export type SnoozeChangesSubscriptionVariables = Exact<{
  since?: string | null | undefined;
}>;


export type SnoozeChangesSubscription = { control: { cursor: string, caughtUp: boolean, outage: { since: string, bufferedEvents: number } | null, events: Array<
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { approvalId: string, isSnoozed: boolean, snoozedUntil: string | null, cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
      | { cursor: string }
    > } };

export type SnoozeMutationVariables = Exact<{
  input: SnoozeApprovalInput;
}>;


export type SnoozeMutation = { snoozeApproval: { cursor: string, approval: { id: string, viewerSnooze: { until: string | null } | null } | null, userErrors: Array<{ message: string }> } };

export type WakeMutationVariables = Exact<{
  input: WakeApprovalInput;
}>;


export type WakeMutation = { wakeApproval: { cursor: string, userErrors: Array<{ message: string }> } };

export type FoundQueryVariables = Exact<{
  text: string;
}>;


export type FoundQuery = { search: { approvals: Array<{ id: string, shortId: string, state: ApprovalState, agent: { id: string, template: { id: string, templateId: string } }, toolCall: { id: string, name: string } | null }>, agents: Array<{ id: string, shortId: string, title: string | null, template: { id: string, templateId: string } }>, toolCalls: Array<{ id: string, callId: string, shortId: string, name: string }> } };

export type LongInputsQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;


export type LongInputsQuery = { nodes: Array<
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { inputHash: string | null, id: string, toolCall: { id: string, inputPreview: string | null } | null }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null> };

export type OperationsQueryVariables = Exact<{ [key: string]: never; }>;


export type OperationsQuery = { operations: { clockSkewMs: number, outage: { since: string, bufferedEvents: number } | null, servers: Array<{ serverId: string, isAnswering: boolean, isLost: boolean, leaseUntil: string | null, agents: number, consumers: number, shells: number, startedAt: string | null, version: string | null }>, consumers: Array<{ name: string, kinds: Array<EventKind>, lag: number, behindSince: string | null, failedTries: number, givenUp: number, leaseOwner: string | null }>, log: { head: string, floor: string, positions: number, newestAt: string | null, oldestAt: string | null, auditLag: number | null, overdueWaits: number }, retention: { deltasMs: number | null, eventsMs: number | null, outputsMs: number | null, toolCallsMs: number | null, messagesMs: number | null, approvalsMs: number | null } } | null, mcpServers: Array<{ name: string, state: McpServerState, since: string | null, reason: string | null, nextTryAt: string | null, toolCount: number, transport: McpTransport | null, isCommon: boolean }> };

export type SchedulesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type SchedulesQuery = { schedules: { totalCount: number, nodes: Array<{ id: string, spec: string, text: string, trigger: SchedulerTrigger | null, missed: MissedPolicy, nextAt: string | null, nextStep: number | null, lastTriggeredAt: string | null, triggerCount: number, pausedAt: string | null, isOfTemplate: boolean, createdBy: { id: string, actorId: string, name: string | null, kind: ActorKind }, agent: { id: string, title: string | null, template: { id: string, templateId: string }, createdBy: { id: string, actorId: string, name: string | null, kind: ActorKind } } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type RetryMcpMutationVariables = Exact<{
  input: RetryMcpServerInput;
}>;


export type RetryMcpMutation = { retryMcpServer: { userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type RulesQueryVariables = Exact<{
  filter: AllowRuleFilter;
  after?: string | null | undefined;
}>;


export type RulesQuery = { allowRules: { totalCount: number, nodes: Array<{ id: string, rule: string, templateId: string, agentId: string | null, approvalId: string, createdAt: string, note: string | null, expiresAt: string | null, lastUsedAt: string | null, place: string, useCount: number | null, isActive: boolean, revokedAt: string | null, createdBy: { id: string, actorId: string, name: string | null, kind: ActorKind }, revokedBy: { id: string, actorId: string, name: string | null, kind: ActorKind } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type PermissionsQueryVariables = Exact<{ [key: string]: never; }>;


export type PermissionsQuery = { templates: Array<{ id: string, templateId: string, description: string | null, version: string | null, digest: string | null, approvalQuorum: number | null, allowsSelfApproval: boolean | null, hooks: Array<string>, permission: { mode: string, readOnlyCommands: boolean, allowTools: Array<string> | null, denyTools: Array<string>, autoAllowTools: Array<string>, autoAllowInBox: Array<string>, requireApprovalTools: Array<string>, rules: Array<{ list: RuleList, place: string, rule: string }> } | null }> };

export type ExplainQueryVariables = Exact<{
  callId?: string | number | null | undefined;
  agentId?: string | number | null | undefined;
  tool?: string | null | undefined;
  input?: unknown;
}>;


export type ExplainQuery = { explainPermission: { problems: Array<{ field: Array<string> | null, message: string }>, explanation: { verdict: PermissionVerdict, rule: string, place: string, reason: string, hooks: Array<string>, considered: Array<{ place: string, rule: string, verdict: PermissionVerdict | null }> } | null } };

export type SimulateQueryVariables = Exact<{
  permission: PermissionInput;
  filter?: SimulationFilter | null | undefined;
  after?: string | null | undefined;
}>;


export type SimulateQuery = { simulatePolicy: { problems: Array<{ field: Array<string> | null, message: string }>, simulation: { examined: number, changed: number, changes: Array<{ tool: string, before: PermissionVerdict, after: PermissionVerdict, calls: number }>, examples: Array<{ before: PermissionVerdict, verdict: PermissionVerdict, rule: string, reason: string, toolCall: { id: string, callId: string, shortId: string, name: string, inputPreview: string | null, createdAt: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } };

export type RevokeRuleMutationVariables = Exact<{
  input: RevokeAllowRuleInput;
}>;


export type RevokeRuleMutation = { revokeAllowRule: { allowRule: { id: string, isActive: boolean, revokedAt: string | null } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type ViewerQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerQuery = { viewer: { tenant: string, roles: Array<Role>, actor: { id: string, actorId: string, name: string | null, kind: ActorKind }, abilities: Array<{ action: Action, isAllowed: boolean, reason: string | null }> } };

export type TemplatesQueryVariables = Exact<{ [key: string]: never; }>;


export type TemplatesQuery = { templates: Array<{ id: string, templateId: string, description: string | null, isConfigured: boolean }> };

export type LanesSubscriptionVariables = Exact<{
  agentId: string | number;
  since?: string | null | undefined;
}>;


export type LanesSubscription = { timeline: { cursor: string, caughtUp: boolean, outage: { since: string, bufferedEvents: number } | null, events: Array<
      | { __typename: 'AccessTokenCreated', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'AccessTokenRevoked', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'AgentArchived', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'AgentCreated', templateId: string, cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'AgentDeleted', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'AgentRenamed', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'AgentResumed', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'AgentReturned', childId: string, outcome: ChildOutcome, cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'AgentSpawned', childId: string, templateId: string, description: string, cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'AgentUnarchived', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'AllowRuleRevoked', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'AllowRuleStored', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'BreakpointChanged', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'BudgetAsked', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'BudgetRaised', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'BudgetRevoked', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'BudgetSet', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'BudgetStopped', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'BudgetWarned', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ConfigurationChanged', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ContextCompression', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'DelegationEnded', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'DelegationStarted', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'Done', reason: DoneReason, cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ErrorRaised', severity: ErrorSeverity, message: string | null, cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ExecutionAborted', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ExecutionCompleted', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ExecutionFailed', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ExecutionStarted', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ExportCreated', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ExportEnded', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'FileChanged', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'InterruptRequested', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'MemoryChanged', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'MessageReceived', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'MessageWithdrawn', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'PermissionClosed', approvalId: string, cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'PermissionDecided', approvalId: string, missingDecisions: number, cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'PermissionRequired', cursor: string, timestamp: string, request: { approvalId: string, kind: ApprovalKind, host: string | null, call: { name: string } | null }, agent: { id: string } | null }
      | { __typename: 'ReminderSent', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ScheduleChanged', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'SchedulerTriggered', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ShellEnded', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ShellStarted', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'SnoozeChanged', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'StageCompleted', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'StageStarted', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'StateChanged', state: AgentState, cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'StepComplete', step: number, durationMs: number, cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'StorageFailure', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'TemplateChanged', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'TextChunk', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'TextChunkEnd', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'TextChunkStart', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ThinkChunk', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ThinkChunkEnd', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ThinkChunkStart', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'TodoChanged', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'TodoReminder', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'TokensUsed', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ToolAccepted', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ToolCancelRequested', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ToolCustomEvent', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ToolEnd', cursor: string, timestamp: string, call: { callId: string, name: string, state: ToolCallState }, agent: { id: string } | null }
      | { __typename: 'ToolError', cursor: string, timestamp: string, call: { callId: string, name: string, state: ToolCallState }, agent: { id: string } | null }
      | { __typename: 'ToolExecuted', cursor: string, timestamp: string, call: { callId: string, name: string, state: ToolCallState }, agent: { id: string } | null }
      | { __typename: 'ToolManualUpdated', cursor: string, timestamp: string, agent: { id: string } | null }
      | { __typename: 'ToolStart', cursor: string, timestamp: string, call: { callId: string, name: string, state: ToolCallState }, agent: { id: string } | null }
      | { __typename: 'ToolWaiting', waitsFor: CallWait, cursor: string, timestamp: string, call: { callId: string, name: string, state: ToolCallState }, agent: { id: string } | null }
      | { __typename: 'TurnRetryRequested', cursor: string, timestamp: string, agent: { id: string } | null }
    > } };

export const PersonFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<PersonFragment, unknown>;
export const AgentRowFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AgentRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Agent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"breakpoint"}},{"kind":"Field","name":{"kind":"Name","value":"waitingFor"}},{"kind":"Field","name":{"kind":"Name","value":"awaited"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"childCount"}},{"kind":"Field","name":{"kind":"Name","value":"doneReason"}},{"kind":"Field","name":{"kind":"Name","value":"depth"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastActivityAt"}},{"kind":"Field","name":{"kind":"Name","value":"archivedAt"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"treeUsage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"costUsd"}},{"kind":"Field","name":{"kind":"Name","value":"totalTokens"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<AgentRowFragment, unknown>;
export const ChartBucketFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ChartBucket"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TimeBucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"isWhole"}}]}}]} as unknown as DocumentNode<ChartBucketFragment, unknown>;
export const ExportRowFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ExportRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Export"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"what"}},{"kind":"Field","name":{"kind":"Name","value":"format"}},{"kind":"Field","name":{"kind":"Name","value":"withTexts"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"rows"}},{"kind":"Field","name":{"kind":"Name","value":"bytes"}},{"kind":"Field","name":{"kind":"Name","value":"problem"}},{"kind":"Field","name":{"kind":"Name","value":"viewerUrl"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"endedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<ExportRowFragment, unknown>;
export const VoteFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Vote"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Decision"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"decidedAt"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"decidedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"onBehalfOf"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<VoteFragment, unknown>;
export const InboxRowFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"InboxRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Approval"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"risk"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"requestedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"quorum"}},{"kind":"Field","name":{"kind":"Name","value":"missingDecisions"}},{"kind":"Field","name":{"kind":"Name","value":"inputHash"}},{"kind":"Field","name":{"kind":"Name","value":"hasEditedInput"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"requestedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}},{"kind":"Field","name":{"kind":"Name","value":"explanation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"place"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"subject"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkHost"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"host"}},{"kind":"Field","name":{"kind":"Name","value":"port"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ToolQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"server"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"BudgetQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"budgetId"}},{"kind":"Field","name":{"kind":"Name","value":"per"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<InboxRowFragment, unknown>;
export const TokensDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Tokens"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"AccessTokenFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessTokens"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"roles"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<TokensQuery, TokensQueryVariables>;
export const SessionsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Sessions"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SessionFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sessions"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"endedAt"}},{"kind":"Field","name":{"kind":"Name","value":"userAgent"}},{"kind":"Field","name":{"kind":"Name","value":"viewerIsHere"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<SessionsQuery, SessionsQueryVariables>;
export const CreateTokenDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateToken"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateAccessTokenInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createAccessToken"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"secret"}},{"kind":"Field","name":{"kind":"Name","value":"accessToken"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CreateTokenMutation, CreateTokenMutationVariables>;
export const RevokeTokenDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RevokeToken"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RevokeAccessTokenInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeAccessToken"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessToken"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<RevokeTokenMutation, RevokeTokenMutationVariables>;
export const EndSessionDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"EndSession"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"EndSessionInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"endSession"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"session"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"endedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<EndSessionMutation, EndSessionMutationVariables>;
export const AgentsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Agents"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"AgentFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agents"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"50"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"field"},"value":{"kind":"EnumValue","value":"LAST_ACTIVITY_AT"}},{"kind":"ObjectField","name":{"kind":"Name","value":"direction"},"value":{"kind":"EnumValue","value":"DESC"}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AgentRow"}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AgentRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Agent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"breakpoint"}},{"kind":"Field","name":{"kind":"Name","value":"waitingFor"}},{"kind":"Field","name":{"kind":"Name","value":"awaited"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"childCount"}},{"kind":"Field","name":{"kind":"Name","value":"doneReason"}},{"kind":"Field","name":{"kind":"Name","value":"depth"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastActivityAt"}},{"kind":"Field","name":{"kind":"Name","value":"archivedAt"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"treeUsage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"costUsd"}},{"kind":"Field","name":{"kind":"Name","value":"totalTokens"}}]}}]}}]} as unknown as DocumentNode<AgentsQuery, AgentsQueryVariables>;
export const AgentChangesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"AgentChanges"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"since"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"timeline"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"since"},"value":{"kind":"Variable","name":{"kind":"Name","value":"since"}}},{"kind":"Argument","name":{"kind":"Name","value":"kinds"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"AGENT_CREATED"},{"kind":"EnumValue","value":"AGENT_RENAMED"},{"kind":"EnumValue","value":"AGENT_ARCHIVED"},{"kind":"EnumValue","value":"AGENT_UNARCHIVED"},{"kind":"EnumValue","value":"AGENT_SPAWNED"},{"kind":"EnumValue","value":"AGENT_RETURNED"},{"kind":"EnumValue","value":"MESSAGE_RECEIVED"},{"kind":"EnumValue","value":"STATE_CHANGED"},{"kind":"EnumValue","value":"STEP_COMPLETE"},{"kind":"EnumValue","value":"TOOL_START"},{"kind":"EnumValue","value":"TOOL_WAITING"},{"kind":"EnumValue","value":"TOOL_END"},{"kind":"EnumValue","value":"PERMISSION_REQUIRED"},{"kind":"EnumValue","value":"PERMISSION_DECIDED"},{"kind":"EnumValue","value":"PERMISSION_CLOSED"},{"kind":"EnumValue","value":"DONE"}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"caughtUp"}},{"kind":"Field","name":{"kind":"Name","value":"outage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"since"}},{"kind":"Field","name":{"kind":"Name","value":"bufferedEvents"}}]}},{"kind":"Field","name":{"kind":"Name","value":"events"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"timestamp"}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]}}]} as unknown as DocumentNode<AgentChangesSubscription, AgentChangesSubscriptionVariables>;
export const AgentRowsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AgentRows"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"ids"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"ids"},"value":{"kind":"Variable","name":{"kind":"Name","value":"ids"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Agent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AgentRow"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AgentRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Agent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"breakpoint"}},{"kind":"Field","name":{"kind":"Name","value":"waitingFor"}},{"kind":"Field","name":{"kind":"Name","value":"awaited"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"childCount"}},{"kind":"Field","name":{"kind":"Name","value":"doneReason"}},{"kind":"Field","name":{"kind":"Name","value":"depth"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastActivityAt"}},{"kind":"Field","name":{"kind":"Name","value":"archivedAt"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"treeUsage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"costUsd"}},{"kind":"Field","name":{"kind":"Name","value":"totalTokens"}}]}}]}}]} as unknown as DocumentNode<AgentRowsQuery, AgentRowsQueryVariables>;
export const AgentPageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AgentPage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AgentRow"}},{"kind":"Field","name":{"kind":"Name","value":"turn"}},{"kind":"Field","name":{"kind":"Name","value":"stepCount"}},{"kind":"Field","name":{"kind":"Name","value":"forkedAt"}},{"kind":"Field","name":{"kind":"Name","value":"lineage"}},{"kind":"Field","name":{"kind":"Name","value":"parent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"context"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"tokens"}},{"kind":"Field","name":{"kind":"Name","value":"window"}},{"kind":"Field","name":{"kind":"Name","value":"compactedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"usage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"costUsd"}},{"kind":"Field","name":{"kind":"Name","value":"totalTokens"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"cachedShare"}}]}},{"kind":"Field","name":{"kind":"Name","value":"children"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"waitingFor"}},{"kind":"Field","name":{"kind":"Name","value":"doneReason"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"todos"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"todoId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"notes"}}]}},{"kind":"Field","name":{"kind":"Name","value":"knownFiles"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"access"}},{"kind":"Field","name":{"kind":"Name","value":"change"}},{"kind":"Field","name":{"kind":"Name","value":"at"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"shells"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"shellId"}},{"kind":"Field","name":{"kind":"Name","value":"command"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"endedAt"}},{"kind":"Field","name":{"kind":"Name","value":"exitCode"}}]}},{"kind":"Field","name":{"kind":"Name","value":"budgets"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"budget"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"per"}},{"kind":"Field","name":{"kind":"Name","value":"window"}}]}},{"kind":"Field","name":{"kind":"Name","value":"limitUsd"}},{"kind":"Field","name":{"kind":"Name","value":"spentUsd"}},{"kind":"Field","name":{"kind":"Name","value":"limitTokens"}},{"kind":"Field","name":{"kind":"Name","value":"spentTokens"}},{"kind":"Field","name":{"kind":"Name","value":"windowEndsAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pendingApprovals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"schedules"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"spec"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"nextAt"}},{"kind":"Field","name":{"kind":"Name","value":"nextStep"}},{"kind":"Field","name":{"kind":"Name","value":"pausedAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastTriggeredAt"}},{"kind":"Field","name":{"kind":"Name","value":"triggerCount"}}]}},{"kind":"Field","name":{"kind":"Name","value":"notices"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"1"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AgentRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Agent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"breakpoint"}},{"kind":"Field","name":{"kind":"Name","value":"waitingFor"}},{"kind":"Field","name":{"kind":"Name","value":"awaited"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"childCount"}},{"kind":"Field","name":{"kind":"Name","value":"doneReason"}},{"kind":"Field","name":{"kind":"Name","value":"depth"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastActivityAt"}},{"kind":"Field","name":{"kind":"Name","value":"archivedAt"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"treeUsage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"costUsd"}},{"kind":"Field","name":{"kind":"Name","value":"totalTokens"}}]}}]}}]} as unknown as DocumentNode<AgentPageQuery, AgentPageQueryVariables>;
export const ForkPointsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ForkPoints"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"forkPoints"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"20"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"messageId"}},{"kind":"Field","name":{"kind":"Name","value":"index"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]} as unknown as DocumentNode<ForkPointsQuery, ForkPointsQueryVariables>;
export const MessagesOfForkPointsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"MessagesOfForkPoints"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"ids"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"ids"},"value":{"kind":"Variable","name":{"kind":"Name","value":"ids"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Message"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"sentBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<MessagesOfForkPointsQuery, MessagesOfForkPointsQueryVariables>;
export const ContextAtDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ContextAt"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"step"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"contextAt"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"step"},"value":{"kind":"Variable","name":{"kind":"Name","value":"step"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"step"}},{"kind":"Field","name":{"kind":"Name","value":"turn"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"system"}},{"kind":"Field","name":{"kind":"Name","value":"tools"}},{"kind":"Field","name":{"kind":"Name","value":"settings"}},{"kind":"Field","name":{"kind":"Name","value":"isProved"}},{"kind":"Field","name":{"kind":"Name","value":"hash"}},{"kind":"Field","name":{"kind":"Name","value":"missing"}},{"kind":"Field","name":{"kind":"Name","value":"messages"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"20"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"index"}},{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"content"}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]}}]} as unknown as DocumentNode<ContextAtQuery, ContextAtQueryVariables>;
export const ForkDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Fork"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ForkAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"forkAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<ForkMutation, ForkMutationVariables>;
export const PauseScheduleDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"PauseSchedule"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"PauseScheduleInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pauseSchedule"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<PauseScheduleMutation, PauseScheduleMutationVariables>;
export const ResumeScheduleDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ResumeSchedule"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ResumeScheduleInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"resumeSchedule"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<ResumeScheduleMutation, ResumeScheduleMutationVariables>;
export const DeleteScheduleDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteSchedule"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DeleteScheduleInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteSchedule"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<DeleteScheduleMutation, DeleteScheduleMutationVariables>;
export const CallDetailsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"CallDetails"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"callId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"callId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"callId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"step"}},{"kind":"Field","name":{"kind":"Name","value":"turn"}},{"kind":"Field","name":{"kind":"Name","value":"attempt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"completedAt"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"}},{"kind":"Field","name":{"kind":"Name","value":"input"}},{"kind":"Field","name":{"kind":"Name","value":"requestedInput"}},{"kind":"Field","name":{"kind":"Name","value":"output"}},{"kind":"Field","name":{"kind":"Name","value":"isError"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"recommendations"}}]}},{"kind":"Field","name":{"kind":"Name","value":"keptOutput"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bytes"}},{"kind":"Field","name":{"kind":"Name","value":"isWhole"}}]}},{"kind":"Field","name":{"kind":"Name","value":"images"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"mediaType"}},{"kind":"Field","name":{"kind":"Name","value":"bytes"}},{"kind":"Field","name":{"kind":"Name","value":"isRemoved"}},{"kind":"Field","name":{"kind":"Name","value":"viewerUrl"}}]}},{"kind":"Field","name":{"kind":"Name","value":"stages"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"stage"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"}}]}},{"kind":"Field","name":{"kind":"Name","value":"explanation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"verdict"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"place"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"auditTrail"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"timestamp"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"by"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<CallDetailsQuery, CallDetailsQueryVariables>;
export const CreateAgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateAgent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CreateAgentMutation, CreateAgentMutationVariables>;
export const SendMessageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SendMessage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SendMessageInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sendMessage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<SendMessageMutation, SendMessageMutationVariables>;
export const InterruptDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Interrupt"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"InterruptAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"interruptAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<InterruptMutation, InterruptMutationVariables>;
export const RetryDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Retry"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RetryTurnInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"retryTurn"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<RetryMutation, RetryMutationVariables>;
export const CompactDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Compact"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CompactAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"compactAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CompactMutation, CompactMutationVariables>;
export const DeleteAgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteAgent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DeleteAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deletedAgentId"}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<DeleteAgentMutation, DeleteAgentMutationVariables>;
export const ArchiveDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Archive"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ArchiveAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"archiveAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"archivedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<ArchiveMutation, ArchiveMutationVariables>;
export const UnarchiveDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Unarchive"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UnarchiveAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"unarchiveAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"archivedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<UnarchiveMutation, UnarchiveMutationVariables>;
export const RenameDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Rename"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RenameAgentInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"renameAgent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"title"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<RenameMutation, RenameMutationVariables>;
export const OutputPieceDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OutputPiece"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"callId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"bytes"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"callId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"callId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"keptOutput"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bytes"}},{"kind":"Field","name":{"kind":"Name","value":"piece"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"bytes"},"value":{"kind":"Variable","name":{"kind":"Name","value":"bytes"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"nextOffset"}}]}}]}}]}}]}}]} as unknown as DocumentNode<OutputPieceQuery, OutputPieceQueryVariables>;
export const SharedMessagesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"SharedMessages"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"messages"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"50"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"sentBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<SharedMessagesQuery, SharedMessagesQueryVariables>;
export const MayCompleteDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"MayComplete"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"callId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"callId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"callId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"viewerCannotCompleteReason"}},{"kind":"Field","name":{"kind":"Name","value":"tool"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"outputSchema"}}]}}]}}]}}]} as unknown as DocumentNode<MayCompleteQuery, MayCompleteQueryVariables>;
export const CompleteToolCallDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CompleteToolCall"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CompleteToolCallInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"completeToolCall"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CompleteToolCallMutation, CompleteToolCallMutationVariables>;
export const NoticesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Notices"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"notices"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"20"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"noticeId"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"at"}},{"kind":"Field","name":{"kind":"Name","value":"toldAtStep"}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]} as unknown as DocumentNode<NoticesQuery, NoticesQueryVariables>;
export const FileEditsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"FileEdits"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"path"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"fileEdits"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"path"},"value":{"kind":"Variable","name":{"kind":"Name","value":"path"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"10"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"turn"}},{"kind":"Field","name":{"kind":"Name","value":"step"}},{"kind":"Field","name":{"kind":"Name","value":"completedAt"}},{"kind":"Field","name":{"kind":"Name","value":"details"}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]} as unknown as DocumentNode<FileEditsQuery, FileEditsQueryVariables>;
export const MessageImagesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"MessageImages"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Message"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"erasedAt"}},{"kind":"Field","name":{"kind":"Name","value":"blocks"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ImageBlock"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"mediaType"}},{"kind":"Field","name":{"kind":"Name","value":"bytes"}},{"kind":"Field","name":{"kind":"Name","value":"isRemoved"}},{"kind":"Field","name":{"kind":"Name","value":"viewerUrl"}}]}}]}}]}}]}}]}}]} as unknown as DocumentNode<MessageImagesQuery, MessageImagesQueryVariables>;
export const ChartCallsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ChartCalls"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ToolCallFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"BucketInput"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCallGroups"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"by"},"value":{"kind":"ListValue","values":[]}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"bucket"},"value":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"1"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"buckets"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ChartBucket"}}]}},{"kind":"Field","name":{"kind":"Name","value":"groups"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"series"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"calls"}},{"kind":"Field","name":{"kind":"Name","value":"failed"}},{"kind":"Field","name":{"kind":"Name","value":"failureRate"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"count"}},{"kind":"Field","name":{"kind":"Name","value":"p50"}},{"kind":"Field","name":{"kind":"Name","value":"p95"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"total"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"calls"}},{"kind":"Field","name":{"kind":"Name","value":"failed"}},{"kind":"Field","name":{"kind":"Name","value":"failureRate"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"count"}},{"kind":"Field","name":{"kind":"Name","value":"p50"}},{"kind":"Field","name":{"kind":"Name","value":"p95"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ChartBucket"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TimeBucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"isWhole"}}]}}]} as unknown as DocumentNode<ChartCallsQuery, ChartCallsQueryVariables>;
export const ChartVerdictsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ChartVerdicts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ToolCallFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"BucketInput"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCallGroups"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"by"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"VERDICT"}]}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"bucket"},"value":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"4"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"buckets"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ChartBucket"}}]}},{"kind":"Field","name":{"kind":"Name","value":"groups"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"verdict"}},{"kind":"Field","name":{"kind":"Name","value":"figures"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"calls"}}]}},{"kind":"Field","name":{"kind":"Name","value":"series"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"calls"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ChartBucket"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TimeBucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"isWhole"}}]}}]} as unknown as DocumentNode<ChartVerdictsQuery, ChartVerdictsQueryVariables>;
export const ChartCostsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ChartCosts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"StepFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"BucketInput"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","alias":{"kind":"Name","value":"models"},"name":{"kind":"Name","value":"stepGroups"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"by"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"MODEL"}]}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"bucket"},"value":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"6"}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"measure"},"value":{"kind":"EnumValue","value":"COST"}},{"kind":"ObjectField","name":{"kind":"Name","value":"direction"},"value":{"kind":"EnumValue","value":"DESC"}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"groups"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"series"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"costUsd"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"groupCount"}}]}},{"kind":"Field","alias":{"kind":"Name","value":"all"},"name":{"kind":"Name","value":"stepGroups"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"by"},"value":{"kind":"ListValue","values":[]}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"bucket"},"value":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"1"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"buckets"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ChartBucket"}}]}},{"kind":"Field","name":{"kind":"Name","value":"groups"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"series"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"costUsd"}},{"kind":"Field","name":{"kind":"Name","value":"unpricedSteps"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"total"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"steps"}},{"kind":"Field","name":{"kind":"Name","value":"costUsd"}},{"kind":"Field","name":{"kind":"Name","value":"unpricedSteps"}}]}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ChartBucket"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TimeBucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"isWhole"}}]}}]} as unknown as DocumentNode<ChartCostsQuery, ChartCostsQueryVariables>;
export const ChartDecisionsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ChartDecisions"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ApprovalFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"BucketInput"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvalGroups"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"by"},"value":{"kind":"ListValue","values":[]}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"bucket"},"value":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"1"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"buckets"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ChartBucket"}}]}},{"kind":"Field","name":{"kind":"Name","value":"groups"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"series"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decided"}},{"kind":"Field","name":{"kind":"Name","value":"decisionMs"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"p50"}},{"kind":"Field","name":{"kind":"Name","value":"p95"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"total"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decided"}},{"kind":"Field","name":{"kind":"Name","value":"decisionMs"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"p50"}},{"kind":"Field","name":{"kind":"Name","value":"p95"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ChartBucket"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TimeBucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"isWhole"}}]}}]} as unknown as DocumentNode<ChartDecisionsQuery, ChartDecisionsQueryVariables>;
export const ChartTurnsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ChartTurns"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"TurnFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"BucketInput"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","alias":{"kind":"Name","value":"reasons"},"name":{"kind":"Name","value":"turnGroups"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"by"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"REASON"}]}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"bucket"},"value":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"10"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"groups"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"figures"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"turns"}}]}},{"kind":"Field","name":{"kind":"Name","value":"series"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"turns"}}]}}]}}]}},{"kind":"Field","alias":{"kind":"Name","value":"all"},"name":{"kind":"Name","value":"turnGroups"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"by"},"value":{"kind":"ListValue","values":[]}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"bucket"},"value":{"kind":"Variable","name":{"kind":"Name","value":"bucket"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"1"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"buckets"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ChartBucket"}}]}},{"kind":"Field","name":{"kind":"Name","value":"groups"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"series"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"turns"}},{"kind":"Field","name":{"kind":"Name","value":"costUsd"}},{"kind":"Field","name":{"kind":"Name","value":"unpricedSteps"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"count"}},{"kind":"Field","name":{"kind":"Name","value":"p50"}},{"kind":"Field","name":{"kind":"Name","value":"p95"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"total"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"turns"}},{"kind":"Field","name":{"kind":"Name","value":"costUsd"}},{"kind":"Field","name":{"kind":"Name","value":"unpricedSteps"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"count"}},{"kind":"Field","name":{"kind":"Name","value":"p50"}},{"kind":"Field","name":{"kind":"Name","value":"p95"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ChartBucket"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TimeBucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"isWhole"}}]}}]} as unknown as DocumentNode<ChartTurnsQuery, ChartTurnsQueryVariables>;
export const AuditCallsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AuditCalls"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ToolCallFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCalls"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"field"},"value":{"kind":"EnumValue","value":"CREATED_AT"}},{"kind":"ObjectField","name":{"kind":"Name","value":"direction"},"value":{"kind":"EnumValue","value":"DESC"}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"verdict"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"type"}}]}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<AuditCallsQuery, AuditCallsQueryVariables>;
export const AuditCountsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AuditCounts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ToolCallFilter"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCallStats"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"tools"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"tool"}},{"kind":"Field","name":{"kind":"Name","value":"calls"}},{"kind":"Field","name":{"kind":"Name","value":"executed"}},{"kind":"Field","name":{"kind":"Name","value":"meanMs"}},{"kind":"Field","name":{"kind":"Name","value":"slowestMs"}},{"kind":"Field","name":{"kind":"Name","value":"states"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"calls"}}]}}]}}]}}]}}]} as unknown as DocumentNode<AuditCountsQuery, AuditCountsQueryVariables>;
export const AuditCallDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AuditCall"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"callId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"callId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"callId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"verdict"}},{"kind":"Field","name":{"kind":"Name","value":"step"}},{"kind":"Field","name":{"kind":"Name","value":"turn"}},{"kind":"Field","name":{"kind":"Name","value":"attempt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"completedAt"}},{"kind":"Field","name":{"kind":"Name","value":"erasedAt"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"}},{"kind":"Field","name":{"kind":"Name","value":"requestedInput"}},{"kind":"Field","name":{"kind":"Name","value":"input"}},{"kind":"Field","name":{"kind":"Name","value":"inputHash"}},{"kind":"Field","name":{"kind":"Name","value":"output"}},{"kind":"Field","name":{"kind":"Name","value":"images"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"mediaType"}},{"kind":"Field","name":{"kind":"Name","value":"bytes"}},{"kind":"Field","name":{"kind":"Name","value":"isRemoved"}},{"kind":"Field","name":{"kind":"Name","value":"viewerUrl"}}]}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"stages"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"stage"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"}}]}},{"kind":"Field","name":{"kind":"Name","value":"explanation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"verdict"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"place"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"considered"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"place"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"verdict"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"auditTrail"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"timestamp"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"by"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"approvals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"decisions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"decidedAt"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"decidedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"onBehalfOf"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<AuditCallQuery, AuditCallQueryVariables>;
export const AuditDecisionsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AuditDecisions"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ApprovalFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvals"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"EnumValue","value":"LAST_CLOSED_FIRST"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"InboxRow"}},{"kind":"Field","name":{"kind":"Name","value":"closedAt"}},{"kind":"Field","name":{"kind":"Name","value":"decidedAt"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"isEdited"}},{"kind":"Field","name":{"kind":"Name","value":"decidedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"InboxRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Approval"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"risk"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"requestedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"quorum"}},{"kind":"Field","name":{"kind":"Name","value":"missingDecisions"}},{"kind":"Field","name":{"kind":"Name","value":"inputHash"}},{"kind":"Field","name":{"kind":"Name","value":"hasEditedInput"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"requestedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}},{"kind":"Field","name":{"kind":"Name","value":"explanation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"place"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"subject"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkHost"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"host"}},{"kind":"Field","name":{"kind":"Name","value":"port"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ToolQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"server"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"BudgetQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"budgetId"}},{"kind":"Field","name":{"kind":"Name","value":"per"}}]}}]}}]}}]} as unknown as DocumentNode<AuditDecisionsQuery, AuditDecisionsQueryVariables>;
export const AuditStepsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AuditSteps"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"StepFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"TurnOrder"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"steps"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agentId"}},{"kind":"Field","name":{"kind":"Name","value":"rootAgentId"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}},{"kind":"Field","name":{"kind":"Name","value":"turn"}},{"kind":"Field","name":{"kind":"Name","value":"step"}},{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"isFallback"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"stopReason"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"cacheReadTokens"}},{"kind":"Field","name":{"kind":"Name","value":"cacheWriteTokens"}},{"kind":"Field","name":{"kind":"Name","value":"cachedShare"}},{"kind":"Field","name":{"kind":"Name","value":"outputIsEstimated"}},{"kind":"Field","name":{"kind":"Name","value":"costUsd"}},{"kind":"Field","name":{"kind":"Name","value":"isUnpriced"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"completedAt"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"}},{"kind":"Field","name":{"kind":"Name","value":"firstTokenMs"}},{"kind":"Field","name":{"kind":"Name","value":"requestedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<AuditStepsQuery, AuditStepsQueryVariables>;
export const ExportsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Exports"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"exports"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ExportRow"}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ExportRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Export"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"what"}},{"kind":"Field","name":{"kind":"Name","value":"format"}},{"kind":"Field","name":{"kind":"Name","value":"withTexts"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"rows"}},{"kind":"Field","name":{"kind":"Name","value":"bytes"}},{"kind":"Field","name":{"kind":"Name","value":"problem"}},{"kind":"Field","name":{"kind":"Name","value":"viewerUrl"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"endedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}}]} as unknown as DocumentNode<ExportsQuery, ExportsQueryVariables>;
export const CreateExportDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateExport"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateExportInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createExport"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"export"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CreateExportMutation, CreateExportMutationVariables>;
export const CancelExportDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CancelExport"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"exportId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cancelExport"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"exportId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"exportId"}}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"export"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CancelExportMutation, CancelExportMutationVariables>;
export const InboxDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Inbox"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ApprovalFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvals"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"InboxRow"}},{"kind":"Field","name":{"kind":"Name","value":"viewerSnooze"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"until"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"InboxRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Approval"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"risk"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"requestedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"quorum"}},{"kind":"Field","name":{"kind":"Name","value":"missingDecisions"}},{"kind":"Field","name":{"kind":"Name","value":"inputHash"}},{"kind":"Field","name":{"kind":"Name","value":"hasEditedInput"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"requestedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}},{"kind":"Field","name":{"kind":"Name","value":"explanation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"place"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"subject"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkHost"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"host"}},{"kind":"Field","name":{"kind":"Name","value":"port"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ToolQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"server"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"BudgetQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"budgetId"}},{"kind":"Field","name":{"kind":"Name","value":"per"}}]}}]}}]}}]} as unknown as DocumentNode<InboxQuery, InboxQueryVariables>;
export const InboxChangesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"InboxChanges"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"since"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"control"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"since"},"value":{"kind":"Variable","name":{"kind":"Name","value":"since"}}},{"kind":"Argument","name":{"kind":"Name","value":"kinds"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"PERMISSION_REQUIRED"},{"kind":"EnumValue","value":"PERMISSION_DECIDED"},{"kind":"EnumValue","value":"PERMISSION_CLOSED"}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"caughtUp"}},{"kind":"Field","name":{"kind":"Name","value":"outage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"since"}},{"kind":"Field","name":{"kind":"Name","value":"bufferedEvents"}}]}},{"kind":"Field","name":{"kind":"Name","value":"events"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PermissionRequired"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"InboxRow"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PermissionDecided"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"decidedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"missingDecisions"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApprovalEvent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvalId"}},{"kind":"Field","name":{"kind":"Name","value":"approvalState"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"InboxRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Approval"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"risk"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"requestedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"quorum"}},{"kind":"Field","name":{"kind":"Name","value":"missingDecisions"}},{"kind":"Field","name":{"kind":"Name","value":"inputHash"}},{"kind":"Field","name":{"kind":"Name","value":"hasEditedInput"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"requestedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}},{"kind":"Field","name":{"kind":"Name","value":"explanation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"place"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"subject"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkHost"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"host"}},{"kind":"Field","name":{"kind":"Name","value":"port"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ToolQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"server"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"BudgetQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"budgetId"}},{"kind":"Field","name":{"kind":"Name","value":"per"}}]}}]}}]}}]} as unknown as DocumentNode<InboxChangesSubscription, InboxChangesSubscriptionVariables>;
export const HistoryDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"History"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ApprovalFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvals"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"IntValue","value":"50"}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"InboxRow"}},{"kind":"Field","name":{"kind":"Name","value":"closedAt"}},{"kind":"Field","name":{"kind":"Name","value":"decidedAt"}},{"kind":"Field","name":{"kind":"Name","value":"decisions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Vote"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"InboxRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Approval"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"risk"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"requestedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"quorum"}},{"kind":"Field","name":{"kind":"Name","value":"missingDecisions"}},{"kind":"Field","name":{"kind":"Name","value":"inputHash"}},{"kind":"Field","name":{"kind":"Name","value":"hasEditedInput"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"requestedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}},{"kind":"Field","name":{"kind":"Name","value":"explanation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"place"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"subject"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkHost"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"host"}},{"kind":"Field","name":{"kind":"Name","value":"port"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ToolQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"server"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"BudgetQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"budgetId"}},{"kind":"Field","name":{"kind":"Name","value":"per"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Vote"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Decision"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"decidedAt"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"decidedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"onBehalfOf"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}}]} as unknown as DocumentNode<HistoryQuery, HistoryQueryVariables>;
export const AskedDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Asked"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Approval"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"InboxRow"}},{"kind":"Field","name":{"kind":"Name","value":"inputText"}},{"kind":"Field","name":{"kind":"Name","value":"input"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"closedAt"}},{"kind":"Field","name":{"kind":"Name","value":"erasedAt"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"decidedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"paths"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"parameter"}},{"kind":"Field","name":{"kind":"Name","value":"names"}}]}},{"kind":"Field","name":{"kind":"Name","value":"outsidePaths"}},{"kind":"Field","name":{"kind":"Name","value":"hosts"}},{"kind":"Field","name":{"kind":"Name","value":"preview"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"files"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"diff"}}]}},{"kind":"Field","name":{"kind":"Name","value":"problem"}}]}},{"kind":"Field","name":{"kind":"Name","value":"commandParts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"parameter"}},{"kind":"Field","name":{"kind":"Name","value":"start"}},{"kind":"Field","name":{"kind":"Name","value":"end"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"verdict"}}]}},{"kind":"Field","name":{"kind":"Name","value":"decisions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Vote"}}]}},{"kind":"Field","name":{"kind":"Name","value":"viewerCanDecide"}},{"kind":"Field","name":{"kind":"Name","value":"viewerCannotDecideReasons"}},{"kind":"Field","name":{"kind":"Name","value":"agentPath"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"model"}}]}},{"kind":"Field","name":{"kind":"Name","value":"subject"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkHost"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"toolCalls"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"BudgetQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"isPriced"}},{"kind":"Field","name":{"kind":"Name","value":"spentUsd"}},{"kind":"Field","name":{"kind":"Name","value":"limitUsd"}},{"kind":"Field","name":{"kind":"Name","value":"spentTokens"}},{"kind":"Field","name":{"kind":"Name","value":"limitTokens"}},{"kind":"Field","name":{"kind":"Name","value":"windowEndsAt"}},{"kind":"Field","name":{"kind":"Name","value":"averageStep"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usd"}},{"kind":"Field","name":{"kind":"Name","value":"tokens"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextStep"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usd"}},{"kind":"Field","name":{"kind":"Name","value":"tokens"}}]}},{"kind":"Field","name":{"kind":"Name","value":"raiseTo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usd"}},{"kind":"Field","name":{"kind":"Name","value":"tokens"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ToolQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"fields"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"isRequired"}},{"kind":"Field","name":{"kind":"Name","value":"default"}},{"kind":"Field","name":{"kind":"Name","value":"format"}},{"kind":"Field","name":{"kind":"Name","value":"minLength"}},{"kind":"Field","name":{"kind":"Name","value":"maxLength"}},{"kind":"Field","name":{"kind":"Name","value":"minimum"}},{"kind":"Field","name":{"kind":"Name","value":"maximum"}},{"kind":"Field","name":{"kind":"Name","value":"options"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"title"}}]}},{"kind":"Field","name":{"kind":"Name","value":"minItems"}},{"kind":"Field","name":{"kind":"Name","value":"maxItems"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"turn"}},{"kind":"Field","name":{"kind":"Name","value":"step"}},{"kind":"Field","name":{"kind":"Name","value":"tool"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"isReadOnly"}},{"kind":"Field","name":{"kind":"Name","value":"isIdempotent"}},{"kind":"Field","name":{"kind":"Name","value":"risk"}},{"kind":"Field","name":{"kind":"Name","value":"server"}},{"kind":"Field","name":{"kind":"Name","value":"inputSchema"}}]}},{"kind":"Field","name":{"kind":"Name","value":"explanation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"verdict"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"place"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"considered"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"place"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"verdict"}}]}}]}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"InboxRow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Approval"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"risk"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"requestedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"quorum"}},{"kind":"Field","name":{"kind":"Name","value":"missingDecisions"}},{"kind":"Field","name":{"kind":"Name","value":"inputHash"}},{"kind":"Field","name":{"kind":"Name","value":"hasEditedInput"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"workspace"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"requestedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}},{"kind":"Field","name":{"kind":"Name","value":"explanation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"place"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"subject"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkHost"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"host"}},{"kind":"Field","name":{"kind":"Name","value":"port"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ToolQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"server"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"BudgetQuestion"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"budgetId"}},{"kind":"Field","name":{"kind":"Name","value":"per"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Vote"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Decision"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"decidedAt"}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"decidedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"onBehalfOf"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}}]} as unknown as DocumentNode<AskedQuery, AskedQueryVariables>;
export const RequestedInputDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RequestedInput"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"callId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"callId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ToolCall"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestedInput"}}]}}]}}]}}]} as unknown as DocumentNode<RequestedInputQuery, RequestedInputQueryVariables>;
export const OriginDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Origin"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"agentId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"rootId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"isBelow"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","alias":{"kind":"Name","value":"root"},"name":{"kind":"Name","value":"timeline"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"agentIds"},"value":{"kind":"ListValue","values":[{"kind":"Variable","name":{"kind":"Name","value":"rootId"}}]}},{"kind":"Argument","name":{"kind":"Name","value":"kinds"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"MESSAGE_RECEIVED"}]}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"IntValue","value":"1"}}],"directives":[{"kind":"Directive","name":{"kind":"Name","value":"include"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"if"},"value":{"kind":"Variable","name":{"kind":"Name","value":"isBelow"}}}]}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"events"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"timestamp"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"MessageReceived"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"messageId"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"sentBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"timeline"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"agentIds"},"value":{"kind":"ListValue","values":[{"kind":"Variable","name":{"kind":"Name","value":"agentId"}}]}},{"kind":"Argument","name":{"kind":"Name","value":"kinds"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"MESSAGE_RECEIVED"},{"kind":"EnumValue","value":"REMINDER_SENT"}]}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"IntValue","value":"3"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"events"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"timestamp"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"MessageReceived"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"messageId"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"sentBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ReminderSent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"content"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"agentId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"toolCalls"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"IntValue","value":"6"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<OriginQuery, OriginQueryVariables>;
export const ProposalDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Proposal"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"rule"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowRuleProposal"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"approvalId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}}},{"kind":"Argument","name":{"kind":"Name","value":"rule"},"value":{"kind":"Variable","name":{"kind":"Name","value":"rule"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"proposal"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"matching"}},{"kind":"Field","name":{"kind":"Name","value":"notMatching"}},{"kind":"Field","name":{"kind":"Name","value":"takesInAll"}},{"kind":"Field","name":{"kind":"Name","value":"past"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"examined"}},{"kind":"Field","name":{"kind":"Name","value":"matched"}},{"kind":"Field","name":{"kind":"Name","value":"denied"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"problems"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<ProposalQuery, ProposalQueryVariables>;
export const CheckDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Check"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"JSON"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"checkApprovalInput"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"approvalId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"approvalId"}}},{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asksAnother"}},{"kind":"Field","name":{"kind":"Name","value":"explanation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"verdict"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}}]}},{"kind":"Field","name":{"kind":"Name","value":"problems"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<CheckQuery, CheckQueryVariables>;
export const DecideDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Decide"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DecideApprovalInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decideApproval"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"missingDecisions"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"decidedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<DecideMutation, DecideMutationVariables>;
export const AllowAlwaysDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"AllowAlways"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"AllowAlwaysInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowAlways"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<AllowAlwaysMutation, AllowAlwaysMutationVariables>;
export const SnoozeChangesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"SnoozeChanges"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"since"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"control"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"since"},"value":{"kind":"Variable","name":{"kind":"Name","value":"since"}}},{"kind":"Argument","name":{"kind":"Name","value":"kinds"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"SNOOZE_CHANGED"}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"caughtUp"}},{"kind":"Field","name":{"kind":"Name","value":"outage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"since"}},{"kind":"Field","name":{"kind":"Name","value":"bufferedEvents"}}]}},{"kind":"Field","name":{"kind":"Name","value":"events"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"SnoozeChanged"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvalId"}},{"kind":"Field","name":{"kind":"Name","value":"isSnoozed"}},{"kind":"Field","name":{"kind":"Name","value":"snoozedUntil"}}]}}]}}]}}]}}]} as unknown as DocumentNode<SnoozeChangesSubscription, SnoozeChangesSubscriptionVariables>;
export const SnoozeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Snooze"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SnoozeApprovalInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"snoozeApproval"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"viewerSnooze"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"until"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<SnoozeMutation, SnoozeMutationVariables>;
export const WakeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Wake"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"WakeApprovalInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"wakeApproval"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<WakeMutation, WakeMutationVariables>;
export const FoundDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Found"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"text"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"search"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"text"},"value":{"kind":"Variable","name":{"kind":"Name","value":"text"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"agents"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"toolCalls"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<FoundQuery, FoundQueryVariables>;
export const LongInputsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"LongInputs"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"ids"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"ids"},"value":{"kind":"Variable","name":{"kind":"Name","value":"ids"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Approval"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"inputHash"}},{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"length"},"value":{"kind":"IntValue","value":"4000"}}]}]}}]}}]}}]}}]} as unknown as DocumentNode<LongInputsQuery, LongInputsQueryVariables>;
export const OperationsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Operations"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"operations"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clockSkewMs"}},{"kind":"Field","name":{"kind":"Name","value":"outage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"since"}},{"kind":"Field","name":{"kind":"Name","value":"bufferedEvents"}}]}},{"kind":"Field","name":{"kind":"Name","value":"servers"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"serverId"}},{"kind":"Field","name":{"kind":"Name","value":"isAnswering"}},{"kind":"Field","name":{"kind":"Name","value":"isLost"}},{"kind":"Field","name":{"kind":"Name","value":"leaseUntil"}},{"kind":"Field","name":{"kind":"Name","value":"agents"}},{"kind":"Field","name":{"kind":"Name","value":"consumers"}},{"kind":"Field","name":{"kind":"Name","value":"shells"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}},{"kind":"Field","name":{"kind":"Name","value":"consumers"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kinds"}},{"kind":"Field","name":{"kind":"Name","value":"lag"}},{"kind":"Field","name":{"kind":"Name","value":"behindSince"}},{"kind":"Field","name":{"kind":"Name","value":"failedTries"}},{"kind":"Field","name":{"kind":"Name","value":"givenUp"}},{"kind":"Field","name":{"kind":"Name","value":"leaseOwner"}}]}},{"kind":"Field","name":{"kind":"Name","value":"log"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"head"}},{"kind":"Field","name":{"kind":"Name","value":"floor"}},{"kind":"Field","name":{"kind":"Name","value":"positions"}},{"kind":"Field","name":{"kind":"Name","value":"newestAt"}},{"kind":"Field","name":{"kind":"Name","value":"oldestAt"}},{"kind":"Field","name":{"kind":"Name","value":"auditLag"}},{"kind":"Field","name":{"kind":"Name","value":"overdueWaits"}}]}},{"kind":"Field","name":{"kind":"Name","value":"retention"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deltasMs"}},{"kind":"Field","name":{"kind":"Name","value":"eventsMs"}},{"kind":"Field","name":{"kind":"Name","value":"outputsMs"}},{"kind":"Field","name":{"kind":"Name","value":"toolCallsMs"}},{"kind":"Field","name":{"kind":"Name","value":"messagesMs"}},{"kind":"Field","name":{"kind":"Name","value":"approvalsMs"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"mcpServers"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"since"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"nextTryAt"}},{"kind":"Field","name":{"kind":"Name","value":"toolCount"}},{"kind":"Field","name":{"kind":"Name","value":"transport"}},{"kind":"Field","name":{"kind":"Name","value":"isCommon"}}]}}]}}]} as unknown as DocumentNode<OperationsQuery, OperationsQueryVariables>;
export const SchedulesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Schedules"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"schedules"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"spec"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"trigger"}},{"kind":"Field","name":{"kind":"Name","value":"missed"}},{"kind":"Field","name":{"kind":"Name","value":"nextAt"}},{"kind":"Field","name":{"kind":"Name","value":"nextStep"}},{"kind":"Field","name":{"kind":"Name","value":"lastTriggeredAt"}},{"kind":"Field","name":{"kind":"Name","value":"triggerCount"}},{"kind":"Field","name":{"kind":"Name","value":"pausedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOfTemplate"}},{"kind":"Field","name":{"kind":"Name","value":"createdBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"template"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<SchedulesQuery, SchedulesQueryVariables>;
export const RetryMcpDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RetryMcp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RetryMcpServerInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"retryMcpServer"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<RetryMcpMutation, RetryMcpMutationVariables>;
export const RulesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Rules"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"AllowRuleFilter"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowRules"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}},{"kind":"Field","name":{"kind":"Name","value":"agentId"}},{"kind":"Field","name":{"kind":"Name","value":"approvalId"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"note"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"place"}},{"kind":"Field","name":{"kind":"Name","value":"useCount"}},{"kind":"Field","name":{"kind":"Name","value":"isActive"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedBy"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<RulesQuery, RulesQueryVariables>;
export const PermissionsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Permissions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"templates"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"digest"}},{"kind":"Field","name":{"kind":"Name","value":"approvalQuorum"}},{"kind":"Field","name":{"kind":"Name","value":"allowsSelfApproval"}},{"kind":"Field","name":{"kind":"Name","value":"hooks"}},{"kind":"Field","name":{"kind":"Name","value":"permission"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"readOnlyCommands"}},{"kind":"Field","name":{"kind":"Name","value":"allowTools"}},{"kind":"Field","name":{"kind":"Name","value":"denyTools"}},{"kind":"Field","name":{"kind":"Name","value":"autoAllowTools"}},{"kind":"Field","name":{"kind":"Name","value":"autoAllowInBox"}},{"kind":"Field","name":{"kind":"Name","value":"requireApprovalTools"}},{"kind":"Field","name":{"kind":"Name","value":"rules"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"list"}},{"kind":"Field","name":{"kind":"Name","value":"place"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}}]}}]}}]}}]}}]} as unknown as DocumentNode<PermissionsQuery, PermissionsQueryVariables>;
export const ExplainDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Explain"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"callId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"agentId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"tool"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"JSON"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"explainPermission"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"callId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"callId"}}},{"kind":"Argument","name":{"kind":"Name","value":"agentId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"agentId"}}},{"kind":"Argument","name":{"kind":"Name","value":"tool"},"value":{"kind":"Variable","name":{"kind":"Name","value":"tool"}}},{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"problems"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"Field","name":{"kind":"Name","value":"explanation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"verdict"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"place"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"hooks"}},{"kind":"Field","name":{"kind":"Name","value":"considered"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"place"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"verdict"}}]}}]}}]}}]}}]} as unknown as DocumentNode<ExplainQuery, ExplainQueryVariables>;
export const SimulateDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Simulate"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"permission"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"PermissionInput"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"SimulationFilter"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"simulatePolicy"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"permission"},"value":{"kind":"Variable","name":{"kind":"Name","value":"permission"}}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"500"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"problems"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"Field","name":{"kind":"Name","value":"simulation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"examined"}},{"kind":"Field","name":{"kind":"Name","value":"changed"}},{"kind":"Field","name":{"kind":"Name","value":"changes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"tool"}},{"kind":"Field","name":{"kind":"Name","value":"before"}},{"kind":"Field","name":{"kind":"Name","value":"after"}},{"kind":"Field","name":{"kind":"Name","value":"calls"}}]}},{"kind":"Field","name":{"kind":"Name","value":"examples"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"before"}},{"kind":"Field","name":{"kind":"Name","value":"verdict"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"toolCall"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"shortId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"inputPreview"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]} as unknown as DocumentNode<SimulateQuery, SimulateQueryVariables>;
export const RevokeRuleDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RevokeRule"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RevokeAllowRuleInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeAllowRule"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowRule"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"isActive"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<RevokeRuleMutation, RevokeRuleMutationVariables>;
export const ViewerDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"actor"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Person"}}]}},{"kind":"Field","name":{"kind":"Name","value":"tenant"}},{"kind":"Field","name":{"kind":"Name","value":"roles"}},{"kind":"Field","name":{"kind":"Name","value":"abilities"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"isAllowed"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Person"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ActorRef"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actorId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]} as unknown as DocumentNode<ViewerQuery, ViewerQueryVariables>;
export const TemplatesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Templates"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"templates"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"isConfigured"}}]}}]}}]} as unknown as DocumentNode<TemplatesQuery, TemplatesQueryVariables>;
export const LanesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"Lanes"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"agentId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"since"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"timeline"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"agentIds"},"value":{"kind":"ListValue","values":[{"kind":"Variable","name":{"kind":"Name","value":"agentId"}}]}},{"kind":"Argument","name":{"kind":"Name","value":"withDescendants"},"value":{"kind":"BooleanValue","value":true}},{"kind":"Argument","name":{"kind":"Name","value":"since"},"value":{"kind":"Variable","name":{"kind":"Name","value":"since"}}},{"kind":"Argument","name":{"kind":"Name","value":"kinds"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"AGENT_CREATED"},{"kind":"EnumValue","value":"AGENT_SPAWNED"},{"kind":"EnumValue","value":"AGENT_RETURNED"},{"kind":"EnumValue","value":"STATE_CHANGED"},{"kind":"EnumValue","value":"MESSAGE_RECEIVED"},{"kind":"EnumValue","value":"REMINDER_SENT"},{"kind":"EnumValue","value":"STEP_COMPLETE"},{"kind":"EnumValue","value":"TOOL_START"},{"kind":"EnumValue","value":"TOOL_WAITING"},{"kind":"EnumValue","value":"TOOL_END"},{"kind":"EnumValue","value":"PERMISSION_REQUIRED"},{"kind":"EnumValue","value":"PERMISSION_DECIDED"},{"kind":"EnumValue","value":"PERMISSION_CLOSED"},{"kind":"EnumValue","value":"ERROR"},{"kind":"EnumValue","value":"DONE"}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"caughtUp"}},{"kind":"Field","name":{"kind":"Name","value":"outage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"since"}},{"kind":"Field","name":{"kind":"Name","value":"bufferedEvents"}}]}},{"kind":"Field","name":{"kind":"Name","value":"events"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"timestamp"}},{"kind":"Field","name":{"kind":"Name","value":"agent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AgentCreated"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"templateId"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AgentSpawned"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"childId"}},{"kind":"Field","name":{"kind":"Name","value":"templateId"}},{"kind":"Field","name":{"kind":"Name","value":"description"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AgentReturned"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"childId"}},{"kind":"Field","name":{"kind":"Name","value":"outcome"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"StateChanged"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"state"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"StepComplete"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"step"}},{"kind":"Field","name":{"kind":"Name","value":"durationMs"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ToolEvent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"call"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"state"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ToolWaiting"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"waitsFor"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PermissionRequired"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"request"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvalId"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"host"}},{"kind":"Field","name":{"kind":"Name","value":"call"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PermissionDecided"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvalId"}},{"kind":"Field","name":{"kind":"Name","value":"missingDecisions"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PermissionClosed"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"approvalId"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ErrorRaised"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"severity"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Done"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}}]}}]}}]}}]} as unknown as DocumentNode<LanesSubscription, LanesSubscriptionVariables>;