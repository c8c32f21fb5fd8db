import { Type } from "typebox";
import type { ClockSkew } from "../../db/database-clock.ts";
import type { Sql } from "../../db/sql.ts";
import type { Appender } from "../../events/appender.ts";
import type { Bell } from "../../events/bell/bell.ts";
import type { JsonObject } from "../../lib/json.ts";
import { closed, COUNT, TEXT, withDefault, type Complete } from "../../lib/setting.ts";
import type { Version } from "../../telemetry/version.ts";
import type { ActorNames } from "../actors/actor-names.ts";
import type { ApprovalTemplate } from "../approvals/scope.ts";
import type { Budget } from "../budgets/budget.ts";
import type { RecentOutputs } from "../budgets/expected.ts";
import type { RememberedBudgets } from "../budgets/remembered-budgets.ts";
import type { TenantBudgets } from "../budgets/tenant-budgets.ts";
import type { CallTemplate, CallServices } from "../calls/scope.ts";
import type { WantedSchedule } from "../calls/schedules/schedule.ts";
import type { ToolSlots } from "../calls/slots.ts";
import type { Images } from "../conversation/images.ts";
import type { Hooks } from "../conversation/agent-template.ts";
import type { RequestRoom, CancelledModelCalls } from "../conversation/request-room.ts";
import type { ConversationTemplate } from "../conversation/scope.ts";
import type { Transcripts } from "../conversation/transcript.ts";
import type { McpProcesses } from "../mcp/tasks/processes.ts";
import type { ServedServer } from "../mcp/server-state.ts";
import { MODEL_ERROR_KINDS, type Model } from "../models/model.ts";
import type { HeldTemplate } from "../policy/held-template.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { FileWatches, RememberedFiles } from "../workspace/changes/file-watches.ts";
import type { WorkspaceFolders } from "../workspace/roots.ts";
import type { KnownParts, LeaseTimes } from "./lease.ts";
import type { Manuals } from "./manuals.ts";

export const PROFILE_SETTINGS = {
  /** The name that people read, up to 100 characters. The template's id if omitted. */
  name: withDefault(Type.String({ minLength: 1, maxLength: 100, pattern: "\\S" }), null),
  /** The purpose of its agents, for people and for agents that start them, up to 2,000 characters. None if omitted. */
  description: withDefault(Type.String({ minLength: 1, maxLength: 2_000 }), null),
  /** The operator's name of this version of the template, up to 100 characters. None if omitted. */
  version: withDefault(Type.String({ minLength: 1, maxLength: 100 }), null),
  /** JSON for programs and frontends, up to 16 KB: clients see it as it is. Empty if omitted. */
  metadata: withDefault(Type.Unsafe<JsonObject>({ type: "object" }), {}),
};

export const TURN_SETTINGS = {
  /** Name of one of the configured models. Must be given. */
  model: TEXT,
  /**
   * Models that answer the rest of a turn after the named failures, in this order, each once a turn: docs/models.md. They go
   * before `fallbackModel`. None if omitted.
   */
  fallbacks: withDefault(
    Type.Immutable(
      Type.Array(closed({ model: TEXT, on: Type.Immutable(Type.Array(Type.Enum([...MODEL_ERROR_KINDS]), { minItems: 1 })) }), {
        maxItems: 10,
      }),
    ),
    [],
  ),
  /** Name of the model that answers the rest of a turn if the first one cannot. None if omitted. */
  fallbackModel: withDefault(TEXT, null),
  /** The number of read-only calls of one step that run together. 3 if omitted. */
  toolConcurrency: withDefault(COUNT, 3),
  /** The number of model calls after which a turn ends with MAX_STEPS. 50 if omitted. */
  maxSteps: withDefault(COUNT, 50),
  /**
   * The handling of a call that was running when its server stopped. `seal` closes it, and tells the model that its
   * outcome is unknown; `ask` asks a person first: done (with a result), retry, or fail. `seal` if omitted.
   */
  unknownOutcome: withDefault(Type.Enum(["seal", "ask"]), "seal"),
  /**
   * The watch of the files that an agent knows: `atWork`, while a server holds the agent; `always`; or `never`. With
   * `always` one server also watches while the agent is idle. Each step looks for changes in any case. `atWork` if omitted.
   */
  watchFiles: withDefault(Type.Enum(["atWork", "always", "never"]), "atWork"),
};

