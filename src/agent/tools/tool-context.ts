import type { ReminderCategory, ReminderPriority } from "../../events/snapshots.ts";
import type { ToolQuestion } from "../../events/tool-question.ts";
import type { Json } from "../../lib/json.ts";
import type { AgentMemory } from "./memory/agent-memory.ts";
import type { KnownFiles } from "../workspace/known-files.ts";
import type { GroupedProcess } from "../workspace/process-groups.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ChildRequest, StartedChild } from "./child.ts";
import type { Shells } from "./bash/shells.ts";
import type { Answered, InputAnswer } from "./question.ts";
import type { FinishedProgram, StartOptions } from "./programs.ts";
import type { TodoList } from "./todo-list.ts";

/** A part of an output, in bytes. */
export type OutputRange = { readonly offset: number; readonly bytes: number };

/** `next` is the offset of the next part; null at the end. The text is null for a call without an output. */
export type EarlierOutput = {
  readonly text: string | null;
  readonly total: number;
  readonly next: number | null;
  /** False if another server has the whole, or if it was erased. */
  readonly isWhole: boolean;
};

export type ToolReminder = {
  readonly text: string;
  /** GENERAL if omitted. */
  readonly category?: ReminderCategory;
  /** MEDIUM if omitted. */
  readonly priority?: ReminderPriority;
};

export type ToolContext = {
  readonly tenant: string;
  readonly agentId: string;
  /** The actor who created the agent, by their own id. */
  readonly createdBy: string;
  readonly templateId: string;
  readonly callId: string;
  /** The folder outside of which a tool must not read or write. */
  readonly workspace: Workspace;
  /** The files that the agent's calls have read and written; this call's notes are stored with its end. */
  readonly files: KnownFiles;
  /** Aborts at the timeout and when the turn is interrupted. Pass it on, or check it. */
  readonly signal: AbortSignal;
  readonly todos: TodoList;
  /**
   * Starts a program, without a shell, in the agent's sandbox. It and its descendants are killed when the call ends, or
   * when the server dies. Its environment is that of a command of `bash_run` (docs/tools.md) with `env`, without the
   * server's secrets. `folder` is a path in the workspace, the workspace itself if omitted. Rejects with PathRefused
   * for a folder that the agent may not read.
   */
  start(file: string, args: readonly string[], options?: StartOptions): Promise<GroupedProcess>;
  /**
   * Reads a program's output until its end, in bounded memory, and kills its descendants. The first and the last 32 MB
   * are kept with the call if the model does not read all. If the call ends first, its failure includes the output so
   * far.
   */
  finish(program: GroupedProcess): Promise<FinishedProgram>;
  readonly shells: Shells;
  /**
   * True if rules `network(host:…)` and people allow a connection at present: ask before each. Hosts without a rule are
   * refused, and a person is asked when the call ends. Names are not resolved. Rejects if the database does not answer.
   */
  mayReach(host: string, port: number): Promise<boolean>;
  /**
   * Reports a TOOL_CUSTOM_EVENT. Resolves when there is room for more. A tool that does not wait loses events beyond
   * its agent's share, and an ERROR of severity WARN reports their number.
   */
  emit(eventType: string, eventData: Json): Promise<void>;
  /**
   * The secret by which another service gives the result of this call, after `later()`: it is the same for each run of
   * the call, and no other call's. `POST /tool-calls/result` takes it as a Bearer token (docs/tools.md).
   */
  completionToken(): string;
  /**
   * Sends a reminder to the call's own agent, which reads it with its next step. It starts no turn, and adds no
   * requester. The same reminder of one call is sent once, also if the call runs again. Rejects for a text that is
   * empty or larger than 8 KB, if 50 reminders wait, and when the call has ended.
   */
  remind(reminder: ToolReminder): Promise<void>;
  /** Internal: the memory of its agent, for `memory`; null if its template has none. */
  readonly memory: AgentMemory | null;
  /** Internal: a part of the output of an earlier call of the agent, for `read_output`. Null without such a call. */
  earlierOutput(call: string, range: OutputRange): Promise<EarlierOutput | null>;
  /** Internal: starts another agent with the end of this call, for `task_run`. Rejects with advice if none may be started. */
  startChild(request: ChildRequest): Promise<StartedChild>;
  /** Internal, for tools of MCP servers: the answer with which this run continues; null for the first run of a call. */
  readonly answered: Answered | null;
  /**
   * Internal, for tools of MCP servers: asks a person while the call runs, without its time limit. The question is closed
   * when `withdrawn` aborts. Rejects if the call has an open question already.
   */
  askPerson(question: ToolQuestion, withdrawn: AbortSignal): Promise<InputAnswer>;
};
