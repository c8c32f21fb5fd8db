import { Type } from "typebox";
import type { OwnerChange } from "../../db/commit/change.ts";
import type { Sql } from "../../db/sql.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { toJson, type Json } from "../../lib/json.ts";
import { closed, COUNT, milliseconds, named, TEXT, TEXTS, withDefault, type Complete } from "../../lib/setting.ts";
import { byteLength, headBytes } from "../../lib/text.ts";
import type { Meters } from "../../telemetry/meters.ts";
import { type ServerFolders, agentPermissions, agentPolicy, guardedWorkspace } from "../policy/agent-policy.ts";
import { coverRule } from "../policy/cover-rule.ts";
import type { RememberedHostRules } from "../policy/hosts/remembered-host-rules.ts";
import type { Permission, Permissions, PolicyBox } from "../policy/permission.ts";
import type { TreeTemplate } from "../policy/held-template.ts";
import type { RuleValues } from "../policy/rule-values.ts";
import { storedRules } from "../policy/stored-rules.ts";
import { PERMISSION_SETTINGS, type PermissionSource, type Vocabulary } from "../policy/permission-source.ts";
import { DAY_MS } from "../../lib/time.ts";
import { CLIENT_TOOL } from "../tools/client-tool.ts";
import { MOST_DEFERRED_MS } from "../tools/later.ts";
import type { OwnCodeServices } from "../tools/own-code.ts";
import type { ShapeChecks } from "../tools/shapes/shape-checks.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import { MAX_TIMEOUT_MS } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { AnsweringFolders } from "../workspace/answering-folders.ts";
import type { RecentContents, KnownFiles } from "../workspace/known-files.ts";
import type { ProcessGroups, ProgramLease } from "../workspace/process-groups.ts";
import { type Sandboxes, type Waits, sandboxFor } from "../workspace/sandbox/sandbox.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { CallingAgent } from "./call.ts";
import type { CallHooks } from "./hooks.ts";
import { type AskInBackground, HostGate, type CallHosts, ProgramHosts } from "./hosts/call-hosts.ts";
import type { StartingChildren } from "./children.ts";
import type { CallQuestions } from "./asked-input.ts";
import type { CallTokens } from "./call-tokens.ts";
import type { LateResults } from "./late-results.ts";
import { agentMemory, type MemoryWrite } from "./memory/agent-memory.ts";
import type { MemorySettings } from "./memory/memory-rows.ts";
import { remindOwnAgent } from "./own-reminder.ts";
import { readEarlierOutput } from "./earlier-output.ts";
import type { ToolOutputs } from "./outputs.ts";
import type { CallOutput } from "./programs/call-output.ts";
import { type ProgramServices, CallPrograms, type ProgramPlace } from "./programs/programs.ts";
import type { RecentResults, ResultCache } from "./results/result-cache.ts";
import type { ServerShells, ShellCall } from "./shells/server-shells.ts";
import { TODO_SETTINGS, todoList, type TodoSettings, type TodoWrite } from "./todos.ts";

export const SUBAGENT_SETTINGS = {
  /** The names of the templates whose agents may be started. Must be given. */
  templates: Type.Immutable(Type.Array(TEXT, { minItems: 1 })),
  /** How many levels of agents may stand below, up to 8. 1 if omitted. */
  depth: withDefault(Type.Integer({ minimum: 1, maximum: 8 }), 1),
  /** How many agents that one agent has started may be at work concurrently. 5 if omitted. */
  atOnce: withDefault(Type.Integer({ minimum: 1, maximum: 64 }), 5),
  /** True if they begin with the model and the tool timeout of the agent that starts them. False if omitted. */
  inheritConfig: withDefault(Type.Boolean(), false),
  /** Their folder: that of the agent that starts them, or an empty one of their own. `parent` if omitted. */
  workspace: withDefault(Type.Enum(["parent", "own"]), "parent"),
  /** Settings of the agents that are started, in addition to those of their templates. None if omitted. */
  overrides: withDefault(
    closed({
      /** A permission that tightens theirs. None if omitted. */
      permission: Type.Optional(closed(PERMISSION_SETTINGS)),
      /** The reminders of todos; settings that it omits are those of their templates. None if omitted. */
      todo: Type.Optional(closed(TODO_SETTINGS)),
    }),
    {},
  ),
};