export const VERSION_SETTINGS = {
  /**
   * The version of a changed template for its agents' later turns: `take` the present one, or `keep` that of the latest
   * turn (docs/configuration.md). `take` if omitted.
   */
  onTemplateChange: withDefault(Type.Enum(["take", "keep"]), "take"),
};

export type Template = CallTemplate &
  ApprovalTemplate &
  ConversationTemplate &
  Complete<typeof PROFILE_SETTINGS> &
  Complete<typeof TURN_SETTINGS> &
  Complete<typeof VERSION_SETTINGS> & {
    readonly hooks: Hooks;
    /** The schedules with which its agents begin. */
    readonly schedules: readonly WantedSchedule[];
    /** The spending limits of its agents. */
    readonly budgets: readonly Budget[];
    /** Its settings as they are written, without its code, name, description and metadata. */
    readonly data: JsonObject;
    /** The SHA-256 of its data and the name of its version, in hex: without its code, name, description and metadata. */
    readonly digest: string;
  };

export type TenantServices = Pick<WorkspaceFolders, "workspaceRoots" | "defaultWorkspace"> & {
  /** They come and go while the server runs. */
  readonly tools: ToolRegistry;
  /** The MCP servers of the tenant by name, as this server sees them. */
  readonly mcpServers: Map<string, ServedServer>;
  /** The present templates. Those of agents: `heldTemplate`. */
  readonly templates: ReadonlyMap<string, Template>;
  readonly heldTemplate: HeldTemplate<Template>;
  readonly models: ReadonlyMap<string, Model>;
  readonly budgets: TenantBudgets;
};

/** The services of a server that do not depend on the tenant. `slots` has the places of the whole server. */
export type ServerServices = Omit<
  AgentServices,
  keyof TenantServices | "askInBackground" | "modelOfTemplate" | "hasModel" | "heldTemplate" | "manuals" | "shapes"
> & {
  readonly of: (tenant: string) => AgentServices;
};

/**
 * The services by which agents of one tenant are advanced. `sql` has the connections for writes of agents and commands,
 * and for reads of owners.
 */
export type AgentServices = CallServices &
  TenantServices &
  WorkspaceFolders & {
    readonly serverId: string;
    readonly version: Version;
    /** The connections for claims and renewals of leases, which never wait for other work. */
    readonly leases: Sql;
    /** The connections for people's reads. */
    readonly reads: Sql;
    readonly clockSkew: () => ClockSkew;
    readonly compareClocks: () => Promise<void>;
    readonly appender: Appender;
    readonly bell: Bell;
    readonly leaseTimes: LeaseTimes;
    readonly knownParts: KnownParts;
    readonly programMs: number;
    readonly mcpProcesses: Pick<McpProcesses, "held" | "begin" | "end">;
    readonly agentHooks: ReadonlyMap<string, Hooks>;
    /** The ids of all who may decide in a tenant; null if unknown. */
    readonly decidersOf: (tenant: string) => readonly string[] | null;
    readonly agentLimit: number;
    readonly hasSeveralTenants: boolean;
    /** The places for running tools, of all agents of the tenant on this server. */
    readonly slots: ToolSlots;
    readonly images: Images;
    readonly transcripts: Transcripts;
    readonly manuals: Manuals;
    readonly rememberedBudgets: RememberedBudgets;
    readonly recentOutputs: RecentOutputs;
    readonly rememberedFiles: RememberedFiles;
    readonly fileWatches: FileWatches;
    readonly requests: RequestRoom;
    readonly cancelledModelCalls: CancelledModelCalls;
    readonly actorNames: ActorNames;
    /** The server's working directory, from which people's relative paths start. */
    readonly folder: string;
  };
