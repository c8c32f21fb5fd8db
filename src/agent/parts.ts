import type { Sql } from "../db/sql.ts";
import type { Appender } from "../events/appender.ts";
import type { Bell } from "../events/bell.ts";
import type { EventLog } from "../events/log.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { ProcessGroups } from "../lib/process-groups.ts";
import type { CustomMode } from "./gate/policy.ts";
import type { Images } from "./images.ts";
import type { KeptOutputs } from "./kept-outputs.ts";
import type { LeaseTimes } from "./lease.ts";
import type { Model } from "./models/model.ts";
import type { Template } from "./template.ts";
import type { ToolSlots } from "./tool-slots.ts";
import type { Transcripts } from "./transcript.ts";
import type { Tool } from "./tools/tool.ts";

/** What the agents of a node are advanced with. */
export type AgentParts = {
  /** This process, among all that share the database. */
  readonly node: string;
  /** The connections for what agents and commands write, and for what owners read. */
  readonly sql: Sql;
  /** Claims and renewals of leases, which wait for nothing else. */
  readonly leases: Sql;
  /** The connections for what people read. */
  readonly reads: Sql;
  readonly log: EventLog;
  readonly appender: Appender;
  readonly bell: Bell;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseTimes: LeaseTimes;
  readonly templates: ReadonlyMap<string, Template>;
  readonly models: ReadonlyMap<string, Model>;
  readonly tools: ReadonlyMap<string, Tool>;
  /** The number of agents that this node advances at a time. */
  readonly agentLimit: number;
  /** The places for running tools, of all agents of this node. */
  readonly slots: ToolSlots;
  readonly outputs: KeptOutputs;
  readonly images: Images;
  readonly transcripts: Transcripts;
  /** The programs that tools have started on this node. */
  readonly groups: ProcessGroups;
  /**
   * Real paths of folders and files that are the server's own: its data, configuration, environment and sources. Tools do
   * not reach them, even where they lie in an agent's workspace.
   */
  readonly closedPlaces: readonly string[];
  /** The operator's own permission modes, by name. */
  readonly modes: ReadonlyMap<string, CustomMode>;
  /** Real paths of the folders in which agents may work; null where any folder may be named. */
  readonly workspaceRoots: readonly string[] | null;
  /** The folder in which the server was started: where relative paths of people start. */
  readonly folder: string;
  /** The folder of agents for whom none is named: one for all, or, if this is null, one for each below `ownWorkspaces`. */
  readonly defaultWorkspace: string | null;
  readonly ownWorkspaces: string;
};