export const CALL_SETTINGS = {
  /** Names of the tools that its agents have; `mcp__server__*` are all of an MCP server. All if omitted. */
  tools: withDefault(TEXTS, null),
  /**
   * Tools that clients of its agents answer (`completeToolCall`), by name. Its agents have them in addition to `tools`;
   * agents of other templates do not have them. None if omitted.
   */
  clientTools: withDefault(named(CLIENT_TOOL, 0), {}),
  /** The time limit of a call, unless its tool or its agent says otherwise; in ms, up to an hour. 60,000 if omitted. */
  toolTimeoutMs: withDefault(milliseconds(MAX_TIMEOUT_MS), 60_000),
  /** The time for a result that comes later, unless its tool says otherwise; in ms, up to 30 days. 86,400,000 if omitted. */
  deferredTimeoutMs: withDefault(milliseconds(MOST_DEFERRED_MS), DAY_MS),
  /** A tool that runs longer, in ms, is reported as an ERROR of severity WARN. 30,000 if omitted. */
  slowToolMs: withDefault(COUNT, 30_000),
  /** The number of background shells that an agent may have running. 8 if omitted. */
  backgroundShells: withDefault(COUNT, 8),
  /** The time limit of a background shell; in ms, up to a day. 3,600,000 if omitted. */
  backgroundShellMs: withDefault(milliseconds(24 * 60 * 60 * 1_000), 3_600_000),
  /** The reminders of its agents' todo lists (docs/tools.md). If omitted, only one that the list was emptied. */
  todo: withDefault(closed(TODO_SETTINGS), { reminderOnStart: false, remindIntervalSteps: null, remindWhenEmptied: true }),
  /** True if the pipeline's events (EXECUTION_STARTED, STAGE_STARTED …) are emitted for each call. False if omitted. */
  trace: withDefault(Type.Boolean(), false),
  /**
   * The sandbox of its agents' programs: `none`, or `required`, without which no program starts (docs/sandbox.md).
   * `none` if omitted.
   */
  sandbox: withDefault(Type.Enum(["none", "required"]), "none"),
};

/** The parts of a template that bind agents below those of it. */
export type AboveTemplate = TreeTemplate & {
  readonly sandbox: "none" | "required";
  readonly selfApproval: boolean;
  readonly approvalQuorum: number;
  /** The agents that its agents may start; null for none. */
  readonly subagents: Complete<typeof SUBAGENT_SETTINGS> | null;
  readonly hooks: CallHooks;
};

export type CallTemplate = Complete<typeof CALL_SETTINGS> & {
  readonly id: string;
  /** The agents that its agents may start; null for none. */
  readonly subagents: Complete<typeof SUBAGENT_SETTINGS> | null;
  readonly todo: TodoSettings;
  /** The memory of its agents; null for none. */
  readonly memory: MemorySettings | null;
  readonly permission: Permission;
  /** For an agent that keeps an earlier version: the permission of the present one, which binds as well. Null otherwise. */
  readonly presentPermission: Permission | null;
  /** The box in which its agents' programs run; null without one. */
  readonly box: PolicyBox | null;
  readonly hooks: CallHooks;
  /** The permissions that tighten those of the agents that its agents start. */
  readonly childPermissions: readonly PermissionSource[];
  /** The templates of the agents above, the first of the tree first. */
  readonly above: readonly AboveTemplate[];
};

export type CallOwner = {
  readonly lease: { readonly programs: ProgramLease };
  /** Aborts when the lease is lost: from then on a call has no effects. */
  readonly lost: AbortSignal;
  readonly isFull: boolean;
  /** Lets the next action read the agent's rows again: another commit than the owner's has changed them. */
  invalidate(): void;
  send(body: AgentEventBody): void;
  room(signal: AbortSignal): Promise<void>;
  /** Stores deferred commits. False if a replacement was stored. */
  flush(): Promise<boolean>;
  /** Stores the start of a background shell. False if it is refused, or if the lease is lost. */
  commitShell(start: NonNullable<OwnerChange["shellStart"]>, event: AgentEventBody): Promise<boolean>;
  /** Replaces the agent's todo list. False if the lease is lost. */
  commitTodos(write: TodoWrite): Promise<boolean>;
  /** Changes memory. False if others were faster, if the call has ended, or if the lease is lost. */
  commitMemory(write: MemoryWrite): Promise<boolean>;
};

export type JudgeServices = Vocabulary &
  ServerFolders & { readonly sql: Sql; readonly folders: AnsweringFolders; readonly tools: Pick<ToolRegistry, "serverReason"> };

export type CallServices = JudgeServices &
  OwnCodeServices &
  ProgramServices & {
    readonly outputs: ToolOutputs;
    readonly meters: Meters;
    readonly lateResults: LateResults;
    readonly shapes: Pick<ShapeChecks, "problemsOf" | "misfits">;
    readonly groups: ProcessGroups;
    readonly contents: RecentContents;
    readonly results: RecentResults;
    readonly sandboxes: Sandboxes;
    readonly hostRules: RememberedHostRules;
    readonly askInBackground: AskInBackground;
    readonly shells: ServerShells;
    readonly callTokens: Pick<CallTokens, "of">;
    /** True for the name of a configured model. */
    readonly hasModel: (name: string) => boolean;
    /** The model of a configured template. */
    readonly modelOfTemplate: (templateId: string) => string | undefined;
  };

export type CallScope = {
  readonly services: CallServices;
  readonly template: CallTemplate;
  readonly agent: CallingAgent;
  readonly owner: CallOwner;
  readonly results: ResultCache;
  readonly children: StartingChildren;
  readonly questions: CallQuestions;
};

/** The largest data of one TOOL_CUSTOM_EVENT, in bytes of JSON. */
const CUSTOM_EVENT_BYTES = 16 * 1024;

