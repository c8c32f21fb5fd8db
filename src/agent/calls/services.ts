import type { Sql } from "../../db/sql.ts";
import type { ServerFolders } from "../policy/agent-policy.ts";
import type { Vocabulary } from "../policy/permission-source.ts";
import type { RememberedHostRules } from "../policy/hosts/remembered-host-rules.ts";
import type { Meters } from "../../telemetry/meters.ts";
import type { AnsweringFolders } from "../workspace/answering-folders.ts";
import type { OwnCodeServices } from "../tools/own-code.ts";
import type { ProcessGroups } from "../workspace/process-groups.ts";
import type { ServerShells } from "./shells/server-shells.ts";
import type { ProgramServices } from "./programs/programs.ts";
import type { RecentResults } from "./results/recent-results.ts";
import type { RecentContents } from "../workspace/recent-contents.ts";
import type { AskInBackground } from "./hosts/program-hosts.ts";
import type { Sandboxes } from "../workspace/sandbox/sandbox-for.ts";
import type { LateResults } from "./late-results.ts";
import type { ToolOutputs } from "./outputs.ts";

/** The services of a server by which calls are judged. */
export type JudgeServices = Vocabulary & ServerFolders & { readonly sql: Sql; readonly folders: AnsweringFolders };

/** The services of a server by which calls are judged and run. */
export type CallServices = JudgeServices &
  OwnCodeServices &
  ProgramServices & {
    readonly outputs: ToolOutputs;
    readonly meters: Meters;
    readonly lateResults: LateResults;
    /** The programs that tools have started on this server. */
    readonly groups: ProcessGroups;
    readonly contents: RecentContents;
    /** The results of cacheable tools on this server. */
    readonly results: RecentResults;
    /** Starts programs of agents, in a box or without one, as their template says. */
    readonly sandboxes: Sandboxes;
    readonly hostRules: RememberedHostRules;
    /** Asks people about a host that a program would reach which outlives its call. */
    readonly askInBackground: AskInBackground;
    /** The background shells that run on this server. */
    readonly shells: ServerShells;
  };
