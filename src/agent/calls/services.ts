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
