/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** Activity of an agent. */
export type AgentState =
  /** The turn waits for a person. */
  | 'PAUSED'
  /** Idle: it waits for a message. */
  | 'READY'
  /** A turn is running. */
  | 'WORKING';

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

/** Provider's reason why its prompt cache did not serve a request. */
export type CacheMissReason =
  /** Earlier messages differ. */
  | 'MESSAGES_CHANGED'
  /** Another model or speed than in the request before. */
  | 'MODEL_CHANGED'
  /** A reason that this version does not know. */
  | 'OTHER'
  /** The provider no longer knows the request before. Nothing need have changed. */
  | 'PREVIOUS_NOT_FOUND'
  /** Another system prompt. */
  | 'SYSTEM_CHANGED'
  /** Other tools, or another order of them. */
  | 'TOOLS_CHANGED'
  /** The provider cannot tell. */
  | 'UNAVAILABLE';

/** Where the result of a call in state WAITING comes from. */
export type CallWait =
  /** Another agent, which the call has started. */
  | 'CHILD'
  /** A client of the agent: the tool is a client tool, and a subscriber answers with `completeToolCall`. */
  | 'CLIENT_TOOL'
  /** Another program, or a task of an MCP server: the tool has answered that its result comes later. */
  | 'LATER';

/** How the task of an agent ended that another one started. */
export type ChildOutcome =
  /** It ended with an error, or had no steps left. */
  | 'ERROR'
  /** It was interrupted. */
  | 'INTERRUPTED'
  /** It completed its task. */
  | 'OK';

/** Way of making room in a context window. */
export type CompactionMethod =
  /** Old outputs of tool calls are replaced by a short text. */
  | 'CLEARED'
  /** Old messages are left out. */
  | 'SHORTENED'
  /** Old messages are replaced by a summary of a model. */
  | 'SUMMARY';

/** Phase of a compaction. */
export type CompressionPhase =
  /** It was applied, or has failed. */
  | 'END'
  /** It has started. */
  | 'START';

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

/** Part of the system where the error occurred. */
export type ErrorPhase =
  /** Turns, takeovers and restarts of the agent. */
  | 'LIFECYCLE'
  /** A model call. */
  | 'MODEL'
  /** The server, its database, or the delivery of events to listeners and webhooks. */
  | 'SYSTEM'
  /** A tool call. */
  | 'TOOL';

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

/** A change of a known file by something other than the file tools of its agent. */
export type FileChangeKind =
  /** The content changed. */
  | 'CHANGED'
  /** The file exists again after it was removed. */
  | 'MADE_AGAIN'
  /** The file was removed. */
  | 'REMOVED';

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

/** Risk of a call. */
export type Risk =
  /** Its changes may destroy data. */
  | 'HIGH'
  /** It only reads. */
  | 'LOW'
  /** It makes changes that can be seen and repaired. */
  | 'MEDIUM';

/** Reason why a background shell ended. */
export type ShellEndReason =
  /** Its agent was archived. */
  | 'ARCHIVED'
  /** The program exited by itself, or through a signal from elsewhere. */
  | 'EXITED'
  /** A person interrupted its agent. */
  | 'INTERRUPTED'
  /** Its agent stopped it. */
  | 'KILLED'
  /** The program could not be started. */
  | 'NOT_STARTED'
  /** Its server was shut down. */
  | 'SERVER_CLOSED'
  /** Its server crashed, or could not reach the database in time. */
  | 'SERVER_LOST'
  /** Another server took over its agent. */
  | 'TAKEN_OVER'
  /** Its time limit was reached. */
  | 'TIME_UP';

/** State of a todo entry. */
export type TodoStatus =
  /** Done. */
  | 'COMPLETED'
  /** In progress. */
  | 'IN_PROGRESS'
  /** Not started. */
  | 'PENDING';

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

export type ConversationSubscriptionVariables = Exact<{
  agentId: string | number;
  since?: string | null | undefined;
}>;


