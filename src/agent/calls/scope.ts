import { Type } from "typebox";
import type { OwnerChange } from "../../db/commit/change.ts";
import type { Sql } from "../../db/sql.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { COUNT, milliseconds, TEXTS, withDefault, type Complete } from "../../lib/setting.ts";
import type { Meters } from "../../telemetry/meters.ts";
import type { ServerFolders } from "../policy/agent-policy.ts";
import type { RememberedHostRules } from "../policy/hosts/remembered-host-rules.ts";
import type { Vocabulary, Permission, PolicyBox } from "../policy/permission.ts";
import type { OwnCodeServices } from "../tools/own-code.ts";
import { MAX_TIMEOUT_MS } from "../tools/tool.ts";
import type { AnsweringFolders } from "../workspace/answering-folders.ts";
import type { RecentContents } from "../workspace/known-files.ts";
import type { ProcessGroups, ProgramLease } from "../workspace/process-groups.ts";
import type { Sandboxes } from "../workspace/sandbox/sandbox.ts";
import type { CallingAgent } from "./call.ts";
import type { CallHooks } from "./hooks.ts";
import type { AskInBackground } from "./hosts/call-hosts.ts";
import type { LateResults } from "./late-results.ts";
import type { ToolOutputs } from "./outputs.ts";
import type { ProgramServices } from "./programs/programs.ts";
import type { RecentResults, ResultCache } from "./results/result-cache.ts";
import type { ServerShells } from "./shells/server-shells.ts";

export const CALL_SETTINGS = {
  /** Names of the tools that its agents have. All if omitted. */
  tools: withDefault(TEXTS, null),
  /** The time limit of a call, unless its tool or its agent says otherwise; in ms, up to an hour. 60,000 if omitted. */
  toolTimeoutMs: withDefault(milliseconds(MAX_TIMEOUT_MS), 60_000),
  /** A tool that runs longer, in ms, is reported as an ERROR of severity WARN. 30,000 if omitted. */
  slowToolMs: withDefault(COUNT, 30_000),
  /** The number of background shells that an agent may have running. 8 if omitted. */
  backgroundShells: withDefault(COUNT, 8),
  /** The time limit of a background shell; in ms, up to a day. 3,600,000 if omitted. */
  backgroundShellMs: withDefault(milliseconds(24 * 60 * 60 * 1_000), 3_600_000),
  /** True if the pipeline's events (EXECUTION_STARTED, STAGE_STARTED …) are emitted for each call. False if omitted. */
  trace: withDefault(Type.Boolean(), false),
  /**
   * The sandbox of its agents' programs: `none`, or `required`, without which no program starts (docs/sandbox.md).
   * `none` if omitted.
   */
  sandbox: withDefault(Type.Enum(["none", "required"]), "none"),
};

export type CallTemplate = Complete<typeof CALL_SETTINGS> & {
  readonly id: string;
  readonly permission: Permission;
  /** The box in which its agents' programs run; null without one. */
  readonly box: PolicyBox | null;
  readonly hooks: CallHooks;
};

export type CallOwner = {
  readonly lease: { readonly programs: ProgramLease };
  /** Aborts when the lease is lost: from then on a call has no effects. */
  readonly lost: AbortSignal;
  readonly isFull: boolean;
  send(body: AgentEventBody): void;
  room(signal: AbortSignal): Promise<void>;
  /** Stores deferred commits. False if a replacement was stored. */
  flush(): Promise<boolean>;
  /** Stores the start of a background shell. False if it is refused, or if the lease is lost. */
  commitShell(start: NonNullable<OwnerChange["shellStart"]>, event: AgentEventBody): Promise<boolean>;
  /** Replaces the agent's todo list. False if the lease is lost. */
  commitTodos(callId: string, todos: NonNullable<OwnerChange["todos"]>, event: AgentEventBody): Promise<boolean>;
};

export type JudgeServices = Vocabulary & ServerFolders & { readonly sql: Sql; readonly folders: AnsweringFolders };

export type CallServices = JudgeServices &
  OwnCodeServices &
  ProgramServices & {
    readonly outputs: ToolOutputs;
    readonly meters: Meters;
    readonly lateResults: LateResults;
    readonly groups: ProcessGroups;
    readonly contents: RecentContents;
    readonly results: RecentResults;
    readonly sandboxes: Sandboxes;
    readonly hostRules: RememberedHostRules;
    readonly askInBackground: AskInBackground;
    readonly shells: ServerShells;
  };

export type CallScope = {
  readonly services: CallServices;
  readonly template: CallTemplate;
  readonly agent: CallingAgent;
  readonly owner: CallOwner;
  readonly results: ResultCache;
};
