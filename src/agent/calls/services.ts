import type { Sql } from "../../db/sql.ts";
import type { ServerPlaces } from "../policy/agent-policy.ts";
import type { Vocabulary } from "../policy/permission-source.ts";
import type { OwnCodeServices } from "../tools/own-code.ts";
import type { ProcessGroups } from "../workspace/process-groups.ts";
import type { KeptOutputs } from "./outputs.ts";

/** The services of a server by which calls are judged. */
export type JudgeServices = Vocabulary & ServerPlaces & { readonly sql: Sql };

/** The services of a server by which calls are judged and run. */
export type CallServices = JudgeServices &
  OwnCodeServices & {
    readonly outputs: KeptOutputs;
    /** The programs that tools have started on this server. */
    readonly groups: ProcessGroups;
  };
