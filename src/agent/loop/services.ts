import type { ClockSkew } from "../../db/database-clock.ts";
import type { Sql } from "../../db/sql.ts";
import type { Version } from "../../telemetry/version.ts";
import type { Appender } from "../../events/appender.ts";
import type { Bell } from "../../events/bell/bell.ts";
import type { ActorNames } from "../actors/actor-names.ts";
import type { CallServices } from "../calls/services.ts";
import type { ToolSlots } from "../calls/slots.ts";
import type { Images } from "../conversation/images.ts";
import type { RequestRoom } from "../conversation/request-room.ts";
import type { Transcripts } from "../conversation/transcript.ts";
import type { UnheardCalls } from "../conversation/unheard-calls.ts";
import type { Model } from "../models/model.ts";
import type { FileWatches } from "../workspace/changes/file-watches.ts";
import type { RememberedFiles } from "../workspace/changes/remembered-files.ts";
import type { WorkspaceFolders } from "../workspace/roots.ts";
import type { KnownParts, LeaseTimes } from "./lease.ts";
import type { Hooks, Template } from "./template.ts";

/** The services that are a tenant's own: what the operator configured for everybody, and what for this tenant. */
export type TenantServices = Pick<CallServices, "tools"> &
  Pick<WorkspaceFolders, "workspaceRoots" | "defaultWorkspace"> & {
    readonly templates: ReadonlyMap<string, Template>;
    readonly models: ReadonlyMap<string, Model>;
  };

/**
 * The services of a server, whatever the tenant, and those by which agents of a tenant are advanced. `slots` has the places
 * of the whole server.
 */
export type ServerServices = Omit<AgentServices, keyof TenantServices | "askInBackground"> & {
  readonly of: (tenant: string) => AgentServices;
};

/**
 * The services of a server by which agents of one tenant are advanced: those that each room needs, and the loop's own. `sql` has the
 * connections for what agents and commands write, and for what owners read.
 */
export type AgentServices = CallServices &
  TenantServices &
  WorkspaceFolders & {
    /** This process, among all that share the database. */
    readonly serverId: string;
    readonly version: Version;
    /** Claims and renewals of leases, which wait for nothing else. */
    readonly leases: Sql;
    /** The connections for what people read. */
    readonly reads: Sql;
    /** How far this machine's clock is from the database's. */
    readonly clockSkew: () => ClockSkew;
    /** Compares both anew. */
    readonly compareClocks: () => Promise<void>;
    readonly appender: Appender;
    readonly bell: Bell;
    readonly leaseTimes: LeaseTimes;
    /** What the configuration of this server has that agents are made from. */
    readonly knownParts: KnownParts;
    /** The time for which programs run on without a renewal of their lease, in ms: Infinity where no other server could go on. */
    readonly programMs: number;
    /** The hooks that agents may be created with, by name. */
    readonly agentHooks: ReadonlyMap<string, Hooks>;
    /** The ids of all who may decide in a tenant; null if the server does not know them. */
    readonly decidersOf: (tenant: string) => readonly string[] | null;
    /** The number of agents that this server advances at a time. */
    readonly agentLimit: number;
    /** True if there may be several tenants, as who may connect says. */
    readonly hasSeveralTenants: boolean;
    /** The places for running tools, of all agents of the tenant on this server. */
    readonly slots: ToolSlots;
    readonly images: Images;
    readonly transcripts: Transcripts;
    readonly rememberedFiles: RememberedFiles;
    readonly fileWatches: FileWatches;
    /** The room for requests to models, of all agents of this server. */
    readonly requests: RequestRoom;
    readonly unheardCalls: UnheardCalls;
    readonly actorNames: ActorNames;
    /** The folder in which the server was started: relative paths of people start here. */
    readonly folder: string;
  };
