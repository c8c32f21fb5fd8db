import type { OwnCodeServices } from "../tools/own-code.ts";
import type { JudgeServices } from "../calls/services.ts";
import type { Sql } from "../../db/sql.ts";
import type { ApprovalTemplate } from "./template.ts";

export type ApprovalServices = JudgeServices &
  OwnCodeServices & {
    readonly reads: Sql;
    readonly templates: ReadonlyMap<string, ApprovalTemplate>;
    /** The ids of all who may decide in a tenant; null if the server does not know them. */
    readonly decidersOf: (tenant: string) => readonly string[] | null;
  };