export type ConversationSubscription = { timeline: { cursor: string, caughtUp: boolean, outage: { since: string, bufferedEvents: number } | null, events: Array<
      | { __typename: 'AccessTokenCreated', cursor: string }
      | { __typename: 'AccessTokenRevoked', cursor: string }
      | { __typename: 'AgentArchived', cursor: string }
      | { __typename: 'AgentCreated', cursor: string }
      | { __typename: 'AgentDeleted', cursor: string }
      | { __typename: 'AgentRenamed', cursor: string }
      | { __typename: 'AgentResumed', cursor: string }
      | { __typename: 'AgentReturned', cursor: string, outcome: ChildOutcome, answer: string, callId: string | null, childId: string }
      | { __typename: 'AgentSpawned', cursor: string, templateId: string, description: string, isBackground: boolean, callId: string | null, childId: string }
      | { __typename: 'AgentUnarchived', cursor: string }
      | { __typename: 'AllowRuleRevoked', cursor: string }
      | { __typename: 'AllowRuleStored', cursor: string }
      | { __typename: 'BreakpointChanged', cursor: string }
      | { __typename: 'BudgetAsked', cursor: string }
      | { __typename: 'BudgetRaised', cursor: string }
      | { __typename: 'BudgetRevoked', cursor: string }
      | { __typename: 'BudgetSet', cursor: string }
      | { __typename: 'BudgetStopped', cursor: string }
      | { __typename: 'BudgetWarned', cursor: string }
      | { __typename: 'ConfigurationChanged', cursor: string }
      | { __typename: 'ContextCompression', compressionPhase: CompressionPhase, compactionId: string, method: CompactionMethod, tokensBefore: number | null, tokensAfter: number | null, summary: string | null, failureReason: string | null, cursor: string }
      | { __typename: 'DelegationEnded', cursor: string }
      | { __typename: 'DelegationStarted', cursor: string }
      | { __typename: 'Done', reason: DoneReason, value: unknown, messageIds: Array<string>, cursor: string, problems: Array<{ path: string, message: string }> }
      | { __typename: 'ErrorRaised', severity: ErrorSeverity, phase: ErrorPhase, message: string | null, detail: string | null, retryAt: string | null, cursor: string }
      | { __typename: 'ExecutionAborted', cursor: string }
      | { __typename: 'ExecutionCompleted', cursor: string }
      | { __typename: 'ExecutionFailed', cursor: string }
      | { __typename: 'ExecutionStarted', cursor: string }
      | { __typename: 'ExportCreated', cursor: string }
      | { __typename: 'ExportEnded', cursor: string }
      | { __typename: 'FileChanged', fileCount: number, cursor: string, files: Array<{ path: string | null, change: FileChangeKind }> }
      | { __typename: 'InterruptRequested', cursor: string }
      | { __typename: 'MemoryChanged', cursor: string }
      | { __typename: 'MessageReceived', messageId: string, text: string | null, images: number, cursor: string, sentBy: { actorId: string, name: string | null } }
      | { __typename: 'MessageWithdrawn', messageId: string, cursor: string }
      | { __typename: 'PermissionClosed', approvalId: string, approvalState: ApprovalState, cursor: string }
      | { __typename: 'PermissionDecided', approvalId: string, decision: ApprovalDecision, note: string | null, missingDecisions: number, cursor: string, decidedBy: { actorId: string, name: string | null } }
      | { __typename: 'PermissionRequired', cursor: string, request: { approvalId: string, kind: ApprovalKind, inputHash: string | null, reason: string | null, risk: Risk, host: string | null, port: number | null, call: { name: string } | null, question: { server: string, message: string, fields: Array<{ name: string, kind: FormFieldKind, title: string | null, description: string | null, isRequired: boolean, default: unknown, format: FormFormat | null, minLength: number | null, maxLength: number | null, minimum: number | null, maximum: number | null, minItems: number | null, maxItems: number | null, options: Array<{ value: string, title: string }> }> } | null }, approval: { inputText: string | null } | null }
      | { __typename: 'ReminderSent', messageId: string, content: string | null, cursor: string, sentBy: { actorId: string, name: string | null } }
      | { __typename: 'ScheduleChanged', cursor: string }
      | { __typename: 'SchedulerTriggered', cursor: string }
      | { __typename: 'ShellEnded', shellId: string, command: string | null, endReason: ShellEndReason, exitCode: number | null, signal: string | null, cursor: string }
      | { __typename: 'ShellStarted', shellId: string, command: string | null, cursor: string }
      | { __typename: 'SnoozeChanged', cursor: string }
      | { __typename: 'StageCompleted', cursor: string }
      | { __typename: 'StageStarted', cursor: string }
      | { __typename: 'StateChanged', previousState: AgentState, state: AgentState, cursor: string }
      | { __typename: 'StepComplete', contextTokens: number | null, contextWindow: number | null, cachedShare: number | null, cursor: string, cacheMiss: { reason: CacheMissReason | null } | null }
      | { __typename: 'StorageFailure', cursor: string }
      | { __typename: 'TemplateChanged', cursor: string }
      | { __typename: 'TextChunk', step: number, block: number, delta: string, cursor: string }
      | { __typename: 'TextChunkEnd', step: number, block: number, text: string | null, aborted: boolean, cursor: string }
      | { __typename: 'TextChunkStart', step: number, block: number, cursor: string }
      | { __typename: 'ThinkChunk', step: number, block: number, delta: string, cursor: string }
      | { __typename: 'ThinkChunkEnd', step: number, block: number, text: string | null, aborted: boolean, cursor: string }
      | { __typename: 'ThinkChunkStart', step: number, block: number, cursor: string }
      | { __typename: 'TodoChanged', cursor: string, todos: Array<{ todoId: string, title: string | null, status: TodoStatus, assignee: string | null, notes: string | null }> }
      | { __typename: 'TodoReminder', cursor: string }
      | { __typename: 'TokensUsed', totalTokens: number, costUsd: number | null, cursor: string }
      | { __typename: 'ToolAccepted', cursor: string }
      | { __typename: 'ToolCancelRequested', cursor: string }
      | { __typename: 'ToolCustomEvent', callId: string | null, eventType: string, eventData: unknown, cursor: string }
      | { __typename: 'ToolEnd', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string | null, output: string | null, durationMs: number | null, cachedFrom: string | null } }
      | { __typename: 'ToolError', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string | null, output: string | null, durationMs: number | null, cachedFrom: string | null } }
      | { __typename: 'ToolExecuted', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string | null, output: string | null, durationMs: number | null, cachedFrom: string | null } }
      | { __typename: 'ToolManualUpdated', cursor: string }
      | { __typename: 'ToolStart', cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string | null, output: string | null, durationMs: number | null, cachedFrom: string | null } }
      | { __typename: 'ToolWaiting', waitsFor: CallWait, dueAt: string | null, cursor: string, call: { callId: string, name: string, state: ToolCallState, inputPreview: string | null, output: string | null, durationMs: number | null, cachedFrom: string | null }, toolCall: { input: unknown } | null }
      | { __typename: 'TurnRetryRequested', cursor: string }
    > } };

