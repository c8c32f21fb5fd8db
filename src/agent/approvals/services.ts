import type { OwnCodeServices } from "../tools/own-code.ts";
import type { JudgeServices } from "../calls/services.ts";
import type { ApprovalTemplate } from "./template.ts";

/** The services of a server by which approvals are decided. */
export type ApprovalServices = JudgeServices & OwnCodeServices & { readonly templates: ReadonlyMap<string, ApprovalTemplate> };