/** When `ended` aborts, later actions of the call have no effect. */
export type RunningCall = {
  readonly callId: string;
  readonly toolName: string;
  readonly ended: AbortSignal;
  /** Events dropped because the tool emitted more than its agent's share of the buffer without waiting. */
  readonly leftOut: { events: number };
  readonly output: () => CallOutput;
  /** The values of its input that rules saw; null if there are none. */
  readonly values: RuleValues | null;
  readonly files: () => KnownFiles;
  readonly hosts: () => CallHosts;
  readonly waits: () => Waits;
  readonly answered: ToolContext["answered"];
  readonly askPerson: ToolContext["askPerson"];
};

export function toolContext(
  { services, template, agent, owner, children }: CallScope,
  { callId, toolName, ended, leftOut, output, values, files, hosts, waits, answered, askPerson }: RunningCall,
): (signal: AbortSignal) => ToolContext {
  const workspace = guardedWorkspace(services, agent.workspace, agentPermissions(template, agent.permission, services), values);
  const place = (mayReach: ProgramPlace["mayReach"]): Omit<ProgramPlace, "lease"> => ({
    ...programPlace({ services, template, agent }, workspace),
    mayReach,
    waits: waits(),
  });
  const mayReach: ProgramPlace["mayReach"] = (host, port) => hosts().mayReach(host, port);
  let started: CallPrograms | null = null;
  const programs = (): CallPrograms =>
    (started ??= new CallPrograms(services, { ...place(mayReach), lease: owner.lease.programs }, ended, output()));
  const shellCall = (): ShellCall => {
    const { id, tenant, createdBy, templateVersion, permission } = agent;
    const program = { agent: { id, tenant, createdBy, templateId: template.id, templateVersion, permission }, callId };
    const outliving = new ProgramHosts(new HostGate(services, agent, template), program, services.askInBackground);
    return {
      ...place((host, port) => outliving.mayReach(host, port)),
      tenant,
      createdBy,
      callId,
      ended,
      most: template.backgroundShells,
      mostMs: template.backgroundShellMs,
      commit: (start, event) => owner.commitShell(start, event),
    };
  };
  /** One shared wait for all emits of a tool: a tool may emit without end. */
  let room: Promise<void> | null = null;
  return (signal) => ({
    tenant: agent.tenant,
    agentId: agent.id,
    createdBy: agent.createdBy,
    templateId: template.id,
    callId,
    workspace,
    get files() {
      return files();
    },
    signal,
    start: (file, args, options) => programs().start(file, args, options),
    finish: (program) => programs().finish(program),
    shells: {
      start: (command, argv, options) => services.shells.start(shellCall(), command, argv, options),
      logs: (shellId, piece) => services.shells.logs(agent.id, shellId, piece),
      kill: (shellId) => services.shells.kill(agent.id, shellId),
    },
    mayReach,
    earlierOutput: (call, range) => readEarlierOutput(services, agent.id, call, range),
    get todos() {
      return todoList(services.sql, { agentId: agent.id, callId, ended, ...template.todo }, (write) => owner.commitTodos(write));
    },
    emit: (eventType, eventData) => {
      if (ended.aborted) return Promise.resolve();
      if (owner.isFull) leftOut.events += 1;
      else
        owner.send({
          kind: "TOOL_CUSTOM_EVENT",
          callId,
          tool: toolName,
          eventType: headBytes(eventType, 200),
          eventData: customData(eventData),
        });
      if (!owner.isFull) return Promise.resolve();
      room ??= owner.room(ended).finally(() => (room = null));
      return room;
    },
    remind: async (reminder) => {
      if (ended.aborted) throw new Error("the call has ended: its tool sends no reminder any more");
      const { id: agentId, tenant, createdBy } = agent;
      await remindOwnAgent(services, { agentId, tenant, createdBy, callId }, reminder);
      owner.invalidate();
    },
    get memory() {
      const { sql } = services;
      const permissions = (): Permissions => agentPermissions(template, agent.permission, services);
      const commit = (write: MemoryWrite): Promise<boolean> => owner.commitMemory(write);
      return agentMemory({ sql, agent, template, permissions, callId, values, ended, commit, lost: owner.lost });
    },
    startChild: (request) => children.start(services, agent, template, callId, request),
    answered,
    askPerson,
    completionToken: () => services.callTokens.of({ tenant: agent.tenant, callId }),
  });
}

function programPlace(
  { services, template, agent }: Omit<CallScope, "owner" | "results" | "children" | "questions">,
  workspace: Workspace,
): Omit<ProgramPlace, "mayReach" | "waits" | "lease"> {
  return {
    agentId: agent.id,
    workspace,
    sandbox: sandboxFor(services.sandboxes, template),
    coverRule: async () => {
      const { rules } = await storedRules(services.sql, services.tools, { ...agent, templateId: template.id });
      return coverRule(agentPolicy(template, agent.permission, rules, services));
    },
  };
}

function customData(eventData: unknown): Json {
  const json = toJson(eventData) ?? null;
  const text = JSON.stringify(json);
  return byteLength(text) > CUSTOM_EVENT_BYTES ? { truncated: true, preview: headBytes(text, CUSTOM_EVENT_BYTES / 4) } : json;
}