export type AskedFragment = { request: { approvalId: string, kind: ApprovalKind, inputHash: string | null, reason: string | null, risk: Risk, host: string | null, port: number | null, call: { name: string } | null, question: { server: string, message: string, fields: Array<{ name: string, kind: FormFieldKind, title: string | null, description: string | null, isRequired: boolean, default: unknown, format: FormFormat | null, minLength: number | null, maxLength: number | null, minimum: number | null, maximum: number | null, minItems: number | null, maxItems: number | null, options: Array<{ value: string, title: string }> }> } | null }, approval: { inputText: string | null } | null };

type ChildNews_AgentReturned_Fragment = { outcome: ChildOutcome, answer: string, callId: string | null, childId: string };

type ChildNews_AgentSpawned_Fragment = { templateId: string, description: string, isBackground: boolean, callId: string | null, childId: string };

export type ChildNewsFragment =
  | ChildNews_AgentReturned_Fragment
  | ChildNews_AgentSpawned_Fragment
;

export const CONVERSATION_DOCUMENT = "subscription Conversation($agentId:ID!$since:Cursor){timeline(agentIds:[$agentId]since:$since kinds:[MESSAGE_RECEIVED MESSAGE_WITHDRAWN REMINDER_SENT TEXT_CHUNK_START TEXT_CHUNK TEXT_CHUNK_END THINK_CHUNK_START THINK_CHUNK THINK_CHUNK_END TOOL_START TOOL_WAITING TOOL_END TOOL_CUSTOM_EVENT AGENT_SPAWNED AGENT_RETURNED PERMISSION_REQUIRED PERMISSION_DECIDED PERMISSION_CLOSED DONE STATE_CHANGED FILE_CHANGED SHELL_STARTED SHELL_ENDED ERROR TODO_CHANGED TOKEN_USAGE STEP_COMPLETE CONTEXT_COMPRESSION]){cursor caughtUp outage{since bufferedEvents}events{__typename cursor ...on MessageReceived{messageId text images sentBy{actorId name}}...on ReminderSent{messageId content sentBy{actorId name}}...on MessageWithdrawn{messageId}...on BlockEvent{step block}...on ChunkEvent{delta}...on BlockEndEvent{text aborted}...on ToolEvent{call{callId name state inputPreview output durationMs cachedFrom}}...on ToolWaiting{waitsFor dueAt toolCall{input}}...on ToolCustomEvent{callId eventType eventData}...ChildNews ...Asked ...on PermissionDecided{approvalId decision decidedBy{actorId name}note missingDecisions}...on PermissionClosed{approvalId approvalState}...on StateChanged{previousState state}...on FileChanged{fileCount files{path change}}...on ShellStarted{shellId command}...on ShellEnded{shellId command endReason exitCode signal}...on ErrorRaised{severity phase message detail retryAt}...on TodoChanged{todos{todoId title status assignee notes}}...on TokensUsed{totalTokens costUsd}...on StepComplete{contextTokens contextWindow cachedShare cacheMiss{reason}}...on ContextCompression{compressionPhase compactionId method tokensBefore tokensAfter summary failureReason}...on Done{reason value problems{path message}messageIds}}}}fragment Asked on PermissionRequired{request{approvalId kind inputHash reason risk host port call{name}question{server message fields{name kind title description isRequired default format minLength maxLength minimum maximum options{value title}minItems maxItems}}}approval{inputText}}fragment ChildNews on ChildEvent{callId childId ...on AgentSpawned{templateId description isBackground}...on AgentReturned{outcome answer}}";
